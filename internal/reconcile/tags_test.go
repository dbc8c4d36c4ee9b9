package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// TestLaunchesUnderALimitOfTagValues launches far more often than a tag key may
// have values: numbers are used again. A creation past the limit says which it is.
func TestLaunchesUnderALimitOfTagValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *cvmsim.Options) { o.TagValuesPerKey = 5 })
	w.mustCreate(1, 2)
	for range 12 {
		w.step(11 * time.Minute)
		w.reclaim(1)
		w.cleanRuns()
	}
	w.verify(1)
	if n := w.launched(); n < 13 {
		t.Errorf("%d were launched, want 13", n)
	}
	var err error
	for n := 0; n < 6 && err == nil; n++ {
		d := pool(1, 1)
		d.Name = "other" + string(rune('a'+n))
		_, err = w.engine(nil).Pools().Create(context.Background(), d, longWait)
	}
	if err == nil || !contains(err.Error(), "LimitExceeded.TagValue", "values a tag key may have", "RequestId") {
		t.Errorf("a creation past the limit says %v", err)
	}
}

// TestAPaidInstanceKeepsItsPool refuses to destroy what someone paid for.
func TestAPaidInstanceKeepsItsPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustCreate(2, 4)
	paid := w.own()[0].InstanceID
	if err := w.sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: []string{paid}, ChargeType: "PREPAID"}); err != nil {
		t.Fatal(err)
	}
	err := w.engine(nil).Pools().Delete(context.Background(), d, longWait)
	if err == nil || !contains(err.Error(), paid, "PREPAID", "detach") {
		t.Errorf("the destroy says %v", err)
	}
	w.verify(2)
	lowered := d
	lowered.Minimum, lowered.Maximum = 0, 0
	if _, err := w.engine(nil).Pools().Update(context.Background(), lowered, longWait); err != nil {
		t.Fatal(err)
	}
	if own := w.own(); len(own) != 1 || own[0].InstanceID != paid {
		t.Errorf("left are %s, want the one that was paid for", describe(own))
	}
}
