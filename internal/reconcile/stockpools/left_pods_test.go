package stockpools_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestADestroyWaitsForPodsThatEnd, even if their Deployment was deleted before.
func TestADestroyWaitsForPodsThatEnd(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	state := d.create()
	pods := slices.Clone(d.Cluster.StockPods(key))
	for n := range pods {
		pods[n].Ending = true
	}
	d.Cluster.Put(key, nil)
	d.Cluster.LeaveStockPods(key, pods...)
	err := reconciletest.Until("2 of its pods are terminating", func(timeout time.Duration) error {
		_, err := d.Process().StockPools().Delete(context.Background(), state.Declaration, timeout)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "2 of its pods are terminating") || d.stocked() == 0 {
		t.Errorf("it says %v, and %d documents are left", err, d.stocked())
	}
	r := d.Run()
	if len(r.StockPools) != 1 || r.StockPools[0].Deleted || r.StockPools[0].Error == nil ||
		!strings.Contains(r.StockPools[0].Error.Message, "2 of its pods are terminating") {
		t.Errorf("a run says %+v", r.StockPools)
	}
	d.Cluster.LeaveStockPods(key)
	notices, err := d.Process().StockPools().Delete(context.Background(), state.Declaration, time.Minute)
	if err != nil || len(notices) > 0 || d.stocked() != 0 {
		t.Errorf("it says %q, %v, and %d documents are left", notices, err, d.stocked())
	}
}

// TestADestroyNamesPodsThatStay: no one deleted them.
func TestADestroyNamesPodsThatStay(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	state := d.create()
	pods := slices.Clone(d.Cluster.StockPods(key))
	d.Cluster.Put(key, nil)
	d.Cluster.LeaveStockPods(key, append(pods, stockpool.Pod{Name: "over", Phase: "Failed"})...)
	acts := len(d.Cluster.Acts)
	notices, err := d.Process().StockPools().Delete(context.Background(), state.Declaration, time.Minute)
	text := strings.Join(notices.Texts(), "; ")
	if err != nil || !strings.Contains(text, pods[0].Name) || !strings.Contains(text, pods[1].Name) || strings.Contains(text, "over") {
		t.Errorf("it says %q, %v", notices, err)
	}
	if len(d.Cluster.Acts) != acts || len(d.Cluster.StockPods(key)) != 3 || d.stocked() != 0 {
		t.Errorf("it did %q; %d pods and %d documents are left", d.Cluster.Acts[acts:], len(d.Cluster.StockPods(key)), d.stocked())
	}
}

// TestADestroySaysThatTheHistoryLacksIt: with its journal goes what could report it later.
func TestADestroySaysThatTheHistoryLacksIt(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	state := d.create()
	m := &faults.Process{Fault: faults.Fault{On: "Write history", Times: 1 << 30}}
	notices, err := d.ProcessBy(m).StockPools().Delete(context.Background(), state.Declaration, time.Minute)
	if err != nil || !strings.Contains(strings.Join(notices.Texts(), "; "), "the history lacks its destroy event") || d.stocked() != 0 {
		t.Errorf("it says %q, %v; %d documents are left", notices, err, d.stocked())
	}
}
