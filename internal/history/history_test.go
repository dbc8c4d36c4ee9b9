package history_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// TestTheSameFactIsTheSameEvent for any actor and time; different facts are different events.
func TestTheSameFactIsTheSameEvent(t *testing.T) {
	t.Parallel()
	first, again := everyEvent(about("train", 0)), everyEvent(about("train", 0))
	later := about("train", 7)
	later.Actor, later.RunID, later.Reasons = "terraform", "run-0", nil
	other := everyEvent(about("infer", 0))
	kinds, ids := map[history.Kind]bool{}, map[string]history.Kind{}
	for n, e := range first {
		if kinds[e.Kind] = true; e.ID != again[n].ID || e.ID != everyEvent(later)[n].ID {
			t.Errorf("%s: told again it is another event", e.Kind)
		}
		for _, id := range []string{e.ID, other[n].ID} {
			if was, twice := ids[id]; twice {
				t.Errorf("%s and %s are one event", was, e.Kind)
			}
			ids[id] = e.Kind
		}
	}
	for _, k := range history.Kinds() {
		if !kinds[k] {
			t.Errorf("nothing makes an event of the kind %s", k)
		}
	}
	a := about("train", 0)
	different := []history.Event{
		a.Launched(ask(1)), a.Launched(ask(2)), a.Instances(history.Terminate, "a"), a.Instances(history.Terminate, "b"),
		a.Instances(history.Terminate, "a", "b"), a.Instances(history.Terminate, "ab"),
		a.Crossed(50, noon), a.Crossed(80, noon), a.Crossed(50, noon.Add(time.Minute)), about("train", 1).Failed(soldOut), a.Failed(soldOut),
		a.Failed(history.Error{Message: "x"}), a.Failed(history.Error{Message: "y"}), a.Updated(1), a.Updated(2),
		a.Priced(zone2, "SPOTPAID", "1", "CNY", noon), a.Priced(zone3, "SPOTPAID", "1", "CNY", noon), a.Priced(zone2, "SPOTPAID", "2", "CNY", noon),
	}
	if _, added := history.Merge(nil, different...); added != len(different) {
		t.Errorf("%d of %d events are told apart", added, len(different))
	}
	if _, added := history.Merge(nil, a.Instances(history.Terminate, "a", "b"), a.Instances(history.Terminate, "b", "a")); added != 1 {
		t.Error("the order of instances makes another event")
	}
}

// TestMergeIsASet: adding again adds nothing, and the order of adding does not matter.
func TestMergeIsASet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyEvents().Draw(t, "some"), anyEvents().Draw(t, "others")
		one, added := history.Merge(nil, a...)
		if added != len(one) {
			t.Fatalf("%d were added of %d", added, len(one))
		}
		both, _ := history.Merge(one, b...)
		turned, _ := history.Merge(nil, append(slices.Clone(b), a...)...)
		if diff := cmp.Diff(both, turned, cmpopts.IgnoreFields(history.Event{}, "RunID", "Offering")); diff != "" {
			t.Fatalf("the order matters: %s", diff)
		}
		if again, added := history.Merge(both, append(a, b...)...); added != 0 || len(again) != len(both) {
			t.Fatalf("%d were added again", added)
		}
		if !slices.IsSortedFunc(both, func(a, b history.Event) int { return a.At.Compare(b.At) }) {
			t.Fatal("not in the order of time")
		}
	})
}

func collapsed(events []history.Event) []history.Line {
	var c history.Collapse
	for n := range events {
		c.Observe(&events[n])
	}
	var lines []history.Line
	for _, e := range slices.Concat(events, []history.Event{about("train", 200).Failed(soldOut)}) {
		if l, is := c.Line(&e); is {
			lines = append(lines, l)
		}
	}
	return lines
}

// TestCollapseLosesNothing: each event is in one line, and no line goes over something
// else that happened to its object.
func TestCollapseLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events, _ := history.Merge(nil, anyEvents().Draw(t, "events")...)
		total := 0
		for _, line := range collapsed(events) {
			total += line.Times
			if line.Times > 1 && !line.Kind.Trouble() || line.First.After(line.At) {
				t.Fatalf("a line of %d: %+v", line.Times, line)
			}
			for _, e := range events {
				if e.Object == line.Object && !e.Kind.Trouble() && e.At.After(line.First) && e.At.Before(line.At) {
					t.Fatalf("%s was between %s and %s of one line", e.Kind, line.First, line.At)
				}
			}
		}
		if total != len(events) {
			t.Fatalf("%d of %d events are in lines", total, len(events))
		}
	})
}

func TestCollapse(t *testing.T) {
	t.Parallel()
	refused := func(minutes, sequence int, o history.Offering, request string) history.Event {
		a, why := ask(sequence), soldOut
		a.Offering, why.RequestID, why.Message = o, request, "sold out (RequestId "+request+")"
		return about("train", minutes).Refused(a, why)
	}
	events := []history.Event{
		refused(0, 1, zone2, "a"), refused(0, 2, zone3, "b"), refused(5, 3, zone2, "c"), refused(5, 4, zone3, "d"),
		about("infer", 6).Instance(history.Begin, instance), refused(10, 5, zone2, "e"), about("train", 11).Launched(ask(6)), refused(12, 7, zone2, "f"),
	}
	var got []string
	for _, l := range collapsed(events) {
		got = append(got, strings.Join([]string{
			string(l.Kind), l.Offering.AvailabilityZone, strings.Repeat("x", l.Times), l.First.Format("15:04"), l.At.Format("15:04"),
		}, " "))
	}
	want := []string{
		"refused ap-singapore-3 xx 12:00 12:05", "started ap-singapore-2 x 12:06 12:06", "refused ap-singapore-2 xxx 12:00 12:10",
		"launch ap-singapore-2 x 12:11 12:11", "refused ap-singapore-2 x 12:12 12:12",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	events := []history.Event{
		about("train", 0).Declaration(history.Create), about("team-a", 5).Instance(history.Begin, instance), about("team-b", 10).Failed(soldOut),
	}
	for name, tt := range map[string]struct {
		q    history.Query
		want string
	}{
		"all":          {history.Query{}, "create started failed"},
		"some objects": {history.Query{Of: func(object string) bool { return strings.Contains(object, "team") }}, "started failed"},
		"kinds":        {history.Query{Kinds: []history.Kind{history.Begin, history.Create}}, "create started"},
		"since is in":  {history.Query{Since: noon.Add(5 * time.Minute)}, "started failed"},
		"until is out": {history.Query{Until: noon.Add(10 * time.Minute)}, "create started"},
	} {
		if err := tt.q.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var kinds []string
		for _, e := range tt.q.Select(events) {
			kinds = append(kinds, string(e.Kind))
		}
		if got := strings.Join(kinds, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	for _, q := range []history.Query{{Kinds: []history.Kind{"lunch"}}, {Since: noon, Until: noon}} {
		if q.Validate() == nil {
			t.Errorf("%+v is a query", q)
		}
	}
}

// TestEventsOfManyDocumentsComeInOrder, and of none more are fetched than are due.
func TestEventsOfManyDocumentsComeInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var sources []history.Source
		var all []history.Event
		told := int64(0)
		for range rapid.IntRange(0, 6).Draw(t, "documents") {
			events, _ := history.Merge(nil, anyEvents().Draw(t, "events")...)
			from := noon.UnixMilli()
			if len(events) > 0 {
				from = events[0].At.UnixMilli()
			}
			all = append(all, events...)
			sources = append(sources, history.Source{From: from, Fetch: func() ([]history.Event, error) {
				if told > from {
					t.Fatalf("what begins at %d is fetched after %d was told", from, told)
				}
				return events, nil
			}})
		}
		var got []history.Event
		seen := history.EventSet{}
		if err := history.InOrder(sources, func(e *history.Event) error {
			told = e.At.UnixMilli()
			if !seen.Again(e) {
				got = append(got, *e)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(history.Once(all), got, cmpopts.IgnoreFields(history.Event{}, "RunID", "Offering"), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
	gone := errors.New("gone")
	broken := []history.Source{{Fetch: func() ([]history.Event, error) { return nil, gone }}}
	if err := history.InOrder(broken, nil); !errors.Is(err, gone) {
		t.Errorf("a document that can't be read: %v", err)
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	sizes := map[string]int64{
		"2026-11-20/head-1.parquet": 30, "2026-11-19/head-1.parquet": 20, "2026-11-19/00.parquet": 10, "2026-11-18/head-1.parquet": 30,
		"2026-10-16/head-1.parquet": 10, "2026-10-15/head-1.parquet": 10,
	}
	for name, tt := range map[string]struct {
		r    history.Retention
		want []history.Day
		text string
	}{
		"too old": {
			history.Retention{For: 35 * 24 * time.Hour, Bytes: 1000}, []history.Day{"2026-10-15"},
			"before 2026-10-16T00:00:00Z was dropped (1 KiB): it is older",
		},
		"too large": {
			history.Retention{For: 35 * 24 * time.Hour, Bytes: 70}, []history.Day{"2026-10-15", "2026-10-16", "2026-11-18"},
			"before 2026-11-19T00:00:00Z was dropped (1 KiB): there was more",
		},
		"only just": {history.Retention{For: 35 * 24 * time.Hour, Bytes: 110}, []history.Day{"2026-10-15", "2026-10-16"}[:1], "older"},
		"not today": {history.Retention{For: 0, Bytes: 1}, []history.Day{"2026-10-15", "2026-10-16", "2026-11-18", "2026-11-19"}, "before 2026-11-20T"},
		"nothing":   {history.Retention{For: 60 * 24 * time.Hour, Bytes: 1000}, nil, ""},
	} {
		days, dropped := tt.r.Expired(sizes, "2026-11-20")
		if diff := cmp.Diff(tt.want, days); diff != "" || !strings.Contains(dropped.Reason().String(), tt.text) {
			t.Errorf("%s: %q (-want +got)\n%s", name, dropped.Reason(), diff)
		}
	}
}
