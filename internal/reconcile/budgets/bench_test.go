package budgets_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// BenchmarkRunAfterChanges is a whole run without network latency. A thousand of so many pods with GPUs were
// created and deleted since the previous run.
func BenchmarkRunAfterChanges(b *testing.B) {
	for _, pods := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("%d pods", pods), func(b *testing.B) {
			cluster := reconciletest.NewCluster()
			place, err := directory.Open(b.TempDir()+"/store", directory.Options{Create: true})
			if err != nil {
				b.Fatal(err)
			}
			p := reconcile.World{Cluster: cluster.Connect, Store: place, Actor: "test"}
			for n := range 10 {
				d := budget.Declaration{
					Name: fmt.Sprintf("team-%d", n), GPUHours: "1000000", Window: "7d", Selector: budget.Selector{MatchLabels: map[string]string{"team": "a"}},
				}
				if _, err := p.Budgets().Create(context.Background(), d.WithDefaults()); err != nil {
					b.Fatal(err)
				}
			}
			uids := make([]string, 0, pods)
			for n := range pods {
				uids = append(uids, cluster.Start("ml", fmt.Sprintf("pod-%d", n), 1))
			}
			run := func() {
				report, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
				if failed, _ := report.Failures(); err != nil || failed > 0 {
					b.Fatal(err, report.Budgets[0].Error)
				}
			}
			run()
			cluster.Step(30 * time.Minute)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for n := range 500 {
					cluster.Remove(uids[n])
					uids = append(uids, cluster.Start("ml", fmt.Sprintf("pod-%d", len(uids)), 1))
				}
				uids = uids[500:]
				cluster.Step(time.Second)
				b.StartTimer()
				run()
			}
		})
	}
}
