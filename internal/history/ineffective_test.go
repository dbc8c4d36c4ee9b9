package history_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestMessagesHaveTheReasonOfWhatIsIneffective, and of nothing that was done.
func TestMessagesHaveTheReasonOfWhatIsIneffective(t *testing.T) {
	t.Parallel()
	about := history.About{At: noon, Object: "budget/team-a", Reasons: reason.Reasons{reason.OtherVersion("a webhook says no")}}
	w, pod := history.Identity{Namespace: "ml", Name: "Job/train", UID: "a"}, history.Identity{Namespace: "ml", Name: "b", UID: "b"}
	for want, e := range map[string]history.Event{
		"ml/Job/train: ineffective: a webhook says no": about.Paused(w, noon, "ineffective"),
		"ml/b: ineffective: a webhook says no":         about.Evicted(pod, "ineffective"),
		"ml/Job/train":                                 about.Paused(w, noon, history.Done),
	} {
		if got := e.Message(func(time.Time) string { return "" }); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
