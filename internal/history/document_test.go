package history_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestDocumentsSayWhatTheyWereTold: every field of every kind.
func TestDocumentsSayWhatTheyWereTold(t *testing.T) {
	t.Parallel()
	want, _ := history.Merge(nil, append(everyEvent(about("train", 0)), about("infer", 1).Evict(pod))...)
	c, d := codec(t), disk{}
	h := &history.Head{Day: history.DayOf(noon), Number: 1, Index: history.Index{Tidied: true, Elsewhere: 12, KeptSince: noon}}
	changes, err := c.Add(h, want)
	if err != nil || changes.Added != len(want) || len(changes.Segments) > 0 {
		t.Fatalf("%d added, %d segments: %v", changes.Added, len(changes.Segments), err)
	}
	d.write(changes)
	if diff := cmp.Diff(want, d.all(t, c, history.Query{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	read, err := c.Head(h.Name(), d[h.Name()], history.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, read); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	q := history.Query{Of: func(object string) bool { return object == "spot_pool/ap-singapore/infer" }, Since: noon}
	if diff := cmp.Diff(q.Select(want), d.all(t, c, q)); diff != "" {
		t.Errorf("what was asked for (-want +got)\n%s", diff)
	}
}

// TestDocumentsWithoutCurrenciesAreRead: such a document was written before the columns of currencies and details were added.
// It is read as it is, and added to. Its reasons are texts of another version.
func TestDocumentsWithoutCurrenciesAreRead(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/without_currency.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := history.Merge(nil, everyEvent(about("train", 0))...)
	for n := range want {
		want[n].Currency = ""
		for m, of := range want[n].Reasons {
			want[n].Reasons[m] = reason.OtherVersion(reason.NewForeign(of.String()))
		}
	}
	c, name := codec(t), history.DayOf(noon).HeadName(1)
	h, err := c.Head(name, data, history.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, h.Events); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	more := about("infer", 1).Instance(history.Begin, instance)
	changes, err := c.Add(h, []history.Event{more})
	if err != nil {
		t.Fatal(err)
	}
	if h, err = c.Head(name, changes.Head.Data, history.Query{}); err != nil {
		t.Fatal(err)
	}
	want, _ = history.Merge(want, more)
	if diff := cmp.Diff(want, h.Events); diff != "" {
		t.Errorf("with another event (-want +got)\n%s", diff)
	}
}

// TestAddingIsTheSameHowever: in whichever parts, again and again.
func TestAddingIsTheSameHowever(t *testing.T) {
	t.Parallel()
	c := codec(t)
	rapid.Check(t, func(t *rapid.T) {
		h := &history.Head{Day: history.DayOf(noon), Number: 1}
		var want []history.Event
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			batch := anyEvents().Draw(t, "batch")
			missing, errs := h.Missing(batch)
			if len(missing) == 0 {
				continue
			}
			changes, err := c.Add(h, missing)
			if err != nil || len(errs) > 0 {
				t.Fatal(err, errs)
			}
			if h, err = c.Head(h.Name(), changes.Head.Data, history.Query{}); err != nil {
				t.Fatal(err)
			}
			want, _ = history.Merge(want, batch...)
		}
		if len(h.Events) != len(want) {
			t.Fatalf("%d events are kept of %d", len(h.Events), len(want))
		}
	})
}

// flood are so many events of one day that compress as badly as those of a fleet.
func flood(count int) []history.Event {
	chance := rand.New(rand.NewPCG(1, 2))
	events := make([]history.Event, count)
	for n := range events {
		a := about(fmt.Sprintf("pool-%d", chance.IntN(1000)), 0)
		a.At, a.RunID = noon.Add(-12*time.Hour+time.Duration(n)*3600*time.Millisecond), fmt.Sprintf("%016x%016x", chance.Uint64(), n)
		events[n] = a.Instance(history.Begin, history.Instance{
			ID: fmt.Sprintf("ins-%08x", chance.Uint32()), Offering: zone2, ChargeType: "SPOTPAID", Price: "1.90",
		})
	}
	return events
}

// TestALongDayIsDivided: no document is long, and every event is in exactly one. The newest events
// are in the head, and a past day has few documents.
func TestALongDayIsDivided(t *testing.T) {
	t.Parallel()
	c, d := codec(t), disk{}
	h := &history.Head{Day: history.DayOf(noon), Number: 1}
	all := flood(12_000)
	for n := 0; n < len(all); n += 1000 {
		changes, err := c.Add(h, all[n:n+1000])
		if err != nil {
			t.Fatal(err)
		}
		d.write(changes)
	}
	if got := d.all(t, c, history.Query{}); len(got) != len(all) {
		t.Fatalf("%d events are kept of %d", len(got), len(all))
	}
	for name, data := range d {
		if len(data) > 128<<10 {
			t.Errorf("%s is %d bytes long", name, len(data))
		}
	}
	if newest := h.Events[len(h.Events)-1]; newest.ID != all[len(all)-1].ID {
		t.Error("the newest event is not in the head")
	}
	if near := h.Near(all[6_000:6_001]); len(near) < 1 || len(near) > len(h.Segments)/2 {
		t.Errorf("%d of %d segments may have an event", len(near), len(h.Segments))
	}
	before := len(d)
	trimmed, dropped := history.Retention{Bytes: 300 << 10}.Trim(&history.Head{Day: h.Day, Index: h.Index})
	if len(trimmed) == 0 || dropped.Documents != len(trimmed) || !dropped.TooLarge || dropped.Until.Before(noon.Add(-12*time.Hour)) {
		t.Errorf("%d segments were dropped: %+v", len(trimmed), dropped)
	}
	compact := disk{}
	changes, err := c.Compact(h, all)
	if err != nil {
		t.Fatal(err)
	}
	compact.write(changes)
	if got := compact.all(t, c, history.Query{}); len(got) != len(all) || len(compact) > before/3 {
		t.Errorf("%d events in %d documents, of %d", len(got), len(compact), before)
	}
	again, err := c.Compact(&history.Head{Day: h.Day, Number: 1}, all)
	if diff := cmp.Diff(changes, again); diff != "" || err != nil {
		t.Errorf("made again it differs: %v", err)
	}
}

// TestOneEventFitsWhateverItSays.
func TestOneEventFitsWhateverItSays(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(3, 4))
	long := func() string {
		var b strings.Builder
		for range 2000 {
			fmt.Fprintf(&b, "%08x", chance.Uint32())
		}
		return b.String()
	}
	a := about("train", 0)
	for range 1000 {
		a.Reasons = append(a.Reasons, reason.OtherVersion(reason.NewForeign(long()[:1000])))
	}
	h := &history.Head{Day: history.DayOf(noon), Number: 1}
	events, errs := h.Missing([]history.Event{a.Failed(history.Error{Message: long() + "\xff", Remedy: long()}), {ID: "x"}})
	if len(errs) != 1 || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), errs)
	}
	if _, err := codec(t).Add(h, events); err != nil {
		t.Error(err)
	}
}

// TestNoByteChangesUnseen: whichever byte of a document is another, or missing.
func TestNoByteChangesUnseen(t *testing.T) {
	t.Parallel()
	c := codec(t)
	h := &history.Head{Day: history.DayOf(noon), Number: 1}
	changes, err := c.Add(h, everyEvent(about("train", 0)))
	if err != nil {
		t.Fatal(err)
	}
	data := changes.Head.Data
	refused := func(data []byte) bool {
		_, err := c.Head(h.Name(), data, history.Query{})
		var damaged *history.DamagedError
		var newer *history.NewerError
		return errors.As(err, &damaged) || errors.As(err, &newer)
	}
	for n := range data {
		data[n] ^= 32
		if !refused(data) {
			t.Fatalf("it is taken with its byte %d changed", n)
		}
		data[n] ^= 32
		if !refused(data[:n]) || n > 0 && !refused(data[n:]) {
			t.Fatalf("it is taken without the bytes from or before %d", n)
		}
	}
	if refused(data) {
		t.Error("it is refused as it was written")
	}
	newer := []byte(strings.Replace(string(data), "gpupool-history 1 ", "gpupool-history 2 ", 1))
	var tooNew *history.NewerError
	if _, err := c.Head(h.Name(), newer, history.Query{}); !errors.As(err, &tooNew) || !strings.Contains(err.Error(), "Upgrade") {
		t.Errorf("a newer document: %v", err)
	}
}
