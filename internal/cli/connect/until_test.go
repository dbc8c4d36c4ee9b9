package connect

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

// TestUntilIsReadInTheZoneOfTheBudget, and not in the machine's, since status shows it there.
func TestUntilIsReadInTheZoneOfTheBudget(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC) // 04:00 in Shanghai
	for zone, want := range map[string]time.Duration{"Asia/Shanghai": 2 * time.Hour, "": 10 * time.Hour} {
		o := &PersonFlags{store: &StoreFlags{session: &process.Session{}}, until: "06:00"}
		o.In(zone)
		if got, err := o.duration(now); err != nil || got != want {
			t.Errorf("in the zone %q, 06:00 is in %s, want %s: %v", zone, got, want, err)
		}
	}
}
