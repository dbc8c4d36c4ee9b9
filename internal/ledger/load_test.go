package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

type disk map[string][]byte

// load reads a ledger that must be complete.
func (d disk) load(t failer, now ledger.Time) *ledger.Ledger {
	t.Helper()
	l, problems, err := ledger.Load(cluster, d, now)
	if err != nil || len(problems) > 0 {
		t.Fatalf("load: %v %v", err, problems)
	}
	return l
}

// save applies the first steps of the changes, and returns how many there were.
func (d disk) save(t failer, l *ledger.Ledger, steps int) int {
	t.Helper()
	changes, err := l.Changes()
	if err != nil {
		t.Fatalf("changes: %v", err)
	}
	return d.apply(changes, steps)
}

func (d disk) apply(changes ledger.Changes, steps int) int {
	for n, document := range changes.Write {
		if n < steps {
			d[document.Name] = document.Data
		}
	}
	for n, name := range changes.Delete {
		if len(changes.Write)+n < steps {
			delete(d, name)
		}
	}
	return len(changes.Write) + len(changes.Delete)
}

const allSteps = 1 << 30

func TestDocumentsSayWhatTheLedgerDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := of(t, rapid.SliceOfN(anyRecord(), 0, 12).Draw(t, "records")...)
		l.Header.Began, l.Header.LastRun, l.Header.ResourceVersion = noon-day, noon+6*hour, "12345"
		l.AddGap(ledger.Gap{From: noon, To: noon + minute, Reason: "the watch expired"})
		l.FoldAt(rapid.IntRange(0, 4).Draw(t, "recents"))
		d := disk{}
		d.save(t, l, allSteps)
		loaded := d.load(t, noon)
		same(t, "loaded", loaded, l)
		if n := d.save(t, loaded, allSteps); n != 0 {
			t.Fatalf("%d documents are written again though nothing changed", n)
		}
	})
}

// TestKilledBetweenWrites changes a stored ledger in several runs and interrupts one of them: once
// it is repeated, nothing is lost.
func TestKilledBetweenWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := disk{}
		want := ledger.New(cluster)
		now := noon + rapid.SampledFrom([]ledger.Time{0, 40 * hour, 80 * hour}).Draw(t, "later")
		for range 4 {
			seen := rapid.SliceOfN(anyRecord(), 0, 6).Draw(t, "seen")
			for attempt := range 2 {
				l, before := d.load(t, now), d.load(t, now)
				l.FoldAt(rapid.IntRange(0, 4).Draw(t, "recents"))
				for _, r := range seen {
					if err := l.Merge(r); err != nil {
						t.Fatalf("merge: %v", err)
					}
				}
				l.Header.Began, l.Header.LastRun = noon, now
				if attempt == 1 {
					d.save(t, l, allSteps)
					continue
				}
				d.save(t, l, rapid.IntRange(0, 8).Draw(t, "steps"))
				cut := d.load(t, now)
				if err := before.Join(cut); err != nil {
					t.Fatalf("join: %v", err)
				}
				if diff := cmp.Diff(records(before), records(cut), alike); diff != "" {
					t.Fatalf("cut short, something is lost (-before +after):\n%s", diff)
				}
			}
			for _, r := range seen {
				if err := want.Merge(r); err != nil {
					t.Fatalf("merge: %v", err)
				}
			}
			want.Header.Began, want.Header.LastRun = noon, now
			same(t, "after a kill", d.load(t, now), want)
			now += rapid.SampledFrom([]ledger.Time{minute, 10 * hour, 50 * hour}).Draw(t, "pause")
		}
		// Records that were written twice for safety are removed; then nothing changes.
		again := d.load(t, now)
		for range 2 {
			again.FoldAt(0)
			d.save(t, again, allSteps)
			again = d.load(t, now)
		}
		if n := d.save(t, again, allSteps); n != 0 {
			changes, _ := again.Changes()
			t.Fatalf("still %d steps: %v %v", n, names(changes), changes.Delete)
		}
		same(t, "cleaned up", again, want)
		copies := 0
		for name, data := range d {
			alone, _, err := ledger.Load(cluster, disk{name: data}, now)
			if err != nil {
				t.Fatalf("load %s: %v", name, err)
			}
			copies += alone.Len()
		}
		if copies != want.Len() {
			t.Fatalf("%d records are stored %d times", want.Len(), copies)
		}
	})
}

// TestSeveralDocumentsOfOnePod: two concurrent runs may each write a document that lacks what the
// other has. Both are kept until one document has all.
func TestSeveralDocumentsOfOnePod(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := disk{}
		want := ledger.New(cluster)
		for _, r := range rapid.SliceOfN(anyRecord(), 2, 5).Draw(t, "records") {
			r.UID = uid(1)
			beside := r // its document is not empty without it
			beside.UID = uid(int(1000 + (r.End.At-noon)/hour))
			alone, whole := disk{}, of(t, r, beside)
			whole.FoldAt(rapid.IntRange(0, 1).Draw(t, "recents"))
			alone.save(t, whole, allSteps)
			for name, data := range alone {
				if _, there := d[name]; !there {
					d[name] = data
				}
			}
		}
		delete(d, "header")
		for name, data := range d {
			alone, _, err := ledger.Load(cluster, disk{name: data}, noon)
			if err != nil {
				t.Fatalf("load %s: %v", name, err)
			}
			if err := want.Join(alone); err != nil {
				t.Fatalf("join: %v", err)
			}
		}
		for range 4 {
			l, _, err := ledger.Load(cluster, d, noon)
			if err != nil {
				t.Fatalf("load: %v", err)
			}
			if diff := cmp.Diff(records(want), records(l), alike); diff != "" {
				t.Fatalf("records (-want +got):\n%s", diff)
			}
			l.FoldAt(rapid.IntRange(0, 2).Draw(t, "recents"))
			d.save(t, l, rapid.IntRange(0, 8).Draw(t, "steps"))
		}
	})
}

func names(c ledger.Changes) []string {
	var names []string
	for _, d := range c.Write {
		names = append(names, d.Name)
	}
	return names
}

func TestSameContentIsSameBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := rapid.SliceOfN(anyRecord(), 1, 12).Draw(t, "records")
		a, b := disk{}, disk{}
		a.save(t, of(t, seen...), allSteps)
		b.save(t, of(t, rapid.Permutation(seen).Draw(t, "order")...), allSteps)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("documents differ by the order of merges (-first +second):\n%s", diff)
		}
	})
}
