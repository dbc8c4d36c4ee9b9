package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// stored is a ledger of pods that each ended an hour after the one before, and
// of one that still holds, as its documents.
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
	if diff := cmp.Diff([]string{"closed-2026-11-20-10", "closed-2026-11-20-11", "closed-2026-11-20-12", "header", "recent"}, documents(d)); diff != "" {
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
	if diff := cmp.Diff([]string{"closed-2026-11-20", "header", "recent"}, documents(d)); diff != "" {
		t.Fatalf("documents two days later (-want +got):\n%s", diff)
	}
	same(t, "after that", d.load(t, noon), later)

	// A clock that was wrong, or a lost header, does not split days again.
	back := d.load(t, noon)
	back.Header.LastRun = noon
	observe(t, back, ended(pod(77, noon-hour), noon, ledger.ContainerFinished))
	d.save(t, back, allSteps)
	same(t, "with the clock set back", d.load(t, noon), back)
	if diff := cmp.Diff([]string{"closed-2026-11-20", "header", "recent"}, documents(d)); diff != "" {
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
	if diff := cmp.Diff([]string{"closed-2026-11-20-12", "header"}, names(changes)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"recent"}, changes.Delete); diff != "" {
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
	// A pod that ended long ago and is listed still is not taken up again.
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
	d.save(t, l, 3) // cut short while it deletes
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

// TestWhatIsRecentIsFolded: what is new of open records goes to one document, until
// there is much of it.
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
		same(t, "loaded", d.load(t, noon), l)
	}
	if _, there := d["recent"]; there || len(d) != 66 {
		t.Errorf("%v are left", documents(d))
	}
}

// TestRetentionOpensNothingAgain: a document of open records may still have one
// that is closed since. When retention drops the closed one, wherever that is cut
// short, it must not come back as one that holds until now.
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

// TestAnEndThatMovesIsNeverNowhere: a better end may lie in an hour of its own.
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

// TestALostEndIsKeptByWhatIsRecent: as long as a document has the record open, one
// more than the lost one has its end.
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
	delete(d, "closed-2026-11-20-12")
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

// TestLargeShardsAreSplit: no document is larger than a store takes, and growing
// beyond that loses nothing between any two writes.
func TestLargeShardsAreSplit(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2))
	big := func(n int) ledger.Record {
		labels := map[string]string{}
		for k := range 40 {
			labels[fmt.Sprintf("k%d", k)] = fmt.Sprintf("%016x%016x%016x", chance.Uint64(), chance.Uint64(), chance.Uint64())
		}
		r := ended(pod(n, noon), noon+hour, ledger.ContainerFinished)
		r.Set = &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(labels)}
		return r
	}
	d := disk{}
	l := ledger.New(cluster)
	l.Header.LastRun = noon + hour
	for n := range 800 {
		observe(t, l, big(n))
	}
	d.save(t, l, allSteps)
	if diff := cmp.Diff([]string{"closed-2026-11-20-13", "header"}, documents(d)); diff != "" {
		t.Fatalf("documents (-want +got):\n%s", diff)
	}
	grown := d.load(t, noon)
	for n := range 1200 {
		observe(t, grown, big(1000+n))
	}
	changes, err := grown.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"closed-2026-11-20-13_1of4", "closed-2026-11-20-13_2of4", "closed-2026-11-20-13_3of4", "closed-2026-11-20-13_4of4", "header"}, names(changes)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	for _, document := range changes.Write {
		if len(document.Data) > 900<<10 {
			t.Errorf("%s is %d bytes", document.Name, len(document.Data))
		}
	}
	for steps := range len(changes.Write) + len(changes.Delete) + 1 {
		cut := maps.Clone(d)
		cut.apply(changes, steps)
		if got := cut.load(t, noon).Len(); got < 800 {
			t.Errorf("%d records are left after %d steps", got, steps)
		}
	}
	d.apply(changes, allSteps)
	if got := d.load(t, noon).Len(); got != 2000 {
		t.Errorf("%d records, want 2000", got)
	}
}

// TestLabelsBeyondMeasureAreCut: a pod may have a megabyte of labels; it is
// counted all the same.
func TestLabelsBeyondMeasureAreCut(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"app": "a"}
	for n := range 20_000 {
		labels[fmt.Sprintf("x%05d", n)] = strings.Repeat("v", 60)
	}
	r := pod(1, noon)
	r.Set = &ledger.LabelSet{Namespace: "ml", Labels: ledger.LabelsOf(labels)}
	l := of(t, r)
	d := disk{}
	d.save(t, l, allSteps)
	loaded := d.load(t, noon)
	same(t, "loaded", loaded, l)
	if got, _ := loaded.Get(r.UID); got.Set.Labels.Get("app") != "a" || len(got.Set.Labels) > 1100 {
		t.Errorf("%d labels are kept", len(got.Set.Labels))
	}
}

func TestADamagedOrMissingShardIsSurvived(t *testing.T) {
	t.Parallel()
	const lost = "closed-2026-11-20-11"
	for name, harm := range map[string]func(disk){
		"missing":   func(d disk) { delete(d, lost) },
		"empty":     func(d disk) { d[lost] = nil },
		"cut short": func(d disk) { d[lost] = d[lost][:len(d[lost])-1] },
		"a bit is wrong": func(d disk) {
			d[lost] = bytes.Clone(d[lost])
			d[lost][len(d[lost])-5] ^= 4
		},
		"another's content": func(d disk) { d[lost] = d["closed-2026-11-20-10"] },
		"something else":    func(d disk) { d[lost] = []byte("{}") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, whole := stored(t, 3, noon)
			copied := d[lost]
			harm(d)
			l, problems, err := ledger.Load(cluster, d, noon+5*minute)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != 1 || problems[0].Document != lost {
				t.Fatalf("problems: %v", problems)
			}
			for _, want := range []string{lost, "the 1 intervals", "2026-11-20T11:00:00Z", "restore it from a copy"} {
				if text := problems[0].Error(); !strings.Contains(text, want) {
					t.Errorf("%q does not say %q", text, want)
				}
			}
			if l.Len() != 3 {
				t.Errorf("%d records are left, want 3", l.Len())
			}
			if got := l.Header.Coverage(noon-2*hour, noon); got != 500 {
				t.Errorf("coverage is %d thousandths", got)
			}
			d.save(t, l, allSteps)

			// It is said again, from the header, until a copy is put back.
			later, _, err := ledger.Load(cluster, d, noon+10*minute)
			if err != nil || len(later.Header.Lost) != 1 || later.Header.Lost[0].Document != lost {
				t.Fatalf("lost: %v %v", later.Header.Lost, err)
			}
			d.save(t, later, allSteps)
			d[lost] = copied
			restored := d.load(t, noon+15*minute)
			same(t, "restored", restored, whole)
			d.save(t, restored, allSteps)
			if again := d.load(t, noon+15*minute); len(again.Header.Lost) != 0 {
				t.Errorf("still lost: %v", again.Header.Lost)
			}
		})
	}
}

// TestADamagedHourOutlivesItsDay: when the hours of a day become one document, one
// that cannot be read is left, and a copy of it can still be put back.
func TestADamagedHourOutlivesItsDay(t *testing.T) {
	t.Parallel()
	const lost = "closed-2026-11-20-11"
	d, whole := stored(t, 3, noon)
	copied := d[lost]
	d[lost] = copied[:len(copied)-1]
	l, _, err := ledger.Load(cluster, d, noon+3*day)
	if err != nil {
		t.Fatal(err)
	}
	l.Header.LastRun = noon + 3*day
	d.save(t, l, allSteps)
	if diff := cmp.Diff([]string{"closed-2026-11-20", lost, "header", "recent"}, documents(d)); diff != "" {
		t.Fatalf("documents (-want +got):\n%s", diff)
	}
	d[lost] = copied
	restored := d.load(t, noon+3*day)
	if diff := cmp.Diff(records(whole), records(restored), alike); diff != "" || len(restored.Header.Lost) > 0 {
		t.Errorf("restored (-want +got):\n%s\nlost: %v", diff, restored.Header.Lost)
	}
	d.save(t, restored, allSteps)
	if diff := cmp.Diff([]string{"closed-2026-11-20", "header", "recent"}, documents(d)); diff != "" {
		t.Errorf("documents after that (-want +got):\n%s", diff)
	}
}

// TestALossIsNotForgottenWhenItsShardGoesOn holds wherever a run is cut short, and
// the copy can still be put back.
func TestALossIsNotForgottenWhenItsShardGoesOn(t *testing.T) {
	t.Parallel()
	const lost = "closed-2026-11-20-11"
	for steps := range 4 {
		d, whole := stored(t, 3, noon)
		copied := d[lost]
		delete(d, lost)
		l, _, err := ledger.Load(cluster, d, noon)
		if err != nil {
			t.Fatal(err)
		}
		later := []ledger.Record{ended(pod(50, noon-hour), noon-minute, ledger.ContainerFinished), ended(pod(51, noon-hour), noon-minute, ledger.ContainerFinished)}
		for _, r := range later {
			observe(t, l, r)
			observe(t, whole, r)
		}
		if all := d.save(t, l, steps); all != 3 {
			t.Fatalf("%d steps", all)
		}
		again, _, err := ledger.Load(cluster, d, noon)
		if err != nil || len(again.Header.Lost) != 1 {
			t.Errorf("cut short after %d steps: lost %v (%v)", steps, again.Header.Lost, err)
		}
		d.save(t, l, allSteps)
		d[lost] = copied
		same(t, "put back", d.load(t, noon), whole)
	}
}

func TestADamagedDocumentOfOpenRecords(t *testing.T) {
	t.Parallel()
	d, _ := stored(t, 3, noon)
	d["recent"] = []byte("gpupool-ledger 1")
	l, problems, err := ledger.Load(cluster, d, noon+10*minute)
	if err != nil || len(problems) != 1 {
		t.Fatalf("%v %v", problems, err)
	}
	if want := (ledger.Loss{Document: "recent", From: noon, To: noon + 10*minute, Intervals: 1, Reason: problems[0].Err.Error()}); *problems[0].Loss != want {
		t.Errorf("lost %+v, want %+v", *problems[0].Loss, want)
	}
	// It is there still: two documents, since none takes the name of what was lost.
	observe(t, l, pod(-1, noon-hour))
	observe(t, l, pod(-2, noon-hour))
	l.Header.LastRun = noon + 10*minute
	d.save(t, l, allSteps)
	again, problems, err := ledger.Load(cluster, d, noon+20*minute)
	if err != nil || len(problems) != 1 || again.Len() != 5 || len(again.Header.Lost) != 1 || again.Header.Lost[0].To != noon+10*minute {
		t.Fatalf("%d records, lost %+v, problems %v, %v", again.Len(), again.Header.Lost, problems, err)
	}
	// Once all of that is out of every window, it is removed.
	again.Prune(noon + 2*day)
	again.Header.LastRun = noon + 3*day
	d.save(t, again, allSteps)
	if last := d.load(t, noon+3*day); last.Len() != 2 || len(last.Header.Lost) > 0 {
		t.Errorf("%d records, lost %+v in %v", last.Len(), last.Header.Lost, documents(d))
	}
}

func TestAMissingHeader(t *testing.T) {
	t.Parallel()
	d, whole := stored(t, 3, noon)
	delete(d, "header")
	l, problems, err := ledger.Load(cluster, d, noon)
	if err != nil || len(problems) != 1 || problems[0].Document != "header" {
		t.Fatalf("%v %v", problems, err)
	}
	if diff := cmp.Diff(records(whole), records(l), alike); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if got := l.Header.Coverage(noon-hour, noon); got != 0 {
		t.Errorf("coverage is %d thousandths", got)
	}
}

func TestWhatStopsEverything(t *testing.T) {
	t.Parallel()
	d, _ := stored(t, 3, noon)
	header, shard := d["header"], d["recent"]
	newer := func(data []byte) []byte {
		return bytes.Replace(data, []byte("gpupool-ledger 1 "), []byte("gpupool-ledger 2 "), 1)
	}
	var tooNew *ledger.NewerError
	var damaged *ledger.DamagedError
	var other *ledger.ClusterError
	for name, test := range map[string]struct {
		cluster string
		change  func(disk)
		as      any
		says    string
	}{
		"a newer header":      {cluster, func(d disk) { d["header"] = newer(header) }, &tooNew, "header was written by a newer gpupool (version 2"},
		"a newer shard":       {cluster, func(d disk) { d["recent"] = newer(shard) }, &tooNew, "recent was written by a newer gpupool"},
		"a damaged header":    {cluster, func(d disk) { d["header"] = header[:len(header)-1] }, &damaged, "nothing was changed"},
		"an empty header":     {cluster, func(d disk) { d["header"] = nil }, &damaged, "it is empty"},
		"another cluster":     {"8d1f", func(disk) {}, &other, `not of "8d1f"; nothing was changed`},
		"a header of another": {cluster, func(d disk) { d["header"] = bytes.Replace(header, []byte(cluster), []byte("8d1f"), 1) }, &damaged, "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := maps.Clone(d)
			test.change(d)
			l, problems, err := ledger.Load(test.cluster, d, noon)
			if l != nil || problems != nil || !errors.As(err, test.as) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, %v, %v", l, problems, err)
			}
		})
	}
}

func TestWhatIsNoDocumentIsLeftAlone(t *testing.T) {
	t.Parallel()
	d, whole := stored(t, 3, noon)
	for _, name := range []string{"closed-2026-11-20-25", "open-40", "closed-2026-11-20_3of2", "open-0g", "notes"} {
		d[name] = []byte("kept by someone")
	}
	l, problems, err := ledger.Load(cluster, d, noon)
	if err != nil || len(problems) != 5 {
		t.Fatalf("%v %v", problems, err)
	}
	same(t, "beside it", l, whole)
	if n := d.save(t, l, allSteps); n != 0 {
		t.Errorf("%d documents change", n)
	}
}

func TestAnotherClustersLedgerIsNotJoined(t *testing.T) {
	t.Parallel()
	l := of(t, pod(1, noon))
	other := ledger.New("8d1f")
	if err := other.Merge(pod(2, noon)); err != nil {
		t.Fatal(err)
	}
	var wrong *ledger.ClusterError
	if err := l.Join(other); !errors.As(err, &wrong) || l.Len() != 1 {
		t.Errorf("joined: %v", err)
	}
}
