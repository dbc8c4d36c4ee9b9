package decide

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestAFreezeNamesItsEndOnce, and again only where that moved by enough.
func TestAFreezeNamesItsEndOnce(t *testing.T) {
	t.Parallel()
	at := noon.Add
	tests := []struct {
		name                 string
		told, recovers, want time.Duration // after noon; zero of told is nothing
	}{
		{"the first time, in whole five minutes", 0, 62 * time.Minute, 65 * time.Minute},
		{"on the mark", 0, 65 * time.Minute, 65 * time.Minute},
		{"the same still", 65 * time.Minute, 66 * time.Minute, 65 * time.Minute},
		{"a little earlier", 65 * time.Minute, 61 * time.Minute, 65 * time.Minute},
		{"too much later", 65 * time.Minute, 73 * time.Minute, 75 * time.Minute},
		{"far ahead, and two hours later", 20 * time.Hour, 22 * time.Hour, 20 * time.Hour},
		{"far ahead, and three hours later", 20 * time.Hour, 23 * time.Hour, 23 * time.Hour},
		{"soon, as it always is", time.Minute, time.Millisecond, time.Minute},
		{"past already", -time.Minute, time.Minute, 5 * time.Minute},
	}
	for _, test := range tests {
		told, recovers := time.Time{}, at(test.recovers)
		if test.told != 0 {
			told = at(test.told)
		}
		if got := announcedEnd(told, &recovers, noon); !got.Equal(at(test.want)) {
			t.Errorf("%s: %s, want %s", test.name, got, at(test.want))
		}
	}
	if got := announcedEnd(noon, nil, noon); !got.IsZero() {
		t.Errorf("of nothing it names %s", got)
	}
}

// TestAFreezeTellsHowUsageRecovers: a period starts again from zero, and a rolling window recovers only
// without more use.
func TestAFreezeTellsHowUsageRecovers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		window string
		period budget.Period
		want   string
	}{
		{"24h", "", "it recovers by itself at 2026-07-16T00:00:00Z if nothing more is used"},
		{"", budget.Day, "its period ends at 2026-07-16T00:00:00Z, and usage starts again from zero"},
	} {
		d := enforcing(budget.Freeze)
		d.Window, d.Period = test.window, test.period
		s := situation(d, 100*budget.Hour)
		s.Result.Usage.RecoversAt = new(noon.Add(12 * time.Hour))
		if p := Decide(s, nil); len(p.Decisions) != 1 || !slices.Contains(p.Decisions[0].Reasons.Texts(), test.want) {
			t.Errorf("the decisions %v lack %q", p.Decisions, test.want)
		}
	}
}

// TestAFreezeIsSeldomWrittenAnew while pods go on, so that its end moves on with the
// clock: run after run, every forty seconds for a day.
func TestAFreezeIsSeldomWrittenAnew(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Millisecond, 20 * time.Minute, 20 * time.Hour} {
		var told []time.Time
		for now := noon; now.Before(noon.AddDate(0, 0, 1)); now = now.Add(40 * time.Second) {
			recovers, last := now.Add(ahead), time.Time{}
			if len(told) > 0 {
				last = told[len(told)-1]
			}
			if names := announcedEnd(last, &recovers, now); !names.Equal(last) {
				told = append(told, names)
			}
		}
		if most := 24 * 12; len(told) > most || len(slices.Compact(slices.Clone(told))) != len(told) {
			t.Errorf("%s ahead: written %d times", ahead, len(told))
		}
	}
}
