package ledger_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// life is what really happened to a pod.
type life struct {
	number     int
	start, end ledger.Time
	gone       ledger.Time // the pod is not listed from then on; its end, or later
}

func anyLives(count int) *rapid.Generator[[]life] {
	return rapid.Custom(func(t *rapid.T) []life {
		lives := make([]life, count)
		for n := range lives {
			minutes := func(name string, most int) ledger.Time {
				return ledger.Time(rapid.IntRange(0, most*60).Draw(t, name)) * second
			}
			start := noon + minutes("start", 60)
			end := start + minutes("length", 60)
			lives[n] = life{number: n, start: start, end: end, gone: end + rapid.SampledFrom([]ledger.Time{0, 0, 30 * second, 10 * day}).Draw(t, "listed for")}
		}
		return lives
	})
}

// anySchedule draws the times of runs, from noon on.
func anySchedule() *rapid.Generator[[]ledger.Time] {
	return rapid.Custom(func(t *rapid.T) []ledger.Time {
		now := noon
		var runs []ledger.Time
		for range rapid.IntRange(1, 12).Draw(t, "runs") {
			now += ledger.Time(rapid.IntRange(1, 20*60).Draw(t, "pause")) * second
			runs = append(runs, now)
		}
		return runs
	})
}

// see is one run: it observes the pods that are listed and closes the others.
func see(t failer, l *ledger.Ledger, lives []life, now ledger.Time) {
	t.Helper()
	present := map[string]bool{}
	for _, p := range lives {
		if p.start > now || p.gone <= now {
			continue
		}
		r := pod(p.number, p.start)
		r.Seen = now
		if p.end <= now {
			r = ended(r, p.end, ledger.ContainerFinished)
		}
		present[r.UID] = true
		observe(t, l, r)
	}
	l.CloseVanished(func(uid string) bool { return present[uid] }, nil, l.Header.LastRun, now)
	if l.Header.Began == 0 {
		l.Header.Began = now
	}
	l.Header.LastRun = now
}

// usage returns how long the pods held their GPUs until a moment, and by how much that may be
// wrong.
func usage(l *ledger.Ledger, policy ledger.EndEstimate, now ledger.Time) (total, bound ledger.Time) {
	for r := range l.All() {
		end := now
		if !r.Open() {
			end = r.End.Point(policy)
		}
		total += max(0, end-r.Start.At)
		bound += r.End.Bound(policy)
	}
	return total, bound
}

var policies = []ledger.EndEstimate{ledger.EstimateEarliest, ledger.EstimateMidpoint, ledger.EstimateLatest}

func TestUsageNeverFallsFromRunToRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lives := anyLives(6).Draw(t, "lives")
		l := ledger.New(cluster)
		last := map[ledger.EndEstimate]ledger.Time{}
		for _, now := range anySchedule().Draw(t, "schedule") {
			see(t, l, lives, now)
			for _, p := range policies {
				total, _ := usage(l, p, now)
				if total < last[p] {
					t.Fatalf("%s: %d ms at %d, and %d at the run before", p, total, now, last[p])
				}
				last[p] = total
			}
		}
	})
}

func TestUsageIsWithinItsBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lives := anyLives(6).Draw(t, "lives")
		l := ledger.New(cluster)
		for _, now := range anySchedule().Draw(t, "schedule") {
			see(t, l, lives, now)
			for _, p := range policies {
				total, bound := usage(l, p, now)
				truth := ledger.Time(0)
				for _, life := range lives {
					if _, known := l.Get(uid(life.number)); known { // gaps cover what was never observed
						truth += max(0, min(life.end, now)-life.start)
					}
				}
				if off := max(total-truth, truth-total); off > bound {
					t.Fatalf("%s: %d ms, truly %d: more than the bound of %d", p, total, truth, bound)
				}
			}
		}
	})
}

func TestRunTwiceIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lives := anyLives(6).Draw(t, "lives")
		once, twice := ledger.New(cluster), ledger.New(cluster)
		for _, now := range anySchedule().Draw(t, "schedule") {
			before := twice.Header
			see(t, once, lives, now)
			see(t, twice, lives, now)
			twice.Header = before // killed before the header was written
			see(t, twice, lives, now)
		}
		same(t, "each run twice", twice, once)
	})
}

// TestScheduleMakesNoDifference: how often runs observe does not change the records of pods whose
// end they observed.
func TestScheduleMakesNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lives := anyLives(6).Draw(t, "lives")
		for n := range lives {
			lives[n].gone = lives[n].end + 10*day
		}
		const last = noon + 10*hour
		once, often := ledger.New(cluster), ledger.New(cluster)
		see(t, once, lives, last)
		for _, now := range append(anySchedule().Draw(t, "schedule"), last) {
			see(t, often, lives, now)
		}
		for _, p := range policies {
			a, _ := usage(once, p, last)
			if b, bound := usage(often, p, last); a != b || bound != 0 {
				t.Fatalf("%s: %d ms by one run, %d within %d by many", p, a, b, bound)
			}
		}
	})
}

// TestDeletingSeenPodsOnlyMovesOpenEnds: deleting pods only changes the ends of those that still
// held GPUs, and by no more than the bound.
func TestDeletingSeenPodsOnlyMovesOpenEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lives := anyLives(6).Draw(t, "lives")
		schedule := anySchedule().Draw(t, "schedule")
		l := ledger.New(cluster)
		for _, now := range schedule {
			see(t, l, lives, now)
		}
		before := records(l)
		listed := 0
		for _, p := range lives {
			if slices.ContainsFunc(schedule, func(now ledger.Time) bool { return p.start <= now && now < p.gone }) {
				listed++
			}
		}
		if len(before) != listed {
			t.Fatalf("%d records of %d pods", len(before), listed)
		}
		lastRun := l.Header.LastRun
		next := lastRun + 5*minute
		left := slices.Clone(lives)
		deleted := map[string]bool{}
		for n := range left {
			if rapid.Bool().Draw(t, "deleted") {
				deleted[uid(left[n].number)] = true
				left[n].gone = lastRun
			}
		}
		see(t, l, left, next)
		for _, old := range before {
			now, known := l.Get(old.UID)
			if !known {
				t.Fatalf("the record of the pod %s is gone", old.Name)
			}
			if !deleted[old.UID] {
				continue
			}
			if old.Open() {
				if got := now.End.Point(ledger.EstimateMidpoint); got < lastRun || got > next || now.End.Bound(ledger.EstimateMidpoint) > (next-lastRun)/2+1 {
					t.Fatalf("an open interval now ends at %d, within %d", got, now.End.Bound(ledger.EstimateMidpoint))
				}
				now.End = old.End
			}
			if diff := cmp.Diff(old, now, alike); diff != "" {
				t.Fatalf("deleting the pod changed its record (-before +after):\n%s", diff)
			}
		}
	})
}

// The following tests are cases that other ways of counting get wrong.

func TestNothingIsOpenForEverOnceItsEndWasSeen(t *testing.T) {
	t.Parallel()
	for n, source := range sources[:8] {
		l := of(t, pod(n, noon), ended(pod(n, noon), noon+hour, source))
		now, _ := usage(l, ledger.EstimateLatest, noon+day)
		if later, _ := usage(l, ledger.EstimateLatest, noon+30*day); now != hour || later != hour {
			t.Errorf("%s: %d ms, and %d later", source, now, later)
		}
	}
}

func TestWhatCannotBeARecordIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*ledger.Record){
		"no UID":                  func(r *ledger.Record) { r.UID = "" },
		"a UID without end":       func(r *ledger.Record) { r.UID = fmt.Sprintf("%0300d", 1) },
		"never seen":              func(r *ledger.Record) { r.Seen = 0 },
		"no start":                func(r *ledger.Record) { r.Start = ledger.Start{} },
		"a start before 1970":     func(r *ledger.Record) { r.Start.At = -1 },
		"a start after 9999":      func(r *ledger.Record) { r.Start.At = 1 << 60 },
		"an end before 1970":      func(r *ledger.Record) { r.End = ledger.ExactEnd(-hour, ledger.NotReady) },
		"an end of no source":     func(r *ledger.Record) { r.End = ledger.ExactEnd(noon, "") },
		"an end of a new source":  func(r *ledger.Record) { r.End = ledger.ExactEnd(noon, "guessed") },
		"a range the wrong way":   func(r *ledger.Record) { r.End = ledger.End{Earliest: noon + 1, At: noon, Source: ledger.Estimated} },
		"a start of a new source": func(r *ledger.Record) { r.Start.Source = "guessed" },
		"GPUs below zero":         func(r *ledger.Record) { r.Allocation = gpus(-1) },
		"GPUs without a number": func(r *ledger.Record) {
			r.Allocation = &ledger.Allocation{Shares: []ledger.Share{{Resource: "nvidia.com/gpu"}}}
		},
	} {
		r := pod(1, noon)
		change(&r)
		l := ledger.New(cluster)
		if err := l.Merge(r); err == nil || l.Len() != 0 {
			t.Errorf("%s: merged (%v)", name, err)
		}
	}
}
