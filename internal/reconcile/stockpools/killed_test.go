package stockpools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// operation is what a process may be killed at, or fail in, and how the pool is after
// clean runs.
type operation struct {
	before func(*fixture)
	do     func(*fixture, reconcile.World) error
	// replicas is how many pods the Deployment has in the end; -1 where there is none.
	replicas int
	phase    decide.Phase // empty where the pool is gone
	bare     bool         // it has no disruption budget
	// once are the kinds of events that the history has once, whatever happened.
	once []history.Kind
	// again means that a person repeats the operation, since nothing else resumes it.
	again bool
}

var operations = map[string]operation{
	"create": {
		do: func(_ *fixture, e reconcile.World) error {
			_, err := e.StockPools().Create(context.Background(), pool(guarded), 0)
			var exists *record.ExistsError
			if errors.As(err, &exists) {
				return nil // nothing is left to do
			}
			return err
		},
		replicas: 2, phase: decide.Ready, once: []history.Kind{history.Create}, again: true,
	},
	"update": {
		before:   func(d *fixture) { d.create(guarded) },
		do:       updates(func(d *stockpool.Declaration) { d.Replicas = 4 }),
		replicas: 4, phase: decide.Ready, again: true,
	},
	"unguard": {
		before:   func(d *fixture) { d.create(guarded) },
		do:       updates(func(d *stockpool.Declaration) { d.PodDisruptionBudget = nil }),
		replicas: 2, phase: decide.Ready, bare: true, again: true,
	},
	"take over": {
		before: func(d *fixture) {
			theirs := pool().InitialDeployment("", 0)
			theirs.Annotations, theirs.Labels = nil, nil
			theirs.Spec.Template.Spec.Containers[0].Name, *theirs.Spec.Replicas = "main", 1
			d.Cluster.Put(key, theirs)
		},
		do: func(d *fixture, e reconcile.World) error {
			declared := pool(guarded) // what was imported before it had a uid
			declared.ClusterUID, declared.DeploymentUID = d.Cluster.ClusterUID, string(d.Cluster.Deployment(key).UID)
			_, err := e.StockPools().Update(context.Background(), declared, 0)
			return err
		},
		replicas: 2, phase: decide.Ready, once: []history.Kind{history.Create}, again: true,
	},
	"revert": {
		before: func(d *fixture) {
			d.create(guarded)
			scaled := d.Cluster.Deployment(key).DeepCopy()
			*scaled.Spec.Replicas = 9
			d.Cluster.Put(key, scaled)
		},
		do: run, replicas: 2, phase: decide.Ready, once: []history.Kind{history.Revert},
	},
	"create again": {
		before: func(d *fixture) { d.create(guarded); d.Cluster.Put(key, nil) },
		do:     run, replicas: 2, phase: decide.Ready, once: []history.Kind{history.Revert},
	},
	"shrink": {
		before: func(d *fixture) {
			d.create(guarded, func(d *stockpool.Declaration) { d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 5 })
			pods := d.Cluster.StockPods(key)
			pods[0].Labels["session"], pods[1].Labels["session"] = "x", "y"
			d.is(4, decide.Ready)
			delete(d.Cluster.StockPods(key)[1].Labels, "session")
		},
		do: run, replicas: 3, phase: decide.Ready,
	},
	"pause": {
		before: func(d *fixture) { d.exceeds() },
		do:     run, replicas: 0, phase: decide.Paused, once: []history.Kind{history.Pause, history.Paused, history.GateClosed},
	},
	"resume": {
		before: func(d *fixture) {
			pod := d.exceeds()
			d.is(0, decide.Paused)
			if d.Cluster.Pods[pod] != nil { // else it went with the pause of its own workload
				d.Cluster.Remove(pod)
			}
			d.Run() // which counts its end
			d.Cluster.Step(25 * time.Hour)
		},
		do: run, replicas: 2, phase: decide.Ready, once: []history.Kind{history.Pause, history.Resume, history.GateClosed, history.GateOpened},
	},
	"destroy": {
		before: func(d *fixture) { d.create(guarded) },
		do:     destroys, replicas: -1, once: []history.Kind{history.Destroy}, again: true,
	},
	"orphan": {
		before: func(d *fixture) {
			d.create(guarded, func(d *stockpool.Declaration) { d.OnDestroy = stockpool.DestroyRetain })
		},
		do: destroys, replicas: 2, once: []history.Kind{history.Destroy}, again: true,
	},
}

// exceeds has a pool with a budget that pauses and that another pod has exhausted, and returns
// that pod.
func (d *fixture) exceeds() string {
	d.t.Helper()
	d.budget(budget.Pause)
	d.Run()
	d.create(guarded)
	pod := d.uses("train", 4, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	return pod
}

// updates is an apply of the pool that the store has, changed.
func updates(change func(*stockpool.Declaration)) func(*fixture, reconcile.World) error {
	return func(_ *fixture, p reconcile.World) error {
		of, err := p.StockPools().Find(context.Background(), "ml", "pool-g1")
		if err != nil {
			return err
		}
		change(&of)
		_, err = p.StockPools().Update(context.Background(), of, 0)
		return err
	}
}

// destroys is a destroy of the pool that the store has, if any.
func destroys(_ *fixture, p reconcile.World) error {
	of, err := p.StockPools().Find(context.Background(), "ml", "pool-g1")
	var absent *record.AbsentError
	if errors.As(err, &absent) || err == nil && of.UID == "" {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = p.StockPools().Delete(context.Background(), of, reconciletest.LongWait)
	return err
}

func guarded(d *stockpool.Declaration) {
	d.PodDisruptionBudget = &stockpool.PodDisruptionBudget{MinAvailable: 1}
}

func run(_ *fixture, p reconcile.World) error {
	_, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
	return err
}

func (of operation) begun(t *testing.T) *fixture {
	t.Helper()
	d := newFixture(t)
	if of.before != nil {
		of.before(d)
	}
	return d
}

// cut is the operation as faults cut it short, and what people and cron do then.
func (of operation) cut(name string) faults.Operation[*fixture] {
	return faults.Operation[*fixture]{
		Name: name, Begin: of.begun, Hits: ofStock,
		Do: func(d *fixture, p *faults.Process) error {
			e := d.ProcessBy(p)
			err := of.do(d, e)
			if p.Fault.Times > 1 {
				_, _ = run(d, e), of.do(d, e)
			}
			return err
		},
		Holds: func(d *fixture, f faults.Fault, err error) {
			d.t.Helper()
			d.left(of, err)
			alike := of
			if of.phase == "" && f.Times > 0 && f.On == "Write history" {
				alike.once = nil // an end does not wait for the history
			}
			d.recover(alike)
		},
	}
}

func cutOperations() (list []faults.Operation[*fixture]) {
	for name, of := range operations {
		list = append(list, of.cut(name))
	}
	return list
}

// ofStock leaves out the calls of the budgets of a run, which come before the stock pools.
func ofStock(trace []string) []string {
	for n := range slices.Index(trace, "Stock") {
		if trace[n] != "Lock" && trace[n] != "UID" {
			trace[n] = ""
		}
	}
	return trace
}

// TestKilledAtAnyEffectItComesOut: at the points of each operation, and what follows is
// what would have without.
func TestKilledAtAnyEffectItComesOut(t *testing.T) {
	t.Parallel()
	faults.PlayAll(t, cutOperations(), func(_ faults.Operation[*fixture], trace []string) []faults.Fault { return faults.Kills(trace) })
}

// TestFailingAtAnyEffectItComesOut: each call of each operation failing, once or for as
// long as people and cron try, before it took effect or after.
func TestFailingAtAnyEffectItComesOut(t *testing.T) {
	t.Parallel()
	faults.PlayAll(t, cutOperations(), func(_ faults.Operation[*fixture], trace []string) []faults.Fault {
		return soaktest.Sample(faults.Failing(trace, faults.Once, faults.Lost, faults.Always, faults.AlwaysLost))
	})
}

// left fails if an operation is reported as done and is not.
func (d *fixture) left(of operation, err error) {
	d.t.Helper()
	if err == nil && of.again && d.replicas() != of.replicas {
		d.t.Errorf("it says that it is done, and there are %d pods, not %d; done: %q", d.replicas(), of.replicas, d.Cluster.Acts)
	}
}

// TestSomebodyChangingItMeanwhileItComesOut: another field manager scales, edits and
// unlabels the Deployment before each effect of each operation.
func TestSomebodyChangingItMeanwhileItComesOut(t *testing.T) {
	t.Parallel()
	change := func(of *appsv1.Deployment) {
		*of.Spec.Replicas, of.Labels = 9, nil
		of.Spec.Template.Spec.Containers[0].Image = "evil:1"
	}
	for name, of := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace := of.cut(name).Trace(t)
			if strings.Join(trace, "") == "" {
				t.Error("it has no effect")
			}
			var effects []int
			for n, effect := range trace {
				if effect != "" {
					effects = append(effects, n)
				}
			}
			for _, n := range soaktest.Sample(effects) {
				t.Run(fmt.Sprintf("%d %s", n+1, trace[n]), func(t *testing.T) {
					t.Parallel()
					d := of.begun(t)
					m := &faults.Process{}
					m.Before = func(faults.Call) {
						if now := d.Cluster.Deployment(key); len(m.Trace()) == n && now != nil {
							now = now.DeepCopy()
							change(now)
							d.Cluster.Put(key, now)
						}
					}
					_ = of.do(d, d.ProcessBy(m))
					if of.phase == "" && of.replicas >= 0 {
						return // what is left is anybody's
					}
					alike := of
					alike.once = nil // drift is reverted, too
					d.recover(alike)
					if now := d.Cluster.Deployment(key); now != nil &&
						(now.Labels[stockpool.LabelPool] == "" || now.Spec.Template.Spec.Containers[0].Image != pool().Image) {
						t.Errorf("it was not reverted: %+v", now)
					}
				})
			}
		})
	}
}

// TestTwoRunsBesideAnyOperationItComesOut, whichever of them gets the pool's lock first.
func TestTwoRunsBesideAnyOperationItComesOut(t *testing.T) {
	t.Parallel()
	for name, of := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := of.begun(t)
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() {
					for range 3 {
						if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{RunLockTimeout: time.Minute}); err != nil {
							t.Errorf("a run: %v", err)
						}
					}
				})
			}
			all.Go(func() {
				if err := of.do(d, d.Process()); err != nil && of.again {
					t.Errorf("the operation: %v", err)
				}
			})
			all.Wait()
			d.recover(of)
		})
	}
}

// recover does what people and cron do after that: they apply, or destroy, again where
// nothing else would go on with it, and runs come.
func (d *fixture) recover(of operation) {
	d.t.Helper()
	d.Cluster.Step(time.Minute)
	if of.again {
		if err := of.do(d, d.Process()); err != nil {
			d.t.Fatalf("again: %v", err)
		}
	}
	for range 3 {
		d.Run()
	}
	if got := d.replicas(); got != of.replicas {
		d.t.Fatalf("it has %d pods, want %d; done: %q", got, of.replicas, d.Cluster.Acts)
	}
	if of.phase == "" {
		if d.stocked() != 0 {
			d.t.Errorf("%d documents are left of it", d.stocked())
		}
	} else if r := d.report(d.Run()); r.Phase != of.phase || d.Cluster.Guarded(key) == of.bare {
		d.t.Errorf("guarded: %t; it is %+v", d.Cluster.Guarded(key), r)
	}
	for _, kind := range of.once {
		if got := d.reported(kind); got != 1 {
			d.t.Errorf("the history has %d events of %s", got, kind)
		}
	}
}
