package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestWhatNoWindowReachesIsForgotten of a budget whose lengths of time are
// written in days, as of one that has them in hours: a longer window later finds
// nothing any more.
func TestWhatNoWindowReachesIsForgotten(t *testing.T) {
	t.Parallel()
	for _, grace := range []string{"24h", "1d"} {
		d := newDesk(t)
		b := d.declare(func(b *budget.Declaration) { b.Window, b.Enforce.GracePeriod = "1h", grace })
		pod := d.cluster.start("ml", "a", 8)
		d.cluster.step(time.Hour)
		wantConsumed(t, d.run(), "8.000")
		d.cluster.remove(pod)
		d.run()
		d.cluster.step(4 * 24 * time.Hour)
		d.run()
		b.Window = "30d"
		if _, err := d.engine().UpdateBudget(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		wantConsumed(t, d.run(), "0.000")
	}
}
