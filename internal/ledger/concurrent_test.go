package ledger_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// certainUntil returns until when a ledger knows each pod to have held its GPUs.
func certainUntil(l *ledger.Ledger) map[string]ledger.Time {
	held := map[string]ledger.Time{}
	for r := range l.All() {
		if held[r.UID] = r.End.Earliest; r.Open() {
			held[r.UID] = max(r.End.Earliest, l.Header.LastRun)
		}
	}
	return held
}

// TestConcurrentRunsLoseNoHours merges the ledgers of two runs that began with the same one. Their
// observations conflict: the later one may get any end from a kubelet.
func TestConcurrentRunsLoseNoHours(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lives := anyLives(4).Draw(t, "lives")
		before := anySchedule().Draw(t, "before")
		run := func(name string) *ledger.Ledger {
			l := ledger.New(cluster)
			for _, now := range before {
				see(t, l, lives, now)
			}
			now := l.Header.LastRun
			for range rapid.IntRange(0, 3).Draw(t, "runs "+name) {
				now += ledger.Time(rapid.IntRange(1, 20*60).Draw(t, "pause "+name)) * second
				see(t, l, lives, now)
			}
			for r := range of(t, records(l)...).All() {
				if source := rapid.SampledFrom(append([]ledger.Source{""}, sources...)).Draw(t, "end "+name); source != "" && r.Open() {
					forged := ended(*r, r.Start.At+ledger.Time(rapid.IntRange(0, 60*60).Draw(t, "at "+name))*second, source)
					forged.Seen = now
					observe(t, l, forged)
				}
			}
			return l
		}
		left, right := run("left"), run("right")
		copyOf := func(l *ledger.Ledger) *ledger.Ledger {
			c := of(t, records(l)...)
			c.Header = l.Header
			return c
		}
		joined, reversed := copyOf(left), copyOf(right)
		if err := joined.Join(right); err != nil {
			t.Fatalf("join: %v", err)
		}
		if err := reversed.Join(left); err != nil {
			t.Fatalf("join: %v", err)
		}
		same(t, "in the other order", reversed, joined)
		after := certainUntil(joined)
		for _, l := range []*ledger.Ledger{left, right} {
			for uid, until := range certainUntil(l) {
				// The status of a container's end may have been late for one of them.
				if r, _ := joined.Get(uid); r.End.Source == ledger.ContainerFinished {
					until -= 10 * second
				}
				if after[uid] < until {
					t.Fatalf("the pod %s held its GPUs until %d, and until %d after the join", uid, until, after[uid])
				}
			}
		}
		again := copyOf(joined)
		if err := again.Join(joined); err != nil {
			t.Fatalf("join: %v", err)
		}
		same(t, "joined again", again, joined)
	})
}
