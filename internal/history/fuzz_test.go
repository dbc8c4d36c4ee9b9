package history

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// FuzzEvents reads any bytes as a document, behind its seal, so that no checksum is in
// the way. What it takes for events can be written and read again, and says the same.
func FuzzEvents(f *testing.F) {
	a := About{
		At: time.UnixMilli(1_795_000_000_000), Object: "budget/team-a", ObjectUID: "u",
		Reasons: reason.Reasons{reason.OtherVersion("one"), reason.OtherVersion("two")},
	}
	for _, events := range [][]Event{
		nil, {a.Declaration(Create)},
		{a.Instances(Terminate, "a", "b"), a.Evict(Identity{"ml", "train", "p"}), a.Failed(Error{Code: "x"}), a.Exception(Grant, "g", a.At)},
	} {
		data, err := encode(events, "")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := NewCodec()
		if err != nil {
			t.Fatal(err)
		}
		read := func(data []byte) ([]Event, error) {
			if err := c.reader.Read(data); err != nil {
				return nil, err
			}
			return c.reader.events(Query{})
		}
		events, err := read(data)
		if err != nil {
			return
		}
		written, err := encode(events, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := read(written)
		if err != nil || len(again) != len(events) {
			t.Fatalf("%d events of %d could be read again: %v", len(again), len(events), err)
		}
		for n := range again {
			if again[n].ID != events[n].ID || !again[n].At.Equal(events[n].At) || again[n].Count != events[n].Count {
				t.Fatalf("read again it differs: %+v, %+v", again[n], events[n])
			}
		}
	})
}

// FuzzHead reads any bytes as a head.
func FuzzHead(f *testing.F) {
	c, err := NewCodec()
	if err != nil {
		f.Fatal(err)
	}
	h := &Head{Day: "2026-11-20", Number: 1, Index: Index{Segments: []Segment{{Name: "2026-11-20/00.parquet", From: 1, To: 2}}}}
	changes, err := c.Add(h, []Event{About{At: time.UnixMilli(1_795_000_000_000), Object: Run, RunID: "r"}.RunFailed(Error{})})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(changes.Head.Name, changes.Head.Data)
	f.Add("2026-11-20/head-1.parquet", []byte("gpupool-history 9 2026-11-20/head-1.parquet events 00"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		c, err := NewCodec()
		if err != nil {
			t.Fatal(err)
		}
		if h, err := c.Head(name, data, Query{}); err == nil {
			if h.Name() != name {
				t.Fatalf("%q is read as %q", name, h.Name())
			}
			if _, err := c.Add(h, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}
