package budget

import "testing"

// TestPodsGetNoMoreTimeThanTheBudgetLetsThem: a grace of zero would delete by force.
func TestPodsGetNoMoreTimeThanTheBudgetLetsThem(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int64]int64{0: 1, 1: 1, 30: 30, 300: 300, 301: 300, 315360000: 300, -5: 1} {
		if got := (Enforcement{}).GraceOf(asked); got != want {
			t.Errorf("of %d s it gets %d, want %d", asked, got, want)
		}
	}
	if got := (Enforcement{MaxGracePeriod: "1s"}).GraceOf(30); got != 1 {
		t.Errorf("of a second it gets %d", got)
	}
}
