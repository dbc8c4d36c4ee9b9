package stockpools_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestTwoRunsBesideAnApply make one Deployment of it, whatever one takes from the other.
func TestTwoRunsBesideAnApply(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	state := d.create()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 5 {
				_, err := d.Runner().Run(context.Background(), reconcile.RunOptions{RunLockTimeout: time.Minute})
				if err != nil {
					t.Errorf("a run: %v", err)
				}
			}
		})
	}
	all.Go(func() {
		of := state.Declaration
		for n := range 5 {
			of.Replicas = n + 1
			state, err := d.Process().StockPools().Update(context.Background(), of, 0)
			if err != nil {
				t.Errorf("an apply: %v", err)
				return
			}
			of = state.Declaration
		}
	})
	all.Wait()
	d.is(5, decide.Ready)
	created := 0
	for _, act := range d.Cluster.Acts {
		if strings.HasPrefix(act, "CreateStock") {
			created++
		}
	}
	if created != 1 {
		t.Errorf("%d Deployments were created", created)
	}
}

// TestOneThatFailsLeavesTheOthers: a record that can't be read, and a name that is taken.
func TestOneThatFailsLeavesTheOthers(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	d.create(func(d *stockpool.Declaration) { d.Name = "pool-g2" })
	foreign := d.Cluster.Deployment("ml/pool-g2").DeepCopy()
	foreign.UID = ""
	d.Cluster.Put("ml/pool-g2", foreign)
	d.Cluster.Put(key, nil)
	r := d.Run()
	if failed, rest := r.Failures(); failed != 1 || rest != 1 || d.replicas() != 2 {
		t.Errorf("%d failed, %d did not, and the other has %d pods", failed, rest, d.replicas())
	}
}

// TestManyAreObservedAtOnce: an idle run over many stock pools observes once.
func TestManyAreObservedAtOnce(t *testing.T) {
	t.Parallel()
	const many = 150
	d := newFixture(t)
	d.Declare()
	d.Run()
	flow := d.Process().StockPools()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for n := worker; n < many; n += 8 {
				if _, err := flow.Create(context.Background(), pool(func(d *stockpool.Declaration) { d.Name = fmt.Sprintf("pool-%d", n) }), 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	before, acts := d.Cluster.Calls(), len(d.Cluster.Acts)
	began := time.Now()
	r := d.Run()
	took := time.Since(began)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	calls := d.Cluster.Calls()
	if len(r.StockPools) != many || len(d.Cluster.Acts) != acts || calls["Stock"] != before["Stock"]+1 || calls["StockOf"] != before["StockOf"] {
		t.Errorf("it reports %d, did %q, and called %v after %v", len(r.StockPools), d.Cluster.Acts[acts:], calls, before)
	}
	t.Logf("an idle run over %d stock pools took %s; the heap of this process is %d MB", many, took, memory.HeapAlloc>>20)
}

func TestAConflictIsObservedAgain(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	scaled := d.Cluster.Deployment(key).DeepCopy()
	*scaled.Spec.Replicas = 9
	d.Cluster.Put(key, scaled)
	conflicts := 2
	d.Cluster.Failing["ApplyStock"] = fmt.Errorf("409: %w", stockpool.ErrChanged)
	d.Cluster.Hook = faults.Before(func(method string) {
		if method == "ApplyStock" {
			if conflicts--; conflicts < 0 {
				delete(d.Cluster.Failing, "ApplyStock")
			}
		}
	})
	d.Run()
	if d.replicas() != 2 {
		t.Errorf("it has %d pods", d.replicas())
	}
	d.Cluster.Hook = nil
	d.Cluster.Failing["StockOf"] = errors.New("no answer")
	if r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil || len(r.StockPools) != 1 || r.StockPools[0].Error != nil {
		t.Errorf("an idle pool needs no fresh observation: %+v, %v", r.StockPools, err)
	}
}
