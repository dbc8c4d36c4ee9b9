package stockpools

import (
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
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

func newReport(d stockpool.Declaration, p stockpool.Plan, e loop.Ending) Report {
	return Report{
		Name: d.Name, Namespace: d.Namespace, UID: d.UID, SpecName: d.SpecName, Observed: p.Status.Phase != "", Status: p.Status,
		Outcome: e.Became, Warnings: p.Warnings, Error: outcome.NewErrorReport(e.Why),
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
// acting.
func (r *Run) Overview(ctx context.Context) []Overview {
	list := []Overview{}
	r.each(ctx, func(o Overview, _ *pass) { list = append(list, o) })
	return list
}

// each looks at the stock pools that were read, and tells of each by name, with what its
// overview was made of: nil where it can't be looked at.
func (r *Run) each(ctx context.Context, tell func(Overview, *pass)) {
	k, passes := r.kind, map[string]*pass{}
	list := []Overview{}
	for _, broken := range r.Reports() {
		list = append(list, Overview{Report: broken})
	}
	var c Cluster
	var look stockpool.Look
	var err error
	if len(r.Targets()) > 0 {
		c, look, err = k.lookAtAll(ctx)
	}
	for _, t := range r.Targets() {
		o, p := k.overviewOf(ctx, c, t, look, err)
		list, passes[t.Key] = append(list, o), p
	}
	slices.SortFunc(list, func(a, b Overview) int { return strings.Compare(a.Summary().Name, b.Summary().Name) })
	for _, o := range list {
		tell(o, passes[o.Summary().Name])
	}
}

// overviewOf is a stock pool's overview, and what it was made of; nil where the pool
// can't be looked at, for that error or another.
func (k *kind) overviewOf(ctx context.Context, c Cluster, t target, l stockpool.Look, err error) (Overview, *pass) {
	o, phase := Overview{RecordPhase: t.Record.Phase, Decisions: []stockpool.Decision{}}, t.Record.Phase
	var p *pass
	if err == nil {
		p, err = k.passOf(t, l)
	}
	if p == nil {
		o.Report = newReport(t.Record.Declaration, stockpool.Plan{}, loop.Ending{Became: outcome.Failed, Why: err})
		return o, nil
	}
	err = k.flow.judge(ctx, c, p)
	if err == nil && len(p.plan.Decisions) > 0 && p.seen.Deployment == nil { // one of its name may be there that bears no label
		err = k.flow.look(ctx, c, p)
	}
	if err != nil { // what was seen is told
		o.Report = newReport(p.declaration, p.plan, loop.Ending{Became: outcome.Failed, Why: err})
		return o, nil
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
	p.plan.Status = k.told(ctx, p.declaration, p.plan.Status)
	o.Report = newReport(p.declaration, p.warned(), e)
	return o, p
}
