package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func (g *gated) gate() spotpool.Gate {
	g.t.Helper()
	gate, _ := g.process().SpotPools().Gate(context.Background(), g.pool)
	return gate
}

// TestOnlyACertainExcessIsToldAsSuch tells pools that may end instances for their budget
// whether any of its usage that matters is estimated, or no longer of now.
func TestOnlyACertainExcessIsToldAsSuch(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	if gate := g.gate(); gate.Closed || gate.Certain {
		t.Errorf("of an unused budget the gate is %+v", gate)
	}
	g.cluster.Start("ml", "a", 8)
	g.cluster.Step(30 * time.Minute)
	g.run(reconcile.RunOptions{})
	if gate := g.gate(); !gate.Closed || !gate.Certain {
		t.Errorf("of a budget that was seen used up the gate is %+v", gate)
	}
	g.cluster.Step(2 * time.Hour)
	if gate := g.gate(); !gate.Closed || !gate.Unknown || gate.Certain {
		t.Errorf("the gate of a budget with an old status is %+v", gate)
	}

	g = newGated(t)
	uid := g.cluster.Start("ml", "a", 8)
	g.cluster.Step(20 * time.Minute)
	g.run(reconcile.RunOptions{})
	g.cluster.Step(23 * time.Minute)
	g.cluster.Remove(uid)
	g.cluster.Forget() // at an unknown time
	g.run(reconcile.RunOptions{})
	if gate := g.gate(); !gate.Closed || gate.Unknown || gate.Certain {
		t.Errorf("of a budget that is used up by an estimate the gate is %+v", gate)
	}
}
