package stockpools

import (
	"context"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// pass is one operation on one pool, with its observations and decisions.
type pass struct {
	connection
	declaration stockpool.Declaration
	journal     journal
	recorded    bool // whether the store has a record of the pool
	limits      *limits
	rooms       *once[[]stockpool.Room] // spot pools whose nodes could take pods
	observation stockpool.Observation
	covers      []decide.Cover // those of the plan
	plan        decide.Plan
	did         []stockpool.Decision
	refuses     bool          // whether the API server refuses to apply the declaration
	fought      reason.Reason // a warning about an autoscaler, which stays after its change is reverted
}

// newPass is a pass about a pool, with its record, its journal and what budgets say.
func (c connection) newPass(ctx context.Context, r stored, d stockpool.Declaration) (*pass, error) {
	j, err := c.loadJournal(ctx, d)
	if err != nil {
		return nil, err
	}
	l, err := c.readLimits(ctx, nil)
	return &pass{connection: c, declaration: d, journal: j, recorded: r.Exists(), limits: l, rooms: new(once[[]stockpool.Room])}, err
}

func (p *pass) reverted() bool { return slices.ContainsFunc(p.did, stockpool.Decision.Applies) }

// idle reports that nothing is to be done, refused or recorded.
func (p *pass) idle() bool {
	return len(p.plan.Decisions) == 0 && p.plan.Refused == nil && record.Same(p.journal.Value.WithoutReported(p.outbox.Has), p.plan.Journal)
}

// situation is the input of decisions.
func (p *pass) situation() decide.Situation {
	return decide.Situation{
		Declaration: p.declaration, Journal: p.journal.Value.WithoutReported(p.outbox.Has), Observation: p.observation, Covers: p.covers,
		Refuses: p.refuses, Reverted: p.reverted(), Recorded: p.recorded, Now: p.now(),
	}
}

func (p *pass) observe(ctx context.Context) (err error) {
	if p.observation, err = p.cluster.StockOf(ctx, p.declaration.Namespace, p.declaration.Name); err != nil {
		return err
	}
	return p.judge(ctx)
}

// judge decides from the observation, with a dry run if needed.
func (p *pass) judge(ctx context.Context) error {
	p.refuses = false
	p.decide(ctx)
	if !p.plan.Ask {
		return nil
	}
	live := p.observation.Deployment
	would, err := p.cluster.PreviewStock(ctx, live, p.declaration.Desired(live, p.journal.Value.Container, p.plan.Replicas))
	if would == nil { // else additions of others are refused, and are removed first
		p.refuses = true
		if p.decide(ctx); len(p.plan.Decisions) > 0 { // a pause needs no application
			return nil
		}
		return err
	}
	p.observation.WouldBe = would
	p.decide(ctx)
	p.warnOfAutoscaler(ctx)
	return nil
}

func (p *pass) decide(ctx context.Context) {
	p.covers = p.limits.covers(ctx, p)
	p.plan = decide.Decide(p.situation())
}

// warnOfAutoscaler warns of an autoscaler of a pool whose replicas were changed: both would
// scale its Deployment in turn, run after run.
func (p *pass) warnOfAutoscaler(ctx context.Context) {
	scaled := func(d stockpool.Decision) bool {
		return slices.ContainsFunc(d.Changes, func(c stockpool.Change) bool { return c.Field == "spec.replicas" })
	}
	if !slices.ContainsFunc(p.plan.Decisions, scaled) {
		return
	}
	d := p.declaration
	by, err := p.cluster.Autoscaler(ctx, budget.Workload{Namespace: d.Namespace, Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: d.Name}})
	if err == nil && by.Name != "" { // without the right to list them, the writers of replicas can still be read
		p.fought = reason.OtherAutoscaler(reason.NewValue(by.String()), reason.Word(stockpool.DestroyRetain))
	}
}

// findRooms adds to the status which spot pool could grow for the pool's pending pods.
func (p *pass) findRooms(ctx context.Context) {
	if p.plan.Status.Waiting == 0 {
		return
	}
	list, err := p.rooms.get(func() ([]stockpool.Room, error) { return p.Repository.Rooms(ctx) })
	p.plan.Status = p.plan.Status.WithRooms(p.declaration, list, err)
}

func (p *pass) warned() decide.Plan {
	plan := p.plan
	if !p.fought.IsZero() {
		plan.Warnings = append(slices.Clone(plan.Warnings), p.fought)
	}
	return plan
}
