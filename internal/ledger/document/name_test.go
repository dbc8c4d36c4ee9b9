package document_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

func TestEachNameIsThatOfOnePart(t *testing.T) {
	t.Parallel()
	hour := document.BinAt(time.Date(2026, 11, 20, 5, 30, 0, 0, time.UTC).UnixMilli(), "")
	for name, want := range map[string]document.Part{
		"closed-2026-11-20-05.parquet":   {Shard: document.Shard{Kind: document.Hour, First: hour}, Number: 1, Parts: 1},
		"closed-2026-11-20.parquet":      {Shard: document.Shard{Kind: document.Day, First: hour.Day()}, Number: 1, Parts: 1},
		"closed-2026-11-20_2of4.parquet": {Shard: document.Shard{Kind: document.Day, First: hour.Day()}, Number: 2, Parts: 4},
		"open-3f.parquet":                {Shard: document.Shard{Kind: document.Open, First: -64}, Number: 1, Parts: 1},
		"recent.parquet":                 {Shard: document.Shard{Kind: document.Recent}, Number: 1, Parts: 1},
		"nodes":                          {Shard: document.Shard{Kind: document.Nodes}, Number: 1, Parts: 1},
		"bound_1of2":                     {Shard: document.Shard{Kind: document.Bindings}, Number: 1, Parts: 2},
	} {
		if got, known := document.ParsePart(name); !known || got != want || got.String() != name {
			t.Errorf("%s is read as %+v (%t), want %+v, which is %s", name, got, known, want, want)
		}
	}
	for _, name := range []string{
		"", "header", "closed-2026-11-20", "closed-2026-11-20-5.parquet", "closed-2026-13-20.parquet", "closed-1969-12-31.parquet", "open-40.parquet",
		"open-3F.parquet", "nodes.parquet", "recent_1of1.parquet", "recent_3of2.parquet", "recent_0of2.parquet", "recent_1of8192.parquet",
		"recent_1of2x.parquet", "recent_01of2.parquet",
	} {
		if got, known := document.ParsePart(name); known {
			t.Errorf("%q is read as %+v", name, got)
		}
	}
}

func TestEachRecordHasOneShardAndPart(t *testing.T) {
	t.Parallel()
	lastRun := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for age := range 96 { // hours
		at := lastRun.Add(-time.Duration(age) * time.Hour)
		bin := document.BinAt(at.UnixMilli(), []byte("pod"))
		s := document.ShardOf(bin, lastRun.UnixMilli())
		if from, to := s.Span(); !s.Closed() || !s.Holds(bin) || at.UnixMilli() < from || at.UnixMilli() >= to {
			t.Errorf("what ended at %s is in %s, of [%d, %d)", at, s, from, to)
		}
		if daily := age > 36; daily != (s.Kind == document.Day) { // today and yesterday are kept by the hour
			t.Errorf("what ended at %s is in %s", at, s)
		}
	}
	parts := map[int]int{}
	for n := range 1000 {
		uid := fmt.Sprint(n)
		bin := document.BinAt(0, uid)
		if s := document.ShardOf(bin, lastRun.UnixMilli()); !bin.Open() || s.Closed() || !s.Holds(bin) || bin != document.BinAt(0, []byte(uid)) {
			t.Fatalf("the open record %s is in %s", uid, s)
		}
		parts[document.PartOf(uid, 4)]++
	}
	if len(parts) != 4 || parts[1] < 200 || parts[2] < 200 || parts[3] < 200 || parts[4] < 200 {
		t.Errorf("records are divided unevenly: %v", parts)
	}
}
