package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func none(string) bool { return false }

func TestCloseVanished(t *testing.T) {
	t.Parallel()
	const lastRun, now = noon + 10*minute, noon + 15*minute
	for _, test := range []struct {
		name     string
		change   func(*ledger.Record)
		evidence ledger.End
		want     ledger.End
	}{
		{"nothing is known", nil, ledger.End{}, ledger.End{Earliest: lastRun, At: now, Source: ledger.Estimated}},
		{
			"it started after the last run", func(r *ledger.Record) { r.Start.At = lastRun + minute }, ledger.End{},
			ledger.End{Earliest: lastRun + minute, At: now, Source: ledger.Estimated},
		},
		{
			"it was seen again after the last run", func(r *ledger.Record) { r.End.Earliest = lastRun + minute }, ledger.End{},
			ledger.End{Earliest: lastRun + minute, At: now, Source: ledger.Estimated},
		},
		{
			"its start is ahead of the clock", func(r *ledger.Record) { r.Start.At = now + minute }, ledger.End{},
			ledger.End{Earliest: now + minute, At: now + minute, Source: ledger.Estimated},
		},
		{
			"the instance ended before the pod was removed", nil, ledger.ExactEnd(lastRun-minute, ledger.InstanceEnded),
			ledger.ExactEnd(lastRun-minute, ledger.InstanceEnded),
		},
		{
			"an earlier life of the instance", nil, ledger.ExactEnd(noon-hour, ledger.InstanceEnded),
			ledger.End{Earliest: lastRun, At: now, Source: ledger.Estimated},
		},
		{
			"the node's clock is ahead", nil, ledger.ExactEnd(now+minute, ledger.NodeGone),
			ledger.ExactEnd(now, ledger.NodeGone),
		},
		{
			"deleted before its node went", func(r *ledger.Record) { r.Deletion = lastRun + minute }, ledger.ExactEnd(lastRun+3*minute, ledger.NodeGone),
			ledger.ExactEnd(lastRun+minute, ledger.NodeGone),
		},
		{
			"long since deleted, and seen to hold after that", func(r *ledger.Record) { r.Deletion = noon + minute },
			ledger.ExactEnd(lastRun+3*minute, ledger.NodeGone),
			ledger.ExactEnd(lastRun, ledger.NodeGone),
		},
		{
			"its deletion was due before the next run", func(r *ledger.Record) { r.Deletion = lastRun + minute }, ledger.End{},
			ledger.End{Earliest: lastRun, At: lastRun + 90*second, Source: ledger.Estimated},
		},
		{
			"its deletion is not due yet", func(r *ledger.Record) { r.Deletion = now + hour }, ledger.End{},
			ledger.End{Earliest: lastRun, At: now, Source: ledger.Estimated},
		},
		{
			"seen to hold long after its deletion was due", func(r *ledger.Record) { r.Deletion = noon + minute }, ledger.End{},
			ledger.End{Earliest: lastRun, At: now, Source: ledger.Estimated},
		},
		{
			"the kill began before the last run", nil, ledger.ExactEnd(lastRun-second, ledger.Event),
			ledger.ExactEnd(lastRun, ledger.Event),
		},
		{
			"killed between the runs", nil, ledger.ExactEnd(lastRun+minute, ledger.Event),
			ledger.ExactEnd(lastRun+minute, ledger.Event),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := pod(1, noon)
			if test.change != nil {
				test.change(&r)
			}
			l := of(t, r, pod(2, noon), ended(pod(3, noon), noon+minute, ledger.ContainerFinished))
			closed := l.CloseVanished(func(uid string) bool { return uid == pod(2, noon).UID }, func(*ledger.Record) ledger.End { return test.evidence },
				lastRun, now)
			if len(closed) != 1 || closed[0].UID != r.UID {
				t.Fatalf("closed %v, want the first pod alone", closed)
			}
			if diff := cmp.Diff(test.want, closed[0].End); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
			if got, _ := l.Get(r.UID); got.End != closed[0].End {
				t.Errorf("the ledger has %v, the answer was %v", got.End, closed[0].End)
			}
			if left := l.Vanished(none); len(left) != 1 {
				t.Errorf("%d records are open, want that of the pod that is present", len(left))
			}
		})
	}
}

func TestPointAndBoundOfAnEstimatedEnd(t *testing.T) {
	t.Parallel()
	e := ledger.End{Earliest: noon, At: noon + 5*minute, Source: ledger.Estimated}
	for _, test := range []struct {
		policy       ledger.EndEstimate
		point, bound ledger.Time
	}{
		{ledger.EstimateEarliest, noon, 5 * minute},
		{ledger.EstimateMidpoint, noon + 150*second, 150 * second},
		{ledger.EstimateLatest, noon + 5*minute, 5 * minute},
	} {
		if p, b := e.Point(test.policy), e.Bound(test.policy); p != test.point || b != test.bound {
			t.Errorf("%s: %d within %d, want %d within %d", test.policy, p, b, test.point, test.bound)
		}
	}
	if e := ledger.ExactEnd(noon, ledger.ContainerFinished); e.Point(ledger.EstimateMidpoint) != noon || e.Bound(ledger.EstimateMidpoint) != 0 {
		t.Errorf("an exact end is %d within %d", e.Point(ledger.EstimateMidpoint), e.Bound(ledger.EstimateMidpoint))
	}
}

// TestBoundHoldsWhereverTheEndWas: no policy is further from the real end than its bound.
func TestBoundHoldsWhereverTheEndWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := ledger.End{Earliest: noon, At: noon + ledger.Time(rapid.Int64Range(0, int64(day)).Draw(t, "range")), Source: ledger.Estimated}
		truth := noon + ledger.Time(rapid.Int64Range(0, int64(e.At-noon)).Draw(t, "truth"))
		for _, p := range []ledger.EndEstimate{ledger.EstimateEarliest, ledger.EstimateMidpoint, ledger.EstimateLatest} {
			if off := max(e.Point(p)-truth, truth-e.Point(p)); off > e.Bound(p) {
				t.Fatalf("%s is %d ms off, and says %d", p, off, e.Bound(p))
			}
		}
	})
}

func TestEstimatedTwice(t *testing.T) {
	t.Parallel()
	estimated := func(from, to ledger.Time) ledger.Record {
		r := pod(1, noon)
		r.End = ledger.End{Earliest: noon + from, At: noon + to, Source: ledger.Estimated}
		return r
	}
	for _, test := range []struct {
		name       string
		a, b, want ledger.Record
	}{
		{"two runs after the same one", estimated(10*minute, 15*minute), estimated(10*minute, 16*minute), estimated(10*minute, 15*minute)},
		{"one inside the other", estimated(10*minute, 20*minute), estimated(12*minute, 15*minute), estimated(12*minute, 15*minute)},
		{"the second knew that it held longer", estimated(10*minute, 15*minute), estimated(15*minute, 20*minute), estimated(15*minute, 20*minute)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			same(t, "first then second", of(t, test.a, test.b), of(t, test.want))
			same(t, "second then first", of(t, test.b, test.a), of(t, test.want))
		})
	}
}

func TestSeenAgainAfterAnEstimatedEnd(t *testing.T) {
	t.Parallel()
	l := of(t, pod(1, noon))
	l.CloseVanished(none, nil, noon+10*minute, noon+15*minute)
	again := pod(1, noon)
	again.Seen = noon + 20*minute
	observe(t, l, again)
	if r, _ := l.Get(again.UID); !r.Open() {
		t.Fatalf("the pod that was seen again is closed: %v", r.End)
	}
	// The estimate comes back from a stale copy of the ledger.
	stale := of(t, pod(1, noon))
	stale.CloseVanished(none, nil, noon+10*minute, noon+15*minute)
	if err := l.Join(stale); err != nil {
		t.Fatal(err)
	}
	if r, _ := l.Get(again.UID); !r.Open() {
		t.Fatalf("an estimate from before closed it again: %v", r.End)
	}
	closed := l.CloseVanished(none, nil, noon+25*minute, noon+30*minute)
	if want := (ledger.End{Earliest: noon + 25*minute, At: noon + 30*minute, Source: ledger.Estimated}); len(closed) != 1 || closed[0].End != want {
		t.Fatalf("closed %v, want an end of %v", closed, want)
	}
}

func TestSeenWithinAnEstimatedRange(t *testing.T) {
	t.Parallel()
	l := of(t, pod(1, noon))
	l.CloseVanished(none, nil, noon+10*minute, noon+15*minute)
	seen := pod(1, noon)
	seen.Seen = noon + 12*minute // by a concurrent run
	observe(t, l, seen)
	r, _ := l.Get(seen.UID)
	if want := (ledger.End{Earliest: noon + 12*minute, At: noon + 15*minute, Source: ledger.Estimated}); r.End != want {
		t.Fatalf("the end is %v, want %v", r.End, want)
	}
}

func TestAnEndThatWasSeenIsNotUndone(t *testing.T) {
	t.Parallel()
	l := of(t, ended(pod(1, noon), noon+hour, ledger.ContainerFinished))
	again := pod(1, noon)
	again.Seen = noon + 2*hour
	observe(t, l, again)
	if r, _ := l.Get(again.UID); r.End != ledger.ExactEnd(noon+hour, ledger.ContainerFinished) {
		t.Fatalf("the end is %v", r.End)
	}
}

// TestSeenTerminalHasABound: an end that only the first run to observe it reports lies in the time
// since the run before. Later runs change nothing.
func TestSeenTerminalHasABound(t *testing.T) {
	t.Parallel()
	l := of(t, pod(1, noon))
	for _, now := range []ledger.Time{noon + 15*minute, noon + 20*minute} {
		l.Header.LastRun = now - 5*minute
		seen := ended(pod(1, noon), now, ledger.SeenTerminal)
		seen.Seen = now
		observe(t, l, seen)
		r, _ := l.Get(seen.UID)
		if want := (ledger.End{Earliest: noon + 10*minute, At: noon + 15*minute, Source: ledger.SeenTerminal}); r.End != want {
			t.Fatalf("the end is %v, want %v", r.End, want)
		}
	}
}

func TestABetterEndReplacesAnEstimate(t *testing.T) {
	t.Parallel()
	for _, source := range sources[:len(sources)-1] {
		l := of(t, pod(1, noon))
		l.CloseVanished(none, nil, noon+10*minute, noon+15*minute)
		better := ended(pod(1, noon), noon+12*minute, source)
		if err := l.Merge(better); err != nil {
			t.Fatal(err)
		}
		if r, _ := l.Get(better.UID); r.End.Source != source || r.End.Estimated() {
			t.Errorf("%s did not replace an estimate: %v", source, r.End)
		}
	}
}

func observe(t failer, l *ledger.Ledger, r ledger.Record) {
	t.Helper()
	if err := l.Observe(r); err != nil {
		t.Fatalf("observe: %v", err)
	}
}

// TestAnInferredEndTakesNothingBack: a pod that took hours to terminate held its GPUs for hours,
// whatever its deletion timestamp says.
func TestAnInferredEndTakesNothingBack(t *testing.T) {
	t.Parallel()
	for _, source := range []ledger.Source{ledger.DeletionTimestamp, ledger.DisruptionTarget, ledger.NotReady, ledger.StatusWritten} {
		l := of(t, pod(1, noon))
		l.Header.LastRun = noon + 3*hour
		due := ended(pod(1, noon), noon+minute, source)
		due.Seen = noon + 3*hour + minute
		want := ledger.End{Earliest: noon + 3*hour, At: noon + 3*hour + minute, Source: ledger.Estimated}
		for range 2 {
			observe(t, l, due)
			if got, _ := l.Get(uid(1)); got.End != want {
				t.Errorf("%s: the end is %+v, want %+v", source, got.End, want)
			}
			l.Header.LastRun, due.Seen = due.Seen, due.Seen+hour
		}
	}
}

// TestADeletionTimestampIsNoLastWord: a node that was silent for one run comes back with its pods.
func TestADeletionTimestampIsNoLastWord(t *testing.T) {
	t.Parallel()
	l := of(t, pod(1, noon))
	silent := ended(pod(1, noon), noon+2*minute, ledger.DeletionTimestamp)
	silent.Seen = noon + 3*minute
	l.Header.LastRun = noon + minute
	observe(t, l, silent)
	if got, _ := l.Get(uid(1)); got.End != ledger.ExactEnd(noon+2*minute, ledger.DeletionTimestamp) {
		t.Errorf("while the node is silent the end is %+v", got.End)
	}
	back := pod(1, noon)
	back.Seen = noon + 4*minute
	observe(t, l, back)
	if got, _ := l.Get(uid(1)); !got.Open() {
		t.Errorf("when it is back the end is %+v, want none", got.End)
	}
}

// TestNoNodesClockMovesAnEndPastALookThatSawIt: the observation goes by the API server's clock. Nor
// does it move an end before a run that still observed the pod.
func TestNoNodesClockMovesAnEndPastALookThatSawIt(t *testing.T) {
	t.Parallel()
	for _, source := range []ledger.Source{ledger.SeenTerminal, ledger.StatusWritten} {
		earliest := noon + 9*minute // the run before
		if source == ledger.StatusWritten {
			earliest = noon + 10*minute
		}
		for at, want := range map[ledger.Time]ledger.Time{noon + 15*minute: noon + 10*minute, noon + 8*minute: earliest} {
			l := of(t, pod(1, noon))
			l.Header.LastRun = noon + 9*minute
			seen := ended(pod(1, noon), noon+10*minute, source)
			seen.Seen = noon + 10*minute
			observe(t, l, seen)
			later := ended(pod(1, noon), at, ledger.ContainerFinished)
			later.Seen = noon + 20*minute
			observe(t, l, later)
			if got, _ := l.Get(uid(1)); got.End != ledger.ExactEnd(want, ledger.ContainerFinished) {
				t.Errorf("%s, and then finished at %d: the end is %+v", source, at-noon, got.End)
			}
			if source == ledger.SeenTerminal {
				continue
			}
			l = of(t, ended(pod(1, noon), noon+10*minute, source))
			later.End.Source = ledger.NotReady
			observe(t, l, later)
			if got, _ := l.Get(uid(1)); got.End.At > noon+10*minute {
				t.Errorf("%s, and then not ready at %d: the end is %+v", source, at-noon, got.End)
			}
		}
	}
}
