package budget

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func TestEdgesAreSortedByTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		far := rapid.SampledFrom([]int64{1, 100, 1 << 11, 1 << 20, 1 << 40}).Draw(t, "far")
		list := rapid.SliceOf(rapid.Custom(func(t *rapid.T) edge {
			return edge{at: ledger.Time(rapid.Int64Range(0, far).Draw(t, "at")), change: rapid.Int32().Draw(t, "change")}
		})).Draw(t, "edges")
		all := func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.change, b.change)) }
		want := slices.SortedFunc(slices.Values(list), all)
		got := byTime(slices.Clone(list))
		if !slices.IsSortedFunc(got, func(a, b edge) int { return cmp.Compare(a.at, b.at) }) {
			t.Fatalf("%v", got)
		}
		slices.SortFunc(got, all)
		if !slices.Equal(got, want) {
			t.Fatalf("%v became %v", list, got)
		}
	})
}
