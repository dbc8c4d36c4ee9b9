package budget

import "testing"

// TestBoundReasonNamesEachPart of an error bound.
func TestBoundReasonNamesEachPart(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]Usage{
		"": {},
		"usage may differ by 8.196 GPU-hours: 8.196 of pods that began and ended while nothing was observed": {
			ErrorBound: 8196 * Hour / 1000, Missed: 8196 * Hour / 1000},
		"usage may differ by 3.000 GPU-hours: 2.000 of pods that began and ended while nothing was observed, " +
			"1.000 of pods whose ends are estimated or whose nodes were never observed": {ErrorBound: 3 * Hour, Missed: 2 * Hour},
	} {
		if got := BoundReason(u).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
