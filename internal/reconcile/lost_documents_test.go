package reconcile_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// newEnforced returns a world with two exceeded budgets with running pods: one froze, and one
// paused. A pool lacks an instance and may launch none.
func newEnforced(t *testing.T) *gated {
	t.Helper()
	g := newGated(t)
	a := g.budget
	a.Window, a.Enforce.Action, a.Enforce.GracePeriod = "24h", budget.Freeze, "0s"
	if _, err := g.process().Budgets().Update(context.Background(), a); err != nil {
		t.Fatal(err)
	}
	_, err := g.process().Budgets().Create(context.Background(), budget.Declaration{
		Name: "team-b", GPUHours: "4", Window: "24h", Selector: budget.Selector{MatchLabels: map[string]string{"team": "b"}},
		Enforce: budget.Enforcement{Action: budget.Pause, GracePeriod: "0s"},
	}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	ofB := func(p *gpu.Pod) { p.Labels = map[string]string{"team": "b"} }
	owner := ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "paused", UID: "uid-of-paused"}
	gone := g.cluster.Start("ml", "gone", 1)
	g.cluster.Start("ml", "a", 8)
	g.cluster.Start("ml", "b", 8, ofB)
	g.cluster.Start("ml", "paused", 1, ofB, func(p *gpu.Pod) {
		p.Owner = &owner
	})
	g.cluster.Workloads[owner.UID] = &reconciletest.Workload{
		Workload: budget.Workload{Namespace: "ml", Owner: owner}, Replicas: 3, Labels: map[string]string{"team": "b"},
	}
	g.run(reconcile.RunOptions{AcceptLoss: "the ledger is new"})
	g.cluster.Step(40 * time.Minute)
	g.cluster.Remove(gone)
	g.run(reconcile.RunOptions{})
	g.cluster.Step(time.Minute)
	g.lose()
	report := g.run(reconcile.RunOptions{})
	if stopped := g.cluster.Stopped(); len(g.cluster.Frozen) != 1 || !slices.Equal(stopped, []string{"paused"}) {
		t.Fatalf("%d are frozen, and %v stopped: %+v", len(g.cluster.Frozen), stopped, report)
	}
	return g
}

// TestNoLostDocumentLiftsAnything loses each document of a store, one at a time: what is
// in force stays, running pods count, and nothing is launched.
func TestNoLostDocumentLiftsAnything(t *testing.T) {
	t.Parallel()
	g := newEnforced(t)
	launched := g.Launched()
	damages := map[string]func(path string, data []byte) error{
		"removed":   func(path string, _ []byte) error { return os.Remove(path) },
		"truncated": func(path string, data []byte) error { return os.Truncate(path, int64(len(data)/2)) },
		"zeroed":    func(path string, data []byte) error { return os.WriteFile(path, make([]byte, len(data)), 0o600) },
	}
	for _, document := range documentsBelow(t, g.Dir) {
		for name, damage := range damages {
			t.Run(document+" "+name, func(t *testing.T) {
				t.Parallel()
				world := *g.World
				world.Dir = copyStore(t, g.Dir)
				path := filepath.Join(world.Dir, document)
				data, err := os.ReadFile(path)
				if err == nil {
					err = damage(path, data)
				}
				if err != nil {
					t.Fatal(err)
				}
				lost := &gated{World: &world, t: t, cluster: g.cluster.Copy()}
				for range 3 {
					lost.cluster.Step(time.Minute)
					lost.verifyEnforced(lost.run(reconcile.RunOptions{}))
				}
				if after := g.Launched(); after != launched {
					t.Errorf("%d were launched", after-launched)
				}
			})
		}
	}
}

// documentsBelow are the files of a store's documents. Without its description, every
// command refuses the store.
func documentsBelow(t *testing.T, dir string) []string {
	t.Helper()
	var documents []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(dir, path)
		switch {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case e.IsDir() && name == "locks":
			return fs.SkipDir
		case !e.IsDir() && name != "store.json":
			documents = append(documents, name)
		}
		return nil
	})
	if err != nil || len(documents) == 0 {
		t.Fatalf("%d documents: %v", len(documents), err)
	}
	return documents
}

// verifyEnforced checks that a run left in force what was. Its report and status must show the
// running pods of each budget, or its error.
func (g *gated) verifyEnforced(report reconcile.Report) {
	g.t.Helper()
	if stopped := g.cluster.Stopped(); len(g.cluster.Frozen) != 1 || !slices.Equal(stopped, []string{"paused"}) {
		g.t.Errorf("%d are frozen, and %v stopped: %v", len(g.cluster.Frozen), stopped, reconciletest.Told(report))
	}
	status, err := g.process().Runner().Status(context.Background())
	if err != nil {
		g.t.Fatal(err)
	}
	for _, name := range []string{"team-a", "team-b"} {
		n := slices.IndexFunc(status.Budgets, func(b budgets.Description) bool { return b.Name == name })
		if n < 0 {
			if told := strings.Join(slices.Concat(report.Warnings, status.Warnings).Texts(), "\n"); !strings.Contains(told, name) {
				g.t.Errorf("nothing reports that the budget %s is lost: %q", name, told)
			}
			continue
		}
		b := status.Budgets[n]
		switch {
		case b.UsageReport == nil && (b.Outcome != outcome.Failed || b.Error == nil):
			g.t.Errorf("the budget %s is %s without usage", name, b.Outcome)
		case b.UsageReport != nil && (b.ActivePods == 0 || b.ConsumedMilliGPUSeconds < 8*40*60*1000):
			g.t.Errorf("the budget %s has %d pods, and used %s GPU-hours", name, b.ActivePods, b.ConsumedGPUHours)
		}
	}
}
