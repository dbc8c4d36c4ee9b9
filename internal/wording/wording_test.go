package wording_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

func TestListsAreNamedAndCounted(t *testing.T) {
	t.Parallel()
	five := []string{"a", "b", "c", "d", "e"}
	for want, list := range map[string][]string{
		"": nil, "a": five[:1], "a, b": five[:2], "a, b, c, d, e": five, "a, b, c, d and 2 more": append(five, "f"),
	} {
		if got := wording.Some(list); got != want {
			t.Errorf("%q reads %q, want %q", list, got, want)
		}
	}
}

func TestCountsChooseTheirWord(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "pods", 1: "pod", 2: "pods"} {
		if got := wording.Plural(n, "pod", "pods"); got != want {
			t.Errorf("%d %s, want %s", n, got, want)
		}
	}
}

func TestCountedThings(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		wording.Count(0, "pod"): "0 pods", wording.Count(1, "pod"): "1 pod", wording.Count(21, "pod"): "21 pods",
		wording.Count(1, "launch"): "1 launch", wording.Count(2, "launch"): "2 launches",
		wording.Amount("1", "GPU"): "1 GPU", wording.Amount("0.5", "GPU"): "0.5 GPUs", wording.Amount("1/7", "GPU"): "1/7 GPUs",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestReasonsFollowWhatWasDecided(t *testing.T) {
	t.Parallel()
	for want, reasons := range map[string][]string{
		"launch 1": nil, "launch 1: capacity is 0": {"capacity is 0"}, "launch 1: capacity is 0; it costs 1.90": {"capacity is 0", "it costs 1.90"},
	} {
		if got := wording.Because("launch 1", reasons); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestInstants(t *testing.T) {
	t.Parallel()
	day := func(at time.Time) string { return at.Format("2 Jan") }
	for text, want := range map[string]string{
		"until " + wording.Instant(time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)) + ", held": "until 27 Nov, held",
		"2026-11-27T08:00:00Z; 2026-12-01T08:00:00Z":                                         "27 Nov; 1 Dec",
		"2026-11-27T08:00:00+08:00, 2026-13-01T08:00:00Z, no time":                           "2026-11-27T08:00:00+08:00, 2026-13-01T08:00:00Z, no time",
	} {
		if got := wording.Instants(text, day); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"raise maximum": "Raise maximum.", "gpu_hours is none.": "gpu_hours is none.", "maximum = 3 is low": "maximum = 3 is low.",
		"Wait": "Wait.", "list them:\ngpupool history": "List them:\ngpupool history", "spot_pool/a/b: gone": "spot_pool/a/b: gone.", "é": "é.",
	} {
		if got := wording.Sentence(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
