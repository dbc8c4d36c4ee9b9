package stockpools_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestARunThatWaitsStaysUntilPodsAreReady, and one that does not wait, or that changed
// nothing, leaves at once.
func TestARunThatWaitsStaysUntilPodsAreReady(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	d.Cluster.Put(key, nil)
	observations := 0
	d.Cluster.Hook = faults.Before(func(method string) {
		if pods := d.Cluster.StockPods(key); method == "StockOf" && len(pods) == 2 {
			observations++
			for n := range pods {
				pods[n].Ready = observations > 2
			}
		}
	})
	r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.report(r); got.Phase != decide.Ready || got.Outcome != outcome.Done {
		t.Errorf("after its wait it says %s, %s", got.Phase, got.Outcome)
	}
	waited := observations
	for n := range d.Cluster.StockPods(key) {
		d.Cluster.StockPods(key)[n].Ready = false
	}
	began := time.Now()
	if r, err = d.Runner().Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if got := d.report(r); got.Outcome != outcome.Short || time.Since(began) > 30*time.Second {
		t.Errorf("a run that changes nothing says %s after %s and %d observations", got.Outcome, time.Since(began), observations-waited)
	}
}

// TestUnfinishedCreation fails once an apply would long be over.
func TestUnfinishedCreation(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Cluster.Failing["CreateStock"] = errors.New("no answer")
	if _, err := d.Process().StockPools().Create(context.Background(), pool(), 0); err == nil {
		t.Fatal("it was created")
	}
	delete(d.Cluster.Failing, "CreateStock")
	for _, c := range []struct {
		step time.Duration
		want outcome.Outcome
		says string
	}{
		{0, outcome.Skipped, "the next terraform apply resumes it"},
		{2 * time.Hour, outcome.Failed, "it is not managed until"},
	} {
		d.Cluster.Step(c.step)
		r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
		if err != nil || len(r.StockPools) != 1 {
			t.Fatalf("the run reports %+v, %v", r.StockPools, err)
		}
		if p := r.StockPools[0]; p.Outcome != c.want || p.Error == nil || !strings.Contains(p.Error.Message, c.says) {
			t.Errorf("after %s it is %s: %+v", c.step, p.Outcome, p.Error)
		}
	}
	if d.replicas() != -1 {
		t.Error("a run created the Deployment")
	}
	if _, err := d.Process().StockPools().Create(context.Background(), pool(), 0); err != nil {
		t.Fatal(err)
	}
	d.is(2, decide.Ready)
}
