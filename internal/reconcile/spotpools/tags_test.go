package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestLaunchesUnderALimitOfTagValues launches far more often than a tag key may
// have values: numbers are used again. A creation past the limit says which it is.
func TestLaunchesUnderALimitOfTagValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *cvmsim.Options) { o.TagValuesPerKey = 5 })
	w.MustCreate(1, 2)
	for range 12 {
		w.Step(11 * time.Minute)
		w.Reclaim(1)
		w.CleanRuns()
	}
	w.Verify(1)
	if n := w.Launched(); n < 13 {
		t.Errorf("%d were launched, want 13", n)
	}
	var err error
	for n := 0; n < 6 && err == nil; n++ {
		d := reconciletest.Pool(1, 1)
		d.Name = "other" + string(rune('a'+n))
		_, err = w.Pools(nil).Create(context.Background(), d, reconciletest.LongWait)
	}
	if err == nil || !contains(err.Error(), "LimitExceeded.TagValue", "reached its limit of values per tag key", "RequestId") {
		t.Errorf("a creation past the limit says %v", err)
	}
}

// TestAPaidInstanceKeepsItsPool refuses to destroy a prepaid instance.
func TestAPaidInstanceKeepsItsPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(2, 4)
	paid := w.Own()[0].InstanceID
	if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: []string{paid}, ChargeType: "PREPAID"}); err != nil {
		t.Fatal(err)
	}
	_, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait)
	if err == nil || !contains(err.Error(), paid, "PREPAID", "on_destroy") {
		t.Errorf("the destroy says %v", err)
	}
	w.Verify(2)
	lowered := d
	lowered.Minimum, lowered.Maximum = 0, 0
	if _, err := w.Pools(nil).Update(context.Background(), lowered, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	if own := w.Own(); len(own) != 1 || own[0].InstanceID != paid {
		t.Errorf("left are %s, want the one that was paid for", reconciletest.Describe(own))
	}
}

// TestTagsThatComeMuchLaterLaunchNothing has tags come long after anyone would
// expect them: the instances are held all the while, and none is launched in their
// place.
func TestTagsThatComeMuchLaterLaunchNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *cvmsim.Options) { o.TagDelay = 30 * time.Minute })
	w.MustCreate(2, 2)
	for range 4 {
		w.Step(12 * time.Minute)
		w.CleanRuns()
	}
	w.Verify(2)
	if n := w.Launched(); n != 2 {
		t.Errorf("%d instances were launched, want 2", n)
	}
}
