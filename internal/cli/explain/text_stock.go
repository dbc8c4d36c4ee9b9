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
	p.failing(e.Failing)
	p.asDeclared(e)
	if !e.Observed {
		return
	}
	p.stands(e)
	if e.RecordPhase != declaration.Active && e.RecordPhase != "" {
		p.Add(terminal.Yellow, string(e.RecordPhase)+": ", "a run makes no pods for it")
	}
	for _, d := range e.Decisions {
		p.wouldDo(d, d.Reasons)
	}
	if len(e.Decisions) == 0 && e.Outcome == outcome.Done {
		p.say("a run would do nothing about it now")
	}
	p.Conditions(e.Report)
	p.Add(terminal.Yellow, "warning: ", e.Warnings...)
	p.coveredBy(e)
	p.pods(e.Standings)
	p.writers(e.Writers)
}

// asDeclared says how many pods are declared, and what each asks for.
func (p *page) asDeclared(e stockpools.Description) {
	d := e.Declared
	if d.Image == "" {
		return
	}
	line := fmt.Sprintf("declared: %s of %s", describe.Plural(d.Replicas, "pod"), e.SpecName)
	if d.ReplicasPolicy == stockpool.ReplicasAvailable {
		line = fmt.Sprintf("declared: %s of %s that are not in use, and at most %d in all", describe.Plural(d.Replicas, "pod"), e.SpecName, d.Maximum)
	}
	p.say("%s", line)
	asks := []string{"memory " + d.Memory}
	if d.CPU != "" {
		asks = append(asks, "cpu "+d.CPU)
	}
	if d.GPU > 0 {
		asks = slices.Insert(asks, 0, fmt.Sprintf("%d %s", d.GPU, d.GPUResource))
	}
	p.say("each of them %s, image %s", strings.Join(asks, ", "), d.Image)
	if len(d.NodeSelector) > 0 {
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(d.NodeSelector)) {
			labels = append(labels, key+"="+d.NodeSelector[key])
		}
		p.say("on nodes with %s", strings.Join(labels, ", "))
	}
	if d.AllocatedSelector != "" {
		p.say("in use are those that allocated_selector selects: %s", d.AllocatedSelector)
	}
	if d.MinAvailable > 0 {
		p.say("evictions leave %d of them", d.MinAvailable)
	}
}

// stands says how the pool is, and which declaration its Deployment is of.
func (p *page) stands(e stockpools.Description) {
	p.say("%s: %d available and %d in use of %d desired, %s in all", e.Phase, e.Available, e.Allocated, e.Desired, describe.Plural(e.Replicas, "pod"))
	switch {
	case e.DeploymentUID == "":
		p.say("it has no Deployment yet")
	case e.SyncedAt.IsZero():
		p.say("nothing of its declaration was applied to its Deployment yet")
	default:
		p.say("its Deployment is as generation %d of %d, applied %s", e.ObservedGeneration, e.Declared.Generation, p.clock.When(e.SyncedAt))
	}
}

// coveredBy adds the budgets that the pool heeds.
func (p *page) coveredBy(e stockpools.Description) {
	t := &terminal.Table{}
	t.Add("BUDGET", "STATE", "WHAT COMES OF IT")
	for _, c := range e.Budgets {
		state, comes := p.Style.Paint(terminal.Green, "below its limit"), "the pool may grow"
		switch {
		case c.Unknown:
			state, comes = p.Style.Paint(terminal.Yellow, "unknown"), "the pool does not grow"
		case c.Exceeded && c.Pauses:
			state, comes = p.Style.Paint(terminal.Red, "exceeded"), "the pool is paused"
		case c.Exceeded:
			state, comes = p.Style.Paint(terminal.Red, "exceeded"), "the pool does not grow"
		}
		t.Add(c.Budget, state, comes)
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
		t.Add(s.Pod, node, string(s.CountsAs), s.Why)
	}
	p.table(t, len(list))
}

// fieldsAtMost is how many fields of one writer are named.
const fieldsAtMost = 3

// writers adds who last wrote what of the pool's Deployment.
func (p *page) writers(list []drift.Writer) {
	t := &terminal.Table{}
	t.Add("LAST WRITTEN BY", "WHEN", "WHAT")
	for _, w := range list {
		at := "-"
		if !w.At.IsZero() {
			at = p.clock.At(w.At)
		}
		what := describe.FirstOf(w.Fields, fieldsAtMost)
		if w.Manager == stockpool.FieldManager {
			what = "what is declared"
		}
		t.Add(w.String(), at, what)
	}
	p.table(t, len(list))
}
