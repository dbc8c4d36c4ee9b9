package eventlog_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func inDirectory(t testing.TB) *directory.Store {
	t.Helper()
	s, err := directory.Open(filepath.Join(t.TempDir(), "store"), directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(s store.Store, now time.Time) *eventlog.Log {
	return &eventlog.Log{Store: s, Now: func() time.Time { return now }}
}

func began(when time.Time, number int) history.Event {
	sum := sha256.Sum256([]byte(strconv.Itoa(number)))
	a := history.About{
		At: when, Object: fmt.Sprintf("spot_pool/ap-singapore/pool-%d", number%7), ObjectUID: "u", RunID: hex.EncodeToString(sum[:16]), Actor: "reconcile",
	}
	return a.Instance(history.Begin, history.Instance{ID: "ins-" + hex.EncodeToString(sum[16:20]), Price: "1.90"})
}

func many(from time.Time, count int) []history.Event {
	events := make([]history.Event, count)
	for n := range events {
		events[n] = began(from.Add(time.Duration(n)*time.Second), int(from.Unix()/60)*10_000+n)
	}
	return events
}

func add(t testing.TB, m *eventlog.Log, events ...history.Event) eventlog.Added {
	t.Helper()
	added := m.Add(context.Background(), events...)
	if len(added.Warnings) > 0 {
		t.Fatalf("warnings: %q", added.Warnings)
	}
	return added
}

func ask(t testing.TB, m *eventlog.Log, q history.Query) eventlog.Answer {
	t.Helper()
	answer, err := m.Ask(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// expect asks for everything, in both ways.
func expect(t testing.TB, m *eventlog.Log, want ...[]history.Event) {
	t.Helper()
	all, _ := history.Merge(nil, slices.Concat(want...)...)
	for how, q := range map[string]history.Query{"listed": {}, "by days": {Since: noon.AddDate(0, 0, -40)}} {
		got := ask(t, m, q)
		if len(got.Lost) > 0 {
			t.Errorf("%s: lost %q", how, got.Lost)
		}
		if diff := cmp.Diff(all, got.Events); diff != "" && len(all) < 50 {
			t.Errorf("%s (-want +got)\n%s", how, diff)
		} else if diff != "" {
			t.Errorf("%s: %d events of %d, or others", how, len(got.Events), len(all))
		}
	}
}

func names(t testing.TB, s store.Store) []string {
	t.Helper()
	docs, err := s.List(context.Background(), store.History)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range docs {
		names = append(names, d.Key.Name)
	}
	return names
}

// TestToldAgainAddsNothing: the same run again, an hour later, past midnight, and from a
// day that is over.
func TestToldAgainAddsNothing(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 11, 20, 23, 59, 50, 0, time.UTC)
	for name, s := range map[string]store.Store{"directory": inDirectory(t)} {
		first := append(many(late, 5), many(noon, 5)...)
		if got := add(t, at(s, late), first...); got.Events != 10 {
			t.Errorf("%s: %d events were added", name, got.Events)
		}
		faulty := storetest.Wrap(s, &storetest.Faults{})
		again := many(late, 5)
		for n := range again {
			again[n].At = again[n].At.Add(time.Minute) // as another run tells it
		}
		if got := add(t, at(faulty, late.Add(time.Hour)), append(again, first...)...); got.Events != 0 {
			t.Errorf("%s: %d events were added again", name, got.Events)
		}
		for _, op := range faulty.Ops() {
			if op.Method != "Read" {
				t.Errorf("%s: told again, it does %s %s", name, op.Method, op.Key)
			}
		}
		expect(t, at(s, late.Add(time.Hour)), first)
	}
}

// TestClocksThatAreAhead: a question since a moment includes events whose clock is days ahead.
func TestClocksThatAreAhead(t *testing.T) {
	t.Parallel()
	s, ahead := inDirectory(t), many(noon.AddDate(0, 0, 40), 1)
	add(t, at(s, noon), ahead...)
	answer, err := at(s, noon).Ask(context.Background(), history.Query{Since: noon.Add(-time.Hour)})
	if err != nil || len(answer.Events) != 1 {
		t.Errorf("%d events, %v", len(answer.Events), err)
	}
}

// TestAddingCostsOneDocument: and where there is nothing to tell, none.
func TestAddingCostsOneDocument(t *testing.T) {
	t.Parallel()
	s := inDirectory(t)
	add(t, at(s, noon), many(noon, 50)...)
	faulty := storetest.Wrap(s, &storetest.Faults{})
	m := at(faulty, noon.Add(time.Minute))
	add(t, m)
	if ops := faulty.Ops(); len(ops) > 0 {
		t.Errorf("to add nothing it does %v", ops)
	}
	add(t, m, many(noon.Add(time.Minute), 3)...)
	var methods []string
	for _, op := range faulty.Ops() {
		methods = append(methods, op.Method+" "+op.Key.Name)
	}
	if diff := cmp.Diff([]string{"Read 2026-11-20/head-1.parquet", "Write 2026-11-20/head-1.parquet"}, methods); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestWritersMeet: nothing of any is lost, and nothing is there twice.
func TestWritersMeet(t *testing.T) {
	t.Parallel()
	s := inDirectory(t)
	var all [][]history.Event
	var group sync.WaitGroup
	for w := range 4 {
		events := many(noon.Add(time.Duration(w)*7*time.Minute), 2000)
		all = append(all, events)
		group.Go(func() {
			for n := 0; n < len(events); n += 500 {
				if got := at(s, noon.Add(time.Hour)).Add(context.Background(), events[n:n+500]...); len(got.Warnings) > 0 {
					t.Errorf("warnings: %q", got.Warnings)
				}
			}
		})
	}
	group.Wait()
	expect(t, at(s, noon.Add(time.Hour)), all...)
}

// TestADayThatIsOverBecomesCompact, and old events are dropped, whichever process is killed at
// whichever step.
func TestADayThatIsOverBecomesCompact(t *testing.T) {
	t.Parallel()
	yesterday, old := many(noon.AddDate(0, 0, -1), 9000), many(noon.AddDate(0, 0, -36), 20)
	first := inDirectory(t)
	add(t, at(first, noon.AddDate(0, 0, -36)), old...)
	for n := 0; n < len(yesterday); n += 1500 {
		add(t, at(first, noon.AddDate(0, 0, -1)), yesterday[n:n+1500]...)
	}
	fill := func() store.Store {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(first.Location().Path)); err != nil {
			t.Fatal(err)
		}
		s, err := directory.Open(dir, directory.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	today := many(noon, 3)
	s := fill()
	if got := len(names(t, s)); got < 5 {
		t.Fatalf("only %d documents", got)
	}
	added := add(t, at(s, noon), today...)
	want := []string{"2026-11-19/head-1.parquet", "2026-11-20/head-1.parquet"}
	if diff := cmp.Diff(want, names(t, s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text := added.Dropped.Reason().String(); !strings.Contains(text, "the history before 2026-10-16T00:00:00Z was dropped") {
		t.Errorf("dropped: %q", text)
	}
	expect(t, at(s, noon), yesterday, today)
	if got := ask(t, at(s, noon), history.Query{Since: noon.AddDate(0, 0, -1)}); !got.KeptSince.Equal(time.Date(2026, 10, 16, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("kept since %s", got.KeptSince)
	}
	for step := 1; ; step++ {
		s := fill()
		faulty := storetest.Wrap(s, &storetest.Faults{Before: storetest.At(step, storetest.ErrKilled)})
		done := at(faulty, noon).Add(context.Background(), today...)
		if got := ask(t, at(s, noon), history.Query{Since: noon.AddDate(0, 0, -2)}); len(got.Lost) > 0 || len(got.Events) < len(yesterday) {
			t.Fatalf("killed at step %d: %d events, lost %q", step, len(got.Events), got.Lost)
		}
		add(t, at(s, noon), today...)
		expect(t, at(s, noon), yesterday, today)
		if diff := cmp.Diff(want, names(t, s)); diff != "" {
			t.Errorf("killed at step %d (-want +got)\n%s", step, diff)
		}
		if len(done.Warnings) == 0 {
			if step < 6 {
				t.Errorf("there were only %d steps", step)
			}
			break
		}
	}
}

// TestMoreThanIsKeptGoes, the oldest first: days, and then what is oldest of today.
func TestMoreThanIsKeptGoes(t *testing.T) {
	t.Parallel()
	s := inDirectory(t)
	keep := history.Retention{For: 35 * 24 * time.Hour, Bytes: 300 << 10}
	for days := -3; days <= 0; days++ {
		for n := range 4 {
			m := at(s, noon.AddDate(0, 0, days))
			m.Keep = keep
			if got := m.Add(context.Background(), many(noon.AddDate(0, 0, days).Add(time.Duration(n)*30*time.Minute), 3000)...); len(got.Warnings) > 0 {
				t.Fatal(got.Warnings)
			}
		}
	}
	size := 0
	docs, err := s.List(t.Context(), store.History)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		size += len(d.Data)
	}
	if limit := int(keep.Bytes) + 128<<10; size > limit || size < limit/3 {
		t.Errorf("%d bytes are kept", size)
	}
	got := ask(t, at(s, noon), history.Query{})
	if len(got.Lost) > 0 || got.KeptSince.IsZero() || !got.Events[0].At.After(got.KeptSince.Add(-time.Second)) ||
		got.Events[0].At.Before(noon.AddDate(0, 0, -1)) {
		t.Errorf("kept since %s, first at %s, lost %q", got.KeptSince, got.Events[0].At, got.Lost)
	}
}

// TestLateWriterLosesNoEvents: the head grows, and is divided by the next.
func TestLateWriterLosesNoEvents(t *testing.T) {
	t.Parallel()
	s := inDirectory(t)
	add(t, at(s, noon), many(noon, 10)...)
	lock, err := s.Lock(t.Context(), "history", 0)
	if err != nil {
		t.Fatal(err)
	}
	events := many(noon, 6000)
	add(t, at(s, noon), events[:5990]...)
	if got := names(t, s); len(got) != 1 {
		t.Errorf("without the lock there are %q", got)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	add(t, at(s, noon), events...)
	if got := names(t, s); len(got) < 2 {
		t.Errorf("afterwards there are %q", got)
	}
	expect(t, at(s, noon), events)
}

// TestOnlyDamagedDocumentsAreLost.
func TestOnlyDamagedDocumentsAreLost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(name string) bool
		data   []byte
		lost   []string
		left   int // at least
	}{
		"a segment": {
			func(name string) bool { return !strings.Contains(name, "head") }, []byte("PAR1"),
			[]string{"history of 2026-11-20 from 12:00 to 12:", "Restore it from a copy"}, 2000,
		},
		"the head": {
			func(name string) bool { return strings.Contains(name, "20/head") }, []byte("{}"),
			[]string{"history of 2026-11-20 is lost: the history's document 2026-11-20/head-1.parquet is damaged"}, 3000,
		},
		"of a newer one": {
			func(name string) bool { return strings.Contains(name, "20/head") }, []byte("gpupool-history 2 2026-11-20/head-1.parquet events 00"),
			[]string{"Upgrade gpupool"}, 3000,
		},
		"a segment is gone": {
			func(name string) bool { return !strings.Contains(name, "head") }, nil, []string{"history of 2026-11-20 from 12:00 to 12:", "it is missing"}, 2000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inDirectory(t)
			before := many(noon.AddDate(0, 0, -1), 10)
			add(t, at(s, noon.AddDate(0, 0, -1)), before...)
			for n := range 4 {
				add(t, at(s, noon), many(noon.Add(time.Duration(n)*30*time.Minute), 1600)...)
			}
			harmed := names(t, s)[slices.IndexFunc(names(t, s), tt.damage)]
			key := store.Key{Kind: store.History, Name: harmed}
			doc, err := s.Read(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if tt.data == nil {
				err = s.Delete(t.Context(), key, doc.Revision)
			} else {
				_, err = s.Write(t.Context(), key, tt.data, doc.Revision)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range []history.Query{{}, {Since: noon.AddDate(0, 0, -2)}} {
				got := ask(t, at(s, noon), q)
				text := strings.Join(got.Lost.Texts(), "\n")
				for _, want := range tt.lost {
					if !strings.Contains(text, want) {
						t.Errorf("%q does not say %q", text, want)
					}
				}
				if len(got.Events) < tt.left || len(got.Events) == 6410 {
					t.Errorf("%d events are left", len(got.Events))
				}
			}
			// Later events go into other documents, and a copy that is restored undoes the
			// loss.
			later := many(noon.Add(3*time.Hour), 5)
			if got := at(s, noon.Add(3*time.Hour)).Add(context.Background(), later...); got.Events != 5 {
				t.Errorf("%d events were added: %q", got.Events, got.Warnings)
			}
			if got := ask(t, at(s, noon), history.Query{Since: noon.Add(3 * time.Hour)}); len(got.Events) != 5 {
				t.Errorf("%d of them are told", len(got.Events))
			}
			at(s, noon.AddDate(0, 0, 1)).Add(context.Background(), began(noon.AddDate(0, 0, 1), 1))
			there, err := s.Read(t.Context(), key)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
			if _, err := s.Write(t.Context(), key, doc.Data, there.Revision); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(harmed, "head") || tt.data != nil {
				if got := ask(t, at(s, noon.AddDate(0, 0, 1)), history.Query{}); len(got.Lost) > 0 || len(got.Events) < 6410 {
					t.Errorf("after the copy %d events, lost %q", len(got.Events), got.Lost)
				}
			}
			at(s, noon.AddDate(0, 0, 2)).Add(context.Background(), began(noon.AddDate(0, 0, 2), 1))
			if got := names(t, s); len(got) > 5 {
				t.Errorf("the day stays as it is: %v", got)
			}
		})
	}
}

// TestCompactedDaysAreReadAgain, and no event is reported twice: the day is
// compacted while it is read.
func TestCompactedDaysAreReadAgain(t *testing.T) {
	t.Parallel()
	s := inDirectory(t)
	events := many(noon, 9000)
	for n := 0; n < len(events); n += 1500 {
		add(t, at(s, noon), events[n:n+1500]...)
	}
	if got := len(names(t, s)); got < 3 {
		t.Fatalf("only %d documents", got)
	}
	later, segments := began(noon.AddDate(0, 0, 1), 1), 0
	faulty := storetest.Wrap(s, &storetest.Faults{Before: func(op storetest.Op) error {
		if op.Method == "Read" && strings.HasPrefix(op.Key.Name, "2026-11-20") && !strings.Contains(op.Key.Name, "head") {
			if segments++; segments == 2 {
				at(s, later.At).Add(context.Background(), later)
			}
		}
		return nil
	}})
	got := ask(t, at(faulty, noon), history.Query{Since: noon.AddDate(0, 0, -1), Until: later.At})
	if len(got.Lost) > 0 || !cmp.Equal(got.Events, events) {
		t.Errorf("%d events of %d, lost %q", len(got.Events), len(events), got.Lost)
	}
	if got := len(names(t, s)); got != 2 {
		t.Errorf("there are %d documents", got)
	}
}

// TestYieldErrorEndsTheWalk.
func TestYieldErrorEndsTheWalk(t *testing.T) {
	t.Parallel()
	s := inDirectory(t)
	add(t, at(s, noon), many(noon, 20)...)
	enough, told := errors.New("enough"), 0
	_, err := at(s, noon).Walk(context.Background(), history.Query{}, func(*history.Event) error {
		if told++; told == 7 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || told != 7 {
		t.Errorf("%d were told: %v", told, err)
	}
}

// TestHistoryErrorsDoNotStopARun: whatever the store answers is a warning.
func TestHistoryErrorsDoNotStopARun(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	for _, method := range []string{"Read", "List", "Write", "Lock", "Release"} {
		s := storetest.Wrap(inDirectory(t), &storetest.Faults{Before: func(op storetest.Op) error {
			if op.Method == method {
				return broken
			}
			return nil
		}})
		got := at(s, noon).Add(context.Background(), began(noon, 1))
		said := strings.Contains(strings.Join(got.Warnings.Texts(), " "), "disk full")
		if method == "Read" && got.Events == 1 && !said { // what can't be read alone is found in a list
			continue
		}
		if !said {
			t.Errorf("%s fails: %+v", method, got)
		}
	}
	got := at(inDirectory(t), noon).Add(context.Background(), history.Event{At: noon, Object: "run"}, began(noon, 1))
	if got.Events != 1 || len(got.Warnings) != 1 {
		t.Errorf("an event that can't be: %+v", got)
	}
	if _, err := os.Stat("store"); err == nil {
		t.Error("something was written here")
	}
}
