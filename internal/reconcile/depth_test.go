package reconcile_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// depth is how much of this project is on the stack at a call, from where its goroutine
// starts.
type depth struct{ frames, packages int }

// measure counts the frames and packages of this module from the caller down, without
// those of tests and fakes.
func (d *depth) measure() {
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	packages := map[string]bool{}
	*d = depth{}
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		name, ours := strings.CutPrefix(f.Function, "github.com/gpupool/terraform-provider-gpupool/internal/")
		if !ours || strings.HasSuffix(f.File, "_test.go") || strings.HasPrefix(name, "reconcile/reconciletest") ||
			strings.HasPrefix(name, "reconcile_test.") {
			continue
		}
		d.frames++
		slash := strings.LastIndex(name, "/") + 1
		packages[name[:slash]+strings.SplitN(name[slash:], ".", 2)[0]] = true
	}
	d.packages = len(packages)
}

// launchLog measures when the Tencent Cloud client logs a call of RunInstances, which
// it does where it makes the call.
type launchLog struct {
	slog.Handler
	at *depth
}

func (launchLog) Enabled(context.Context, slog.Level) bool { return true }

func (l launchLog) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "action" && a.Value.String() == "RunInstances" {
			l.at.measure()
		}
		return true
	})
	return nil
}

func (d *depth) measureAt(method string) faults.Hook {
	return faults.Before(func(name string) {
		if name == method {
			d.measure()
		}
	})
}

// TestEffectsAreFewCallsDeep limits the calls between a run and a change of Tencent Cloud or
// Kubernetes. Lower a ceiling when you shorten the path.
func TestEffectsAreFewCallsDeep(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, p reconcile.World) {
		t.Helper()
		if _, err := p.Runner().Run(t.Context(), reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait}); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		most    depth
		measure func(t *testing.T) depth
	}{
		"RunInstances": {depth{11, 4}, func(t *testing.T) (at depth) {
			w := reconciletest.NewWorld(t)
			w.MustCreate(1, 1)
			w.Reclaim(1)
			p := w.Process(nil)
			client, err := tencent.New(t.Context(), tencent.Config{
				Region: reconciletest.Region, Endpoint: w.Sim.URL, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
				Logger: slog.New(launchLog{slog.DiscardHandler, &at}),
			})
			if err != nil {
				t.Fatal(err)
			}
			p.Cloud = client
			for at.frames == 0 && t.Context().Err() == nil { // the first run may only see the machine go
				run(t, p)
			}
			return at
		}},
		"Evict": {depth{14, 4}, func(t *testing.T) (at depth) {
			d := reconciletest.NewFixture(t)
			d.Declare(func(b *budget.Declaration) { b.Enforce.Action = budget.Evict })
			d.Cluster.Start("ml", "a", 8)
			d.Cluster.Step(time.Hour)
			d.Cluster.Hook = at.measureAt("Evict")
			run(t, d.Process())
			return at
		}},
		"ApplyStock": {depth{7, 3}, func(t *testing.T) (at depth) {
			d := reconciletest.NewFixture(t)
			_, err := d.Process().StockPools().Create(t.Context(), stockpool.Declaration{
				Name: "pool-g1", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
				Labels: map[string]string{"team": "a"}, AllocatedSelector: "session",
			}.WithDefaults(), 0)
			if err != nil {
				t.Fatal(err)
			}
			drifted := d.Cluster.Deployment("ml/pool-g1").DeepCopy()
			drifted.Spec.Template.Spec.Containers[0].Image = "registry.example.com/other:1"
			d.Cluster.Put("ml/pool-g1", drifted)
			d.Cluster.Hook = at.measureAt("ApplyStock")
			run(t, d.Process())
			return at
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tt.measure(t)
			t.Logf("%d frames of %d packages", got.frames, got.packages)
			if got.frames == 0 || got.frames > tt.most.frames || got.packages > tt.most.packages {
				t.Errorf("%d frames of %d packages are on the stack, want some, at most %d of %d", got.frames, got.packages, tt.most.frames, tt.most.packages)
			}
		})
	}
}
