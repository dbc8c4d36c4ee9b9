package stockpools_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestACreationThatLandsLateIsItsOwn, also after it was asked for again.
func TestACreationThatLandsLateIsItsOwn(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Cluster.Failing["CreateStock"] = errors.New("the request timed out")
	if _, err := d.Process().StockPools().Create(context.Background(), pool(), 0); err == nil {
		t.Fatal("it was created")
	}
	first := d.journal().Opened
	delete(d.Cluster.Failing, "CreateStock")
	d.Cluster.Hook = faults.Before(func(method string) {
		if method == "CreateStock" { // the first lands before the second
			d.Cluster.Hook = nil
			d.Cluster.Put(key, pool().InitialDeployment(first, 0))
		}
	})
	if _, err := d.Process().StockPools().Create(context.Background(), pool(), 0); err != nil {
		t.Fatal(err)
	}
	d.is(2, decide.Ready)
	if d.journal().Opened != "" || slices.Contains(d.Cluster.Acts, "CreateStock "+key) {
		t.Errorf("it is still to be created (%s), or was twice: %q", d.journal().Opened, d.Cluster.Acts)
	}
	d.Cluster.Put(key, nil) // the next creation has a token of its own
	m := faults.Killed("CreateStock", false)
	_ = run(d, d.ProcessBy(m))
	if again := d.journal().Opened; again == "" || again == first {
		t.Errorf("it is created again as %q, and was %q", again, first)
	}
	d.is(2, decide.Ready)
}
