package stockpools

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// Description is a stock pool, as observed now.
type Description struct {
	Report
	// The stock pool's state.
	State state.State `json:"state"`
	// The phase of the stock pool's record.
	RecordPhase declaration.Phase `json:"record_phase"`
	// The deletion that is in progress, if any.
	Deletion *record.Deletion `json:"deletion,omitempty"`
	// The decisions that a run would make now. Absent if the stock pool could not be observed.
	Decisions []stockpool.Decision `json:"decisions,omitzero"`
	declaration.LastRuns
	// Arguments are those of Why, always.
	Arguments Declared `json:"-"`
	*Why
}

// Why is everything that decisions about a stock pool depend on. Only `gpupool explain` has these
// fields.
type Why struct {
	// The declared pods.
	Declared Declared `json:"declared"`
	// The budgets that cover its pods, and the one that it names, as of the last run. Absent if the
	// stock pool could not be observed.
	Budgets []decide.Cover `json:"budgets,omitzero"`
	// How each pod counts. Absent if the stock pool could not be observed.
	Standings []decide.Standing `json:"standings,omitzero"`
	// The writers of fields of its Deployment. The latest is first. Absent if the stock pool could not
	// be observed.
	Writers []drift.Writer `json:"writers,omitzero"`
}

// Declared is what of a declaration says how many pods there are, and what each asks for.
type Declared struct {
	// The generation of the declaration.
	Generation int64 `json:"generation,omitempty"`
	// The container image.
	Image string `json:"image,omitempty"`
	// The requested memory.
	Memory string `json:"memory,omitempty"`
	// The requested CPU.
	CPU string `json:"cpu,omitempty"`
	// The requested GPUs.
	GPU int `json:"gpu"`
	// The resource name of the GPUs.
	GPUResource string `json:"gpu_resource,omitempty"`
	// The declared number of pods.
	Replicas int `json:"replicas"`
	// Which pods `replicas` counts.
	ReplicasPolicy stockpool.ReplicasPolicy `json:"replicas_policy,omitempty"`
	// The most pods.
	Maximum int `json:"maximum,omitempty"`
	// The node selector of the pods.
	NodeSelector map[string]string `json:"node_selector,omitempty"`
	// The label selector of pods in use.
	AllocatedSelector string `json:"allocated_selector,omitempty"`
	// The `min_available` of the disruption budget.
	MinAvailable int `json:"min_available,omitempty"`
	// The named budget.
	Budget string `json:"budget,omitempty"`
}

func declared(d stockpool.Declaration) Declared {
	of := Declared{
		Generation: d.Generation, Image: d.Image, Memory: d.Memory, CPU: d.CPU, GPU: d.GPU, GPUResource: d.GPUResource, Replicas: d.Replicas,
		ReplicasPolicy: d.ReplicasPolicy, Maximum: d.Maximum, NodeSelector: d.NodeSelector, AllocatedSelector: d.AllocatedSelector, Budget: d.Budget,
	}
	if d.PodDisruptionBudget != nil {
		of.MinAvailable = d.PodDisruptionBudget.MinAvailable
	}
	return of
}

// Describe observes the stock pools without a lock, and decides without acting. With why, it
// adds the reasons.
func (r *Run) Describe(ctx context.Context, why bool) []Description {
	list := []Description{}
	for _, broken := range r.Reports() {
		list = append(list, Description{Report: broken})
		if why {
			list[len(list)-1].Why = &Why{}
		}
	}
	if len(r.Targets()) > 0 {
		c, all, err := r.kind.observeAll(ctx)
		for _, t := range r.Targets() {
			list = append(list, r.kind.describe(ctx, c, t, all, err, why))
		}
	}
	slices.SortFunc(list, func(a, b Description) int { return strings.Compare(a.Summary().Name, b.Summary().Name) })
	return list
}

// deletes says what a run does about a stock pool that is being deleted.
func deletes(d stockpool.Declaration) reason.Reason {
	if d.OnDestroy == stockpool.DestroyRetain {
		return reason.DeletionKeeps()
	}
	return reason.DeletionClears()
}

// describe describes one stock pool; err is why nothing could be observed.
func (k *kind) describe(ctx context.Context, c connection, t target, all stockpool.Observations, err error, why bool) Description {
	phase := t.Record.Phase
	o := Description{
		RecordPhase: phase, Deletion: record.NewDeletion(phase, t.Record.UpdatedAt, deletes(t.Record.Declaration)),
		Arguments: declared(t.Record.Declaration.WithDefaults()),
	}
	if why {
		o.Why = &Why{Declared: o.Arguments}
	}
	var p *pass
	if err == nil {
		p, err = k.passOf(c, t, all)
	}
	if p == nil {
		o.Report = newReport(t.Record.Declaration, decide.Plan{}, loop.Ending{Became: outcome.Failed, Why: err})
		return o
	}
	o.Decisions = []stockpool.Decision{}
	err = p.judge(ctx)
	if err == nil && len(p.plan.Decisions) > 0 && p.observation.Deployment == nil { // a foreign one without the label may have its name
		err = p.observe(ctx)
	}
	if err != nil { // report what was observed
		o.Report = newReport(p.declaration, p.plan, loop.Ending{Became: outcome.Failed, Why: err})
		return o
	}
	e := loop.Ending{Became: outcome.Done}
	switch {
	case p.plan.Refused != nil:
		e = loop.Ending{Became: outcome.Failed, Why: p.plan.Refused}
	case phase != declaration.Active:
		e.Became = outcome.Skipped
	case len(p.plan.Decisions) > 0:
		e.Became = outcome.Planned
	}
	if phase == declaration.Active {
		o.Decisions = append(o.Decisions, p.plan.Decisions...)
	}
	p.findRooms(ctx)
	o.Report = newReport(p.declaration, p.warned(), e)
	if why {
		o.Budgets, o.Standings, o.Writers = p.covers, decide.Standings(p.situation()), drift.Writers(p.observation.Deployment)
	}
	return o
}

// For returns the stock pool as a reader of it may see it.
func (d Description) For(reader reason.Renderer) Description {
	d.Report, d.Arguments = d.Report.For(reader), d.Arguments.For(reader)
	d.LastRuns, d.Deletion = d.LastRuns.For(reader), d.Deletion.For(reader)
	d.Decisions = reason.Each(d.Decisions, reader)
	if d.Why != nil {
		why := *d.Why
		why.Declared, why.Standings = why.Declared.For(reader), reason.Each(why.Standings, reader)
		why.Budgets = reason.Each(slices.DeleteFunc(slices.Clone(why.Budgets), func(c decide.Cover) bool {
			return !reader.SeesObject(reason.Object("budget/" + c.Budget))
		}), reader)
		d.Why = &why
	}
	return d
}

// For returns the arguments as a reader of the stock pool may see them.
func (d Declared) For(reader reason.Renderer) Declared {
	if d.Budget != "" && !reader.SeesObject(reason.Object("budget/"+d.Budget)) {
		d.Budget = ""
	}
	return d
}
