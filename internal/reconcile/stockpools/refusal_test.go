package stockpools_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestWhatTheClusterRefusesIsNotRecorded: an update that an admission policy refuses
// leaves the record as it was, and a budget can still pause the pool.
func TestWhatTheClusterRefusesIsNotRecorded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.budget(budget.Pause)
	d.Run()
	state := d.create()
	d.is(2, stockpool.Ready)
	refuses := errors.New("the policy images forbids it")
	d.Cluster.Failing["DryRunStock"] = refuses
	for name, change := range map[string]func(*stockpool.Declaration){
		"an image":  func(d *stockpool.Declaration) { d.Image = "registry.example.com/team/runtime:2" },
		"more pods": func(d *stockpool.Declaration) { d.Replicas = 3 },
	} {
		changed, acts := state.Declaration, len(d.Cluster.Acts)
		change(&changed)
		if _, err := d.Engine().Stock().Update(context.Background(), changed, 0); !errors.Is(err, refuses) || len(d.Cluster.Acts) != acts {
			t.Errorf("%s: %v; it did %q", name, err, d.Cluster.Acts[acts:])
		}
	}
	changed := state.Declaration
	changed.OnDestroy = stockpool.DestroyOrphan
	if _, err := d.Engine().Stock().Update(context.Background(), changed, 0); err != nil {
		t.Errorf("what changes nothing in the cluster is not tried there: %v", err)
	}
	delete(d.Cluster.Failing, "DryRunStock")
	recorded, err := d.Engine().Stock().Find(context.Background(), "ml", "pool-g1")
	if err != nil || recorded.Image != pool().Image || recorded.Replicas != 2 {
		t.Errorf("the record has %s and %d pods: %v", recorded.Image, recorded.Replicas, err)
	}
	d.uses("train", 4, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	d.Run()
	d.is(0, stockpool.Paused)
}
