package meter

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// ghost is a pod that claims to hold GPUs, on a node that was never observed.
func ghost(gpus string, start, end ledger.Time) *ledger.Record {
	r := record("ghost", gpus, start, end)
	r.Allocation = unconfirmed(gpus)
	return r
}

// TestAGhostMovesNoGrace: the grace runs from where real usage reached the limit.
func TestAGhostMovesNoGrace(t *testing.T) {
	t.Parallel()
	used := record("real", "100", ago(2*time.Hour), 0)
	r := judged(t, teamA(), observed(), noon, used, ghost("5000", ago(10*time.Hour), 0))
	if want := noon.Add(-time.Hour); r.ExceededSince == nil || !r.ExceededSince.Equal(want) {
		t.Errorf("the limit is reached at %v, want %v", r.ExceededSince, want)
	}
}
