package stockpools

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// pass is one operation on one pool, under its lock.
type pass struct {
	declaration stockpool.Declaration
	journal     journal
	recorded    bool // the store has a record of the pool
	limits      *limits
	seen        stockpool.Seen
	covers      []stockpool.Cover // as plan was made by
	plan        stockpool.Plan
	did         []stockpool.Decision
}

// judge decides by what was seen, with the answer of a dry run where only that tells
// whether something is to be done.
func (f *Flow) judge(ctx context.Context, c Cluster, p *pass) error {
	situation := func() stockpool.Situation {
		now := f.clusterNow(c)
		p.covers = p.limits.covers(ctx, p, now)
		return stockpool.Situation{Declaration: p.declaration, Journal: p.journal.Value.Told(f.outbox.Has), Seen: p.seen, Covers: p.covers, Recorded: p.recorded, Now: now}
	}
	p.plan = stockpool.Decide(situation())
	if !p.plan.Ask {
		return nil
	}
	live := p.seen.Deployment
	would, err := c.ApplyStock(ctx, live, p.declaration.Desired(live, p.journal.Value.Container, p.plan.Replicas), true)
	if err != nil {
		return err
	}
	p.seen.WouldBe = would
	p.plan = stockpool.Decide(situation())
	return nil
}

// look looks afresh, and decides.
func (f *Flow) look(ctx context.Context, c Cluster, p *pass) (err error) {
	d := p.declaration
	if p.seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil {
		return err
	}
	return f.judge(ctx, c, p)
}
