package history_test

import (
	"slices"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// TestEventsAreOrderedByConsequence: of one moment, what led to something comes before it, and
// no kind is left out.
func TestEventsAreOrderedByConsequence(t *testing.T) {
	t.Parallel()
	a := about("train", 0)
	merged, _ := history.Merge(nil,
		a.Instance(history.Begin, history.Instance{ID: "ins-2"}), a.Launched(ask(1)), a.Instance(history.Reclaim, history.Instance{ID: "ins-1"}))
	var kinds []history.Kind
	for _, e := range merged {
		kinds = append(kinds, e.Kind)
	}
	if want := []history.Kind{history.Reclaim, history.Launch, history.Begin}; !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
	for _, k := range history.Kinds() {
		merged, _ := history.Merge(nil, history.Event{ID: "a", At: noon, Kind: k}, history.Event{ID: "z", At: noon, Kind: history.Create})
		if k != history.Create && merged[0].Kind != history.Create {
			t.Errorf("%s has no place among the kinds", k)
		}
	}
}
