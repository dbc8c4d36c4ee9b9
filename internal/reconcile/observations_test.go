package reconcile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

// TestObservationsWriteNothing gives every read-only operation a store without writes and
// locks. An instance was interrupted and the budget is exhausted, so there is something to
// report.
func TestObservationsWriteNothing(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.lose()
	g.cluster.Start("ml", "a", 8)
	g.cluster.Step(30 * time.Minute)
	refused := func(op storetest.Op) error {
		if op.Method != "Read" && op.Method != "List" && op.Method != "Holder" {
			return fmt.Errorf("%s of %s by one who only observes", op.Method, op.Key)
		}
		return nil
	}
	observations := map[string]func(ctx context.Context, process reconcile.World) error{
		"a refresh of a pool": func(ctx context.Context, process reconcile.World) error {
			_, err := process.SpotPools().View(ctx, g.pool)
			return err
		},
		"a plan of a new pool": func(ctx context.Context, process reconcile.World) error {
			p := g.pool
			p.Name = "new"
			_, err := process.SpotPools().Preview(ctx, p)
			return err
		},
		"an import of a pool": func(ctx context.Context, process reconcile.World) error {
			_, err := process.SpotPools().Find(ctx, g.pool.Region, g.pool.Name)
			return err
		},
		"a gate": func(ctx context.Context, process reconcile.World) error {
			_, _ = process.SpotPools().Gate(ctx, g.pool)
			return nil
		},
		"a forecast": func(ctx context.Context, process reconcile.World) error {
			_, _ = process.SpotPools().Forecast(ctx, g.pool, nil)
			return nil
		},
		"the market": func(ctx context.Context, process reconcile.World) error {
			_, err := process.SpotPools().Markets(ctx, g.pool.Region)
			return err
		},
		"a refresh of a budget": func(ctx context.Context, process reconcile.World) error {
			_, err := process.Budgets().View(ctx, g.budget)
			return err
		},
		"an import of a budget": func(ctx context.Context, process reconcile.World) error {
			_, err := process.Budgets().Find(ctx, g.budget.Name)
			return err
		},
		"a status": func(ctx context.Context, process reconcile.World) error {
			_, err := process.Runner().Status(ctx)
			return err
		},
		"a dry run": func(ctx context.Context, process reconcile.World) error {
			return dry(ctx, process, reconcile.RunOptions{})
		},
		"a dry run with a newer state": func(ctx context.Context, process reconcile.World) error {
			p := g.pool
			p.Generation++
			return dry(ctx, process, reconcile.RunOptions{State: g.stateOf(p, g.budget)})
		},
	}
	read := map[string]bool{}
	for name, observe := range observations {
		process := g.process()
		faulty := storetest.Wrap(process.Store, &storetest.Faults{Before: refused})
		process.Store = faulty
		if err := observe(t.Context(), process); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, op := range faulty.Ops() {
			read[name] = true
			if err := refused(op); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !read[name] && name != "the market" { // which is in Tencent Cloud
			t.Errorf("%s reads nothing", name)
		}
	}
}

func dry(ctx context.Context, p reconcile.World, o reconcile.RunOptions) error {
	o.DryRun = true
	report, err := p.Runner().Run(ctx, o)
	if failed, _ := report.Failures(); err == nil && failed > 0 {
		err = fmt.Errorf("%d failed: %+v, %+v", failed, report.SpotPools, report.Budgets)
	}
	return err
}
