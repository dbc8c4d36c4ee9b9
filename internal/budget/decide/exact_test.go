package decide

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestThresholdsAreComparedExactly, whatever the limit: the products have more than
// 64 bits.
func TestThresholdsAreComparedExactly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, math.MaxInt64).Draw(t, "limit")
		threshold := rapid.IntRange(1, budget.MaxThreshold).Draw(t, "threshold")
		s := situation(teamA(), 0)
		s.Declaration.Thresholds, s.Previous = []int{threshold}, nil
		s.Result.Usage.Limit = limit
		reached := new(big.Int).Mul(big.NewInt(limit), big.NewInt(int64(threshold)))
		reached.Add(reached, big.NewInt(99)).Quo(reached, big.NewInt(100))
		if !reached.IsInt64() {
			return
		}
		for _, off := range []int64{-1, 0} {
			s.Result.Usage.Consumed = reached.Int64() + off
			if fired := slices.Contains(kinds(Decide(s, nil)), budget.KindAlert); fired != (off == 0) {
				t.Fatalf("at %d of %d, %d%% is reported: %t", s.Result.Usage.Consumed, limit, threshold, fired)
			}
		}
	})
}
