package stockpools

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Report is how a stock pool is at the end of the run.
type Report struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	UID       string `json:"uid,omitempty"`
	SpecName  string `json:"spec_name,omitempty"`
	// Observed is false where the pool could not be looked at; its numbers are then 0 and
	// mean nothing.
	Observed bool `json:"observed"`
	stockpool.Status
	// Deleted says that the run finished the pool's deletion.
	Deleted  bool                 `json:"deleted,omitempty"`
	Outcome  outcome.Outcome      `json:"outcome"`
	Notices  []string             `json:"notices,omitempty"`
	Warnings []string             `json:"warnings,omitempty"`
	Error    *outcome.ErrorReport `json:"error,omitempty"`
}

// Summary is what became of the pool.
func (p Report) Summary() outcome.Summary {
	return outcome.Summary{Kind: "stock_pool", Name: p.Namespace + "/" + p.Name, Outcome: p.Outcome, Error: p.Error, Deleted: p.Deleted}
}

// PlanDeletion shows a deletion that was finished on a draft as a planned one.
func (p *Report) PlanDeletion() {
	if p.Deleted {
		p.Deleted, p.Outcome, p.Notices, p.Error = false, outcome.Planned, nil, outcome.NewErrorReport(outcome.ErrDeletionPlanned)
	}
}

func newReport(d stockpool.Declaration, p stockpool.Plan, became outcome.Outcome, err error) Report {
	return Report{
		Name: d.Name, Namespace: d.Namespace, UID: d.UID, SpecName: d.SpecName, Observed: p.Status.Phase != "", Status: p.Status,
		Outcome: became, Warnings: p.Warnings, Error: outcome.NewErrorReport(err),
	}
}

// warned is the plan with the pass's own warning.
func (p *pass) warned() stockpool.Plan {
	plan := p.plan
	if p.fought != "" {
		plan.Warnings = append(slices.Clone(plan.Warnings), p.fought)
	}
	return plan
}

// Overview is one stock pool, and what a run would do about it now.
type Overview struct {
	Report
	RecordPhase declaration.Phase    `json:"record_phase"`
	Decisions   []stockpool.Decision `json:"decisions"` // what a run would do now
	// Failing is what the last runs failed with, and PassedOver why they passed the pool
	// over; absent where the last one did not.
	Failing    *declaration.Failing `json:"failing,omitempty"`
	PassedOver *declaration.Failing `json:"passed_over,omitempty"`
}

// Overview looks at the stock pools that were read, without a lock, and decides without
// acting. Where pods wait for a node, rooms says which spot pool could grow.
func (r *Run) Overview(ctx context.Context, rooms Rooms) []Overview {
	list := []Overview{}
	for _, broken := range r.reports {
		list = append(list, Overview{Report: broken})
	}
	c, look, err := r.lookAtAll(ctx)
	for _, t := range r.targets {
		o, _ := r.overviewOf(ctx, c, t, look, err, rooms)
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b Overview) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return list
}

// overviewOf is a stock pool's overview, and what it was made of; nil where the pool
// can't be looked at.
func (r *Run) overviewOf(ctx context.Context, c Cluster, t target, l stockpool.Look, err error, rooms Rooms) (Overview, *pass) {
	o := Overview{RecordPhase: t.phase, Decisions: []stockpool.Decision{}}
	p, err := r.passOf(t, l, err)
	if err == nil {
		err = r.flow.judge(ctx, c, p)
	}
	if err == nil && len(p.plan.Decisions) > 0 && p.seen.Deployment == nil { // one of its name may be there that bears no label
		err = r.flow.look(ctx, c, p)
	}
	switch {
	case p == nil:
		o.Report = newReport(t.declaration, stockpool.Plan{}, outcome.Failed, err)
		return o, nil
	case err != nil: // what was seen is told
		o.Report = newReport(t.declaration, p.plan, outcome.Failed, err)
		return o, nil
	}
	became := outcome.Done
	switch {
	case p.plan.Refused != nil:
		became, err = outcome.Failed, p.plan.Refused
	case t.phase != declaration.Active:
		became = outcome.Skipped
	case len(p.plan.Decisions) > 0:
		became = outcome.Planned
	}
	if t.phase == declaration.Active {
		o.Decisions = append(o.Decisions, p.plan.Decisions...)
	}
	p.plan.Status = rooms.told(ctx, t.declaration, p.plan.Status)
	o.Report = newReport(t.declaration, p.warned(), became, err)
	return o, p
}
