package record_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

func noPool(string) bool { return false }

// TestPoolStatusesAreWrittenWhereTheyChange: a run of many unchanged pools writes nothing, and
// a changed pool has only its own document written.
func TestPoolStatusesAreWrittenWhereTheyChange(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := draft.Empty(store.Location{})
	k := record.Repository{Store: s, Clock: func() time.Time { return now }}
	statuses := map[string]declaration.PoolStatus{}
	for n := range 100 {
		statuses[fmt.Sprintf("uid-%d", n)] = declaration.PoolStatus{Pool: fmt.Sprintf("ap-singapore/p%d", n), Observed: true, Capacity: 2}
	}
	save := func(gone func(string) bool) {
		t.Helper()
		if err := k.SavePoolStatuses(t.Context(), statuses, gone); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
	}
	revisions := func() map[string]store.Revision {
		t.Helper()
		docs, err := s.List(t.Context(), store.Statuses)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]store.Revision{}
		for _, doc := range docs {
			all[doc.Key.Name] = doc.Revision
		}
		return all
	}
	changed := func(before, after map[string]store.Revision) (n int) {
		for name := range after {
			if before[name] != after[name] {
				n++
			}
		}
		return n
	}
	save(noPool)
	first := revisions()
	if len(first) < 2 || len(first) > 16 {
		t.Errorf("100 pools are spread over %d documents", len(first))
	}
	save(noPool)
	if n := changed(first, revisions()); n != 0 {
		t.Errorf("%d documents are written where nothing changed", n)
	}
	statuses["uid-7"] = declaration.PoolStatus{Pool: "ap-singapore/p7", Observed: true, Capacity: 1, Shortfall: 1, Why: "sold out"}
	save(noPool)
	second := revisions()
	if n := changed(first, second); n != 1 {
		t.Errorf("%d documents are written for one pool", n)
	}
	delete(statuses, "uid-7")
	save(func(uid string) bool { return uid == "uid-7" })
	if n := changed(second, revisions()); n != 1 {
		t.Errorf("%d documents are written for a pool that is gone", n)
	}
	for _, doc := range []string{"uid-7", "uid-8"} {
		found := false
		for name := range second {
			shard, err := record.Load[declaration.PoolStatuses](t.Context(), s, store.Statuses, name)
			if err != nil {
				t.Fatal(err)
			}
			status, there := shard.Value.Pools[doc]
			if found = found || there; there && !status.Since.Equal(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)) {
				t.Errorf("%s has stood like this since the first run, and not since %s", doc, status.Since)
			}
		}
		if want := doc != "uid-7"; found != want {
			t.Errorf("%s: a status is there: %t", doc, found)
		}
	}
}

// TestRoomsSayWhyAsFarAsARunHasSeen: of a pool that was not observed since its declaration
// changed, it is unknown whether it grows. A damaged document does not hide the others.
func TestRoomsSayWhyAsFarAsARunHasSeen(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := draft.Empty(store.Location{})
	k := record.Repository{Store: s, Clock: func() time.Time { return now }}
	statuses := map[string]declaration.PoolStatus{}
	for name, status := range map[string]*declaration.PoolStatus{
		"seen": {Observed: true, Generation: 1, Why: "sold out"}, "growing": {Observed: true, Generation: 1, Grows: true, Why: "launching"},
		"unseen": {Generation: 1, Why: "no answer"}, "changed": {Observed: true, Generation: 2, Why: "as it was declared before"}, "new": nil,
	} {
		d := spotpool.Declaration{
			Name: name, Region: "ap-singapore", UID: "uid-" + name, AccountID: "1", ClusterUID: "c", Generation: 1,
			Nodes: &spotpool.Nodes{ExpectedLabels: map[string]string{"gpu": "t4"}}, Offerings: []spotpool.Offering{{InstanceType: "GN7.2XLARGE32"}},
		}
		put(t, s, store.SpotPools, d.Key(), declaration.SpotPool{Phase: declaration.Active, Declaration: d})
		if status != nil {
			status.Pool = d.Key()
			statuses[d.UID] = *status
		}
	}
	if rooms, err := k.Rooms(t.Context()); err != nil || len(rooms) != 5 {
		t.Errorf("before the first run, %d rooms, %v", len(rooms), err)
	}
	if err := k.SavePoolStatuses(t.Context(), statuses, noPool); err != nil {
		t.Fatal(err)
	}
	damaged(t, s, store.Statuses, "spot_pools/damaged")
	rooms, err := k.Rooms(t.Context())
	if err != nil || len(rooms) != 5 {
		t.Fatalf("%d rooms, %v", len(rooms), err)
	}
	why := map[string]string{"ap-singapore/seen": "sold out", "ap-singapore/growing": "launching"}
	for _, r := range rooms {
		if r.Why != why[r.Pool] || r.Grows != (r.Pool == "ap-singapore/growing") || r.ClusterUID != "c" || r.Labels["gpu"] != "t4" ||
			len(r.InstanceTypes) != 1 {
			t.Errorf("%+v", r)
		}
	}
	broken := errors.New("the store cannot be reached")
	k.Store = storetest.Wrap(s, &storetest.Faults{Before: func(op storetest.Op) error {
		if op.Key.Kind == store.Statuses {
			return broken
		}
		return nil
	}})
	if rooms, err := k.Rooms(t.Context()); !errors.Is(err, broken) {
		t.Errorf("without statuses, %d rooms, %v", len(rooms), err)
	}
}

// TestDamagedPoolStatusesAreReplaced: nothing depends on them.
func TestDamagedPoolStatusesAreReplaced(t *testing.T) {
	t.Parallel()
	s := draft.Empty(store.Location{})
	k := record.Repository{Store: s, Clock: func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }}
	statuses := map[string]declaration.PoolStatus{"uid": {Pool: "ap-singapore/train", Capacity: 1}}
	if err := k.SavePoolStatuses(t.Context(), statuses, noPool); err != nil {
		t.Fatal(err)
	}
	docs, err := s.List(t.Context(), store.Statuses)
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	if _, err := s.Write(t.Context(), docs[0].Key, []byte("{"), docs[0].Revision); err != nil {
		t.Fatal(err)
	}
	if err := k.SavePoolStatuses(t.Context(), statuses, noPool); err == nil {
		t.Error("the damage is not reported")
	}
	shard, err := record.Load[declaration.PoolStatuses](t.Context(), s, store.Statuses, docs[0].Key.Name)
	if err != nil || shard.Value.Pools["uid"].Capacity != 1 {
		t.Errorf("%+v, %v", shard.Value, err)
	}
}
