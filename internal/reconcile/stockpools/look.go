package stockpools

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// pass is one operation on one pool, under its lock.
type pass struct {
	declaration stockpool.Declaration
	journal     journal
	recorded    bool // the store has a record of the pool
	limits      *limits
	seen        stockpool.Observation
	covers      []decide.Cover // as plan was made by
	plan        decide.Plan
	did         []stockpool.Decision
	fought      string // a warning of an autoscaler, which stays once its change is reverted
}

// reverted says whether the operation applied the declaration already.
func (p *pass) reverted() bool { return slices.ContainsFunc(p.did, stockpool.Decision.Applies) }

// idle says that nothing is to be done, refused or written down.
func (p *pass) idle(o *record.Outbox) bool {
	return len(p.plan.Decisions) == 0 && p.plan.Refused == nil && record.Same(p.journal.Value.Told(o.Has), p.plan.Journal)
}

// judge decides by what was seen, with the answer of a dry run where only that tells
// whether something is to be done.
func (f *Flow) judge(ctx context.Context, c Cluster, p *pass) error {
	situation := func() decide.Situation {
		now := f.clusterNow(c)
		p.covers = p.limits.covers(ctx, c, p, now)
		return decide.Situation{
			Declaration: p.declaration, Journal: p.journal.Value.Told(f.outbox.Has), Observation: p.seen, Covers: p.covers, Reverted: p.reverted(),
			Recorded: p.recorded, Now: now,
		}
	}
	p.plan = decide.Decide(situation())
	if !p.plan.Ask {
		return nil
	}
	live := p.seen.Deployment
	would, err := c.PreviewStock(ctx, live, p.declaration.Desired(live, p.journal.Value.Container, p.plan.Replicas))
	if would == nil { // else it is refused because of what others added, which is removed first
		return err
	}
	p.seen.WouldBe = would
	p.plan = decide.Decide(situation())
	f.warnOfAutoscaler(ctx, c, p)
	return nil
}

// warnOfAutoscaler warns of an autoscaler beside a pool whose replicas somebody changed:
// both would scale its Deployment in turn, run after run.
func (f *Flow) warnOfAutoscaler(ctx context.Context, c Cluster, p *pass) {
	scaled := func(d stockpool.Decision) bool {
		return slices.ContainsFunc(d.Changes, func(c stockpool.Change) bool { return c.Field == "spec.replicas" })
	}
	if !slices.ContainsFunc(p.plan.Decisions, scaled) {
		return
	}
	d := p.declaration
	by, err := c.Autoscaler(ctx, budget.Workload{Namespace: d.Namespace, Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: d.Name}})
	if err == nil && by != "" { // who may not list them still reads who wrote the replicas
		p.fought = fmt.Sprintf("its replicas are changed in turn: %s. Delete that autoscaler, or destroy the stock pool with on_destroy = %q", by,
			stockpool.DestroyOrphan)
	}
}

// look looks afresh, and decides.
func (f *Flow) look(ctx context.Context, c Cluster, p *pass) (err error) {
	d := p.declaration
	if p.seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil {
		return err
	}
	return f.judge(ctx, c, p)
}
