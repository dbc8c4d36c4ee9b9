package spotpools_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// reuse has another machine register as the node of an instance, which Tencent Cloud then
// reclaims. It returns the node's name.
func (w *world) reuse() string {
	w.t.Helper()
	before := w.ownIDs()
	for _, id := range before {
		w.Cluster.Change("node-"+id, func(m *reconciletest.Machine) { m.Reused = true })
	}
	w.Reclaim(1)
	reused := ""
	for _, id := range before {
		if slices.Contains(w.ownIDs(), id) {
			w.Cluster.Change("node-"+id, func(m *reconciletest.Machine) { m.Reused = false })
		} else {
			reused = "node-" + id
		}
	}
	return reused
}

func (w *world) ownIDs() (ids []string) {
	for _, i := range w.Own() {
		ids = append(ids, i.InstanceID)
	}
	slices.Sort(ids)
	return ids
}

// TestADestroyLeavesNodesOfOtherMachines: a destroy neither waits for a Ready Node whose
// instance is gone nor deletes it. It warns with the command that removes the mark.
func TestADestroyLeavesNodesOfOtherMachines(t *testing.T) {
	t.Parallel()
	for name, destroyIt := range map[string]func(*world, spotpool.Declaration) []string{
		"destroy": func(w *world, d spotpool.Declaration) []string {
			warnings, err := w.Pools(nil).Delete(context.Background(), d, time.Hour)
			if err != nil {
				w.t.Fatal(err)
			}
			return warnings.Texts()
		},
		"reconcile": func(w *world, d spotpool.Declaration) []string {
			w.killDeletionAt(d, "Write tombstones", true)
			report := w.mustRun(reconcile.RunOptions{Wait: true, WaitTimeout: time.Hour})
			if p := report.SpotPools[0]; !p.Deleted {
				w.t.Errorf("the run reports %+v", p)
			}
			return report.SpotPools[0].Warnings.Texts()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.mustJoin(2, 2)
			nodes := *d.Nodes
			nodes.Drain.OnTimeout = node.Keep
			d.Nodes = &nodes
			d, _ = w.mustApply(d, reconciletest.LongWait)
			reused := w.reuse()
			begun := time.Now()
			warnings := strings.Join(destroyIt(w, d), "\n")
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("it took %s", took)
			}
			w.gone(d)
			if !strings.Contains(warnings, "\nkubectl annotate node "+reused+" gpupool/pool-uid-") {
				t.Errorf("the warnings are %q", warnings)
			}
			if m := w.Cluster.Machine(reused); m == nil || m.Pool != d.UID {
				t.Errorf("the node is %+v", m)
			}
			for _, act := range w.Cluster.Acts {
				if act == "DeleteNode "+reused || act == "CordonNode "+reused || act == "UnmarkNode "+reused {
					t.Errorf("it did %s", act)
				}
			}
		})
	}
}

// TestAStoppedRunReportsWhatItDid: a run that is stopped while it terminates instances
// reports the counts of after that.
func TestAStoppedRunReportsWhatItDid(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		begin func(w *world, d spotpool.Declaration)
		held  int
	}{
		"deletion": {func(w *world, d spotpool.Declaration) { w.killDeletionAt(d, "Write tombstones", true) }, 0},
		"scale-in": {func(w *world, d spotpool.Declaration) {
			d.Minimum, d.Maximum = 1, 1
			process := faults.Killed("Terminate", false)
			_, _ = w.Pools(process).Update(context.Background(), d, reconciletest.LongWait)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.begin(w, w.MustCreate(3, 3))
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			process := &faults.Process{Before: func(c faults.Call) {
				if c.Name == "Terminate" {
					stop()
				}
			}}
			report, err := w.Runner(process).Run(ctx, reconcile.RunOptions{})
			if len(report.SpotPools) != 1 {
				t.Fatalf("the run says %v, and reports %+v", err, report.SpotPools)
			}
			if p := report.SpotPools[0]; !p.Observed || p.Total != tt.held || p.Capacity != tt.held || len(p.Short) > 0 {
				t.Errorf("the run reports %+v", p)
			}
		})
	}
}

// TestStatusOfADeletion says since when a pool is being deleted, and what comes next.
func TestStatusOfADeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.killDeletionAt(w.MustCreate(1, 2), "Write tombstones", true)
	status, err := w.Runner(nil).Status(context.Background())
	if err != nil || len(status.SpotPools) != 1 {
		t.Fatalf("the status is %+v, %v", status.SpotPools, err)
	}
	of := status.SpotPools[0].Deletion
	if of == nil || of.Since.IsZero() || !of.Next.Same(reason.DeletionTerminates()) {
		t.Errorf("the deletion is %+v", of)
	}
	w.CleanRuns()
}
