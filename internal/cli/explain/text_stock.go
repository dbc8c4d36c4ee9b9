package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// stock explains a stock pool.
func (p *page) stock(e stockpools.Description) {
	if e.Outcome == outcome.Failed {
		p.failure(e.Error)
	}
	p.Failing(p.clock, e.Failing)
	p.PassedOver(p.clock, e.PassedOver)
	p.declared(e)
	if e.Status == nil {
		return
	}
	p.status(e)
	if e.RecordPhase == declaration.Creating {
		p.Add(terminal.Yellow, "creating: ", "a run creates no pods for it")
	}
	p.Deletion(e.Deletion)
	for _, d := range e.Decisions {
		p.wouldDo(d, p.Texts(d.Reasons))
	}
	if len(e.Decisions) == 0 && e.Outcome == outcome.Done {
		p.say("a run would change nothing now")
	}
	p.Conditions(e.Report)
	p.Add(terminal.Yellow, "warning: ", p.Texts(e.Warnings)...)
	p.coveredBy(e)
	p.pods(e.Standings)
	p.writers(e.Writers)
}

// declared describes the declaration.
func (p *page) declared(e stockpools.Description) {
	d := e.Declared
	if d.Image == "" {
		return
	}
	line := fmt.Sprintf("declared: %s of %s", describe.Plural(d.Replicas, "pod"), e.SpecName)
	if d.ReplicasPolicy == stockpool.ReplicasAvailable {
		line = fmt.Sprintf("declared: %s of %s available, at most %d in total", describe.Plural(d.Replicas, "pod"), e.SpecName, d.Maximum)
	}
	p.say("%s", line)
	asks := []string{"memory " + d.Memory}
	if d.CPU != "" {
		asks = append(asks, "cpu "+d.CPU)
	}
	if d.GPU > 0 {
		asks = slices.Insert(asks, 0, fmt.Sprintf("%d %s", d.GPU, d.GPUResource))
	}
	p.say("each with %s, image %s", strings.Join(asks, ", "), d.Image)
	if len(d.NodeSelector) > 0 {
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(d.NodeSelector)) {
			labels = append(labels, key+"="+d.NodeSelector[key])
		}
		p.say("on nodes with %s", strings.Join(labels, ", "))
	}
	if d.AllocatedSelector != "" {
		p.say("allocated_selector, which selects pods in use: %s", d.AllocatedSelector)
	}
	if d.MinAvailable > 0 {
		p.say("evictions keep at least %d", d.MinAvailable)
	}
}

// status describes the pods, and which generation the Deployment has.
func (p *page) status(e stockpools.Description) {
	p.say("%s: %d available and %d in use of %d desired, %s in total", e.Phase, e.Available, e.Allocated, e.Desired, describe.Plural(e.Replicas, "pod"))
	switch {
	case e.DeploymentUID == "":
		p.say("it has no Deployment yet")
	case e.SyncedAt.IsZero():
		p.say("its declaration was not applied to its Deployment yet")
	default:
		p.say("its Deployment has generation %d of %d, applied %s", e.ObservedGeneration, e.Declared.Generation, p.clock.When(e.SyncedAt))
	}
}

// coveredBy adds the budgets that cover the pods.
func (p *page) coveredBy(e stockpools.Description) {
	t := &terminal.Table{}
	t.Add("BUDGET", "LIMIT", "EFFECT")
	for _, c := range e.Budgets {
		word, effect := p.Style.Paint(terminal.Green, "not reached"), "the pool may grow"
		switch {
		case c.Unknown:
			word, effect = p.Style.Paint(terminal.Yellow, "unknown"), "the pool does not grow"
		case c.Exceeded && c.Pauses:
			word, effect = p.Style.Paint(terminal.Red, "reached"), "the pool is paused"
		case c.Exceeded:
			word, effect = p.Style.Paint(terminal.Red, "reached"), "the pool does not grow"
		}
		t.Add(c.Budget, word, effect)
	}
	p.table(t, len(e.Budgets))
	if len(e.Budgets) == 0 {
		p.say("no budget covers its pods")
	}
}

func (p *page) pods(list []decide.Standing) {
	t := &terminal.Table{}
	t.Add("POD", "NODE", "COUNTS AS", "WHY")
	for _, s := range list {
		node := s.Node
		if node == "" {
			node = "-"
		}
		t.Add(s.Pod, node, string(s.CountsAs), s.Why.String())
	}
	p.table(t, len(list))
}

// fieldsAtMost is the most fields of a writer that are listed.
const fieldsAtMost = 3

// writers adds the last writers of the Deployment.
func (p *page) writers(list []drift.Writer) {
	t := &terminal.Table{}
	t.Add("LAST WRITTEN BY", "WHEN", "FIELDS")
	for _, w := range list {
		at := "-"
		if !w.At.IsZero() {
			at = p.clock.At(w.At)
		}
		what := describe.FirstOf(w.Fields, fieldsAtMost)
		if w.Manager == stockpool.FieldManager && len(w.Fields) > fieldsAtMost {
			what = "all declared fields"
		}
		t.Add(w.String(), at, what)
	}
	p.table(t, len(list))
}
