package ledger_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// stored is a ledger, with its documents, of pods that ended one hour apart, and of one that is
// still open.
func stored(t failer, pods int, now ledger.Time) (disk, *ledger.Ledger) {
	t.Helper()
	l := ledger.New(cluster)
	for n := range pods {
		end := now - ledger.Time(n)*hour
		observe(t, l, ended(pod(n, end-hour), end, ledger.ContainerFinished))
	}
	observe(t, l, pod(-1, now-hour))
	l.Header.Began, l.Header.LastRun = now-90*day, now
	d := disk{}
	d.save(t, l, allSteps)
	return d, l
}

func documents(d disk) []string { return slices.Sorted(maps.Keys(d)) }

func TestOldDaysAreOneDocument(t *testing.T) {
	t.Parallel()
	d, _ := stored(t, 3, noon)
	if diff := cmp.Diff([]string{"closed-2026-11-20-10.parquet", "closed-2026-11-20-11.parquet", "closed-2026-11-20-12.parquet", "header", "recent.parquet"},
		documents(d)); diff != "" {
		t.Fatalf("documents (-want +got):\n%s", diff)
	}
	tomorrow := d.load(t, noon+day)
	tomorrow.Header.LastRun = noon + day
	d.save(t, tomorrow, allSteps)
	if len(d) != 5 {
		t.Fatalf("yesterday's hours are %v", documents(d))
	}
	later := d.load(t, noon+2*day)
	later.Header.LastRun = noon + 2*day
	d.save(t, later, allSteps)
	if diff := cmp.Diff([]string{"closed-2026-11-20.parquet", "header", "recent.parquet"}, documents(d)); diff != "" {
		t.Fatalf("documents two days later (-want +got):\n%s", diff)
	}
	same(t, "after that", d.load(t, noon), later)

	// A wrong clock, or a lost header, does not split days again.
	back := d.load(t, noon)
	back.Header.LastRun = noon
	observe(t, back, ended(pod(77, noon-hour), noon, ledger.ContainerFinished))
	d.save(t, back, allSteps)
	same(t, "with the clock set back", d.load(t, noon), back)
	if diff := cmp.Diff([]string{"closed-2026-11-20.parquet", "header", "recent.parquet"}, documents(d)); diff != "" {
		t.Fatalf("documents with the clock set back (-want +got):\n%s", diff)
	}
}

func TestARunRewritesLittle(t *testing.T) {
	t.Parallel()
	d, _ := stored(t, 300, noon)
	l := d.load(t, noon)
	l.Header.LastRun = noon + 5*minute
	observe(t, l, ended(pod(-1, noon-hour), noon+minute, ledger.ContainerFinished))
	changes, err := l.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"closed-2026-11-20-12.parquet", "header"}, names(changes)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"recent.parquet"}, changes.Delete); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

func TestRetentionDropsWholeDays(t *testing.T) {
	t.Parallel()
	d, _ := stored(t, 24*10, noon)
	l := d.load(t, noon)
	l.Prune(noon - 4*day)
	if got, want := l.Len(), 4*24+13+1; got != want {
		t.Errorf("%d records are left, want %d", got, want)
	}
	for r := range l.All() {
		if !r.Open() && r.End.At < noon-4*day-12*hour {
			t.Errorf("a record that ended at %d is left", r.End.At)
		}
	}
	// A pod that ended long ago and is still listed is ignored.
	observe(t, l, ended(pod(9*24, noon-9*day-hour), noon-9*day, ledger.ContainerFinished))
	changes, err := l.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"header"}, names(changes)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	if len(changes.Delete) != 6 {
		t.Errorf("deleted %v", changes.Delete)
	}
	d.save(t, l, 3) // interrupted while it deletes
	again := d.load(t, noon)
	same(t, "cut short", again, l)
	d.save(t, again, allSteps)
	if n := d.save(t, d.load(t, noon), allSteps); n != 0 {
		t.Errorf("%d documents still change", n)
	}
	if got := again.Header.Coverage(noon-6*day, noon); got != 750 {
		t.Errorf("what was dropped counts as observed: %d thousandths", got)
	}
}

// TestWhatIsRecentIsFolded: new open records go to one document until it is large.
func TestWhatIsRecentIsFolded(t *testing.T) {
	t.Parallel()
	d := disk{}
	l := ledger.New(cluster)
	l.Header.LastRun = noon
	for n := range 3000 {
		observe(t, l, pod(n, noon-hour))
	}
	d.save(t, l, allSteps)
	if len(d) != 65 {
		t.Fatalf("%d documents, want 64 of open records and the header", len(d))
	}
	for run := range 3 {
		l = d.load(t, noon)
		for n := range 700 {
			observe(t, l, ended(pod(1000*run+n, noon-hour), noon, ledger.ContainerFinished))
		}
		changes, err := l.Changes()
		if err != nil {
			t.Fatal(err)
		}
		switch folded := len(changes.Write) > 60; {
		case run < 2 && len(changes.Write) != 3:
			t.Errorf("run %d writes %v", run, names(changes))
		case run == 2 && !folded:
			t.Errorf("run %d writes %v", run, names(changes))
		}
		d.apply(changes, allSteps)
		loaded := d.load(t, noon)
		if open := len(loaded.Vanished(none)); loaded.Len() != 3000 || open != 3000-700*(run+1) {
			t.Errorf("run %d leaves %d records, %d of them open", run, loaded.Len(), open)
		}
	}
	if _, there := d["recent.parquet"]; there || len(d) != 66 {
		t.Errorf("%v are left", documents(d))
	}
}

// TestRetentionOpensNothingAgain: a document of open records may still list one that is closed by
// now. If retention drops the closed record, it must not come back as open, wherever the run is
// interrupted.
func TestRetentionOpensNothingAgain(t *testing.T) {
	t.Parallel()
	for _, later := range []ledger.Time{2 * hour, 30 * hour, 10 * day} {
		for steps := range 10 {
			d := disk{}
			l := of(t, pod(1, noon-hour), pod(123, noon-hour), pod(2, noon-hour))
			l.Header.LastRun = noon
			l.FoldAt(0)
			d.save(t, l, allSteps)

			l = d.load(t, noon)
			observe(t, l, ended(pod(1, noon-hour), noon, ledger.ContainerFinished))
			l.Header.LastRun = noon + minute
			d.save(t, l, allSteps)

			for _, most := range []int{steps, allSteps, allSteps} {
				l = d.load(t, noon+later)
				l.Header.LastRun = noon + later
				l.Prune(noon + later - hour)
				d.save(t, l, most)
				after := d.load(t, noon+later)
				if r, known := after.Get(uid(1)); known && r.Open() {
					t.Fatalf("%d hours later, after %d steps, it is open again", later/hour, steps)
				}
				if r, known := after.Get(uid(123)); !known || !r.Open() {
					t.Fatalf("%d hours later, after %d steps, another pod is lost", later/hour, steps)
				}
			}
		}
	}
}

// TestAnEndThatMovesIsNeverNowhere: a better end may lie in another hour.
func TestAnEndThatMovesIsNeverNowhere(t *testing.T) {
	t.Parallel()
	for _, moved := range []ledger.Time{-2 * hour, 2 * hour} {
		d := disk{}
		l := ledger.New(cluster)
		l.Header.LastRun = noon
		estimated := pod(1, noon-4*hour)
		estimated.End = ledger.End{Earliest: noon - minute, At: noon, Source: ledger.Estimated}
		for _, at := range []ledger.Time{-2 * hour, 0, 2 * hour} { // so that no document is empty
			observe(t, l, ended(pod(int(100+at/hour), noon-4*hour), noon+at, ledger.ContainerFinished))
		}
		observe(t, l, estimated)
		d.save(t, l, allSteps)

		l = d.load(t, noon)
		better := estimated
		better.Start.At -= minute
		observe(t, l, better)
		better.End = ledger.ExactEnd(noon+moved, ledger.InstanceEnded)
		observe(t, l, better)
		observe(t, l, ended(pod(50, noon-4*hour), noon, ledger.ContainerFinished))
		changes, err := l.Changes()
		if err != nil {
			t.Fatal(err)
		}
		for steps := range len(changes.Write) + 1 {
			cut := maps.Clone(d)
			cut.apply(changes, steps)
			if _, known := cut.load(t, noon).Get(estimated.UID); !known {
				t.Errorf("moved by %d hours, it is nowhere after %d steps", moved/hour, steps)
			}
		}
		d.apply(changes, allSteps)
		same(t, "moved", d.load(t, noon), l)
		d.save(t, d.load(t, noon), allSteps)
		copies := 0
		for name, data := range d {
			if alone, _, err := ledger.Load(cluster, disk{name: data}, noon); err == nil {
				copies += alone.Len()
			}
		}
		if copies != l.Len() {
			t.Errorf("moved by %d hours: %d records are stored %d times", moved/hour, l.Len(), copies)
		}
	}
}

// TestALostEndIsKeptByWhatIsRecent: while a document lists the record as open, the recent document
// also has its end.
func TestALostEndIsKeptByWhatIsRecent(t *testing.T) {
	t.Parallel()
	d := disk{}
	l := of(t, pod(1, noon-hour))
	l.Header.LastRun = noon
	l.FoldAt(0)
	d.save(t, l, allSteps)
	l = d.load(t, noon)
	observe(t, l, ended(pod(1, noon-hour), noon, ledger.ContainerFinished))
	d.save(t, l, allSteps)
	delete(d, "closed-2026-11-20-12.parquet")
	for _, most := range []int{2048, 0, 0} {
		again, _, err := ledger.Load(cluster, d, noon)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(records(l), records(again), alike); diff != "" {
			t.Fatalf("records (-want +got):\n%s", diff)
		}
		again.FoldAt(most)
		d.save(t, again, allSteps)
	}
}
