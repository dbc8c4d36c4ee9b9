package record_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

func put[T declaration.Body](t *testing.T, s store.Store, kind store.Kind, name string, value T) {
	t.Helper()
	data, err := declaration.Encode(value)
	if err == nil {
		_, err = s.Write(t.Context(), store.Key{Kind: kind, Name: name}, data, "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// damaged writes something that is not a document.
func damaged(t *testing.T, s store.Store, kind store.Kind, name string) {
	t.Helper()
	if _, err := s.Write(t.Context(), store.Key{Kind: kind, Name: name}, []byte("{"), ""); err != nil {
		t.Fatal(err)
	}
}

// TestOrphansAreFoundByEachKindOfDocument: by what is left of an object, unless it is
// recorded or was destroyed.
func TestOrphansAreFoundByEachKindOfDocument(t *testing.T) {
	t.Parallel()
	const uid = "0123456789abcdef0123456789abcdef"
	journal := declaration.Journal{Fleet: fleet.Fleet{Known: []fleet.Known{
		{InstanceID: "ins-b"}, {InstanceID: "ins-a"}, {InstanceID: "ins-ended", Ended: true},
	}}}
	journal.LastSequence = 1
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		leave    func(t *testing.T, s store.Store)
		object   string
		says     string
		recordAs store.Key
	}{
		"a journal": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.Journals, "ap-singapore/train/"+uid, journal)
			},
			"spot_pool/ap-singapore/train", "its instances ins-a, ins-b, which carry the tag gpupool/uid=" + uid,
			store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"},
		},
		"a damaged journal": {
			func(t *testing.T, s store.Store) { damaged(t, s, store.Journals, "ap-singapore/train/"+uid) },
			"spot_pool/ap-singapore/train", "which carry the tag gpupool/uid=" + uid, store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"},
		},
		"a journal and a hold": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.Journals, "ap-singapore/train/"+uid, journal)
				put(t, s, store.Holds, uid, declaration.Holds{PoolUID: uid, Pool: "ap-singapore/train"})
			},
			"spot_pool/ap-singapore/train", "remove journals/ap-singapore/train/" + uid + ", holds/" + uid,
			store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"},
		},
		"a journal and a damaged hold": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.Journals, "ap-singapore/train/"+uid, journal)
				damaged(t, s, store.Holds, uid)
			},
			"spot_pool/ap-singapore/train", "remove journals/ap-singapore/train/" + uid + ", holds/" + uid,
			store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"},
		},
		"a hold": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.Holds, uid, declaration.Holds{PoolUID: uid, Pool: "ap-singapore/train"})
			},
			"spot_pool/ap-singapore/train", "Put spot_pools/ap-singapore/train back", store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"},
		},
		"a damaged hold": {
			func(t *testing.T, s store.Store) { damaged(t, s, store.Holds, uid) },
			"", "the record of an object (uid " + uid + ") is lost", store.Key{Kind: store.StockPools, Name: "ml/g1"},
		},
		"an empty journal": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.Journals, "ap-singapore/train/"+uid, declaration.Journal{})
			},
			"spot_pool/ap-singapore/train", "no run manages its instances, which carry the tag gpupool/uid=" + uid,
			store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"},
		},
		"a stock pool's journal": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.StockJournals, uid, declaration.StockJournal{PoolUID: uid, Object: "stock_pool/ml/g1"})
			},
			"stock_pool/ml/g1", "Put stock_pools/ml/g1 back", store.Key{Kind: store.StockPools, Name: "ml/g1"},
		},
		"pauses": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.Pauses, uid+"/1", declaration.Pauses{BudgetUID: uid, Budget: "team-a", ClusterUID: "c"})
			},
			"budget/team-a", "what it froze or paused stays so", store.Key{Kind: store.Budgets, Name: "team-a"},
		},
		"grants": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.Grants, uid, declaration.Grants{BudgetUID: uid, Budget: "team-a"})
			},
			"budget/team-a", "Put budgets/team-a back", store.Key{Kind: store.Budgets, Name: "team-a"},
		},
		"a status": {
			func(t *testing.T, s store.Store) {
				put(t, s, store.Statuses, "budgets/team-a", budget.Status{UID: uid, Name: "team-a", ClusterUID: "c"})
			},
			"budget/team-a", "no run judges it", store.Key{Kind: store.Budgets, Name: "team-a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func() store.Store {
				s, err := directory.Open(t.TempDir()+"/store", directory.Options{Create: true})
				if err != nil {
					t.Fatal(err)
				}
				test.leave(t, s)
				return s
			}
			orphans := func(s store.Store, recorded record.Recorded) []record.Orphan {
				list, err := record.Orphans(t.Context(), s, recorded)
				if err != nil {
					t.Fatal(err)
				}
				return list
			}
			s := open()
			list := orphans(s, record.Recorded{})
			if len(list) != 1 || list[0].Object != test.object || list[0].UID != uid || !strings.Contains(list[0].Reason().String(), test.says) {
				t.Fatalf("%v are found, want %s, of which it says %q", list, test.object, test.says)
			}
			if list := orphans(s, record.Recorded{UID: func(of string) bool { return of == uid }}); len(list) > 0 {
				t.Errorf("%v are found, though recorded", list)
			}
			put(t, s, store.Tombstones, uid, declaration.Tombstone{
				UID: uid, Object: cmp.Or(test.object, "spot_pool/ap-singapore/train"), AccountID: "1", ClusterUID: "c", DestroyedAt: now, ExpiresAt: now,
			})
			if list := orphans(s, record.Recorded{}); len(list) > 0 {
				t.Errorf("%v are found, though destroyed", list)
			}
			s = open()
			damaged(t, s, test.recordAs.Kind, test.recordAs.Name)
			if list := orphans(s, record.Recorded{}); len(list) > 0 {
				t.Errorf("%v are found, though their record can't be read", list)
			}
		})
	}
}

// TestStatusOfARecordedBudgetIsNotOrphaned: its name is enough to know its record. Of pauses it is not.
func TestStatusOfARecordedBudgetIsNotOrphaned(t *testing.T) {
	t.Parallel()
	k := fixture()
	put(t, k.Store, store.Statuses, record.BudgetStatusName("team-a"), budget.Status{UID: "uid-a", Name: "team-a", ClusterUID: "c"})
	put(t, k.Store, store.Pauses, "budgets/team-a", declaration.Pauses{BudgetUID: "budgets", Budget: "team-b", ClusterUID: "c"})
	for name, recorded := range map[string]record.Recorded{
		"budget/team-b": {Budget: func(name string) bool { return name == "team-a" }}, "budget/team-a budget/team-b": {},
	} {
		list, err := record.LostBudgets(t.Context(), k.Store, recorded)
		var found []string
		for _, o := range list {
			found = append(found, o.Object)
		}
		if got := strings.Join(found, " "); err != nil || got != name {
			t.Errorf("lost are %q, want %q: %v", got, name, err)
		}
	}
}

// TestNameExplainsOnlyAStatus: a budget with the same name rewrites it, but not the other documents of an earlier one.
func TestNameExplainsOnlyAStatus(t *testing.T) {
	t.Parallel()
	k := fixture()
	recorded(t, k, declaration.Active, teamA(1))
	put(t, k.Store, store.Statuses, record.BudgetStatusName("team-a"), budget.Status{UID: "uid-earlier", Name: "team-a", ClusterUID: "c"})
	put(t, k.Store, store.Pauses, "uid-lost/1", declaration.Pauses{BudgetUID: "uid-lost", Budget: "team-a", ClusterUID: "c"})
	put(t, k.Store, store.Tombstones, "uid-b", declaration.Tombstone{
		UID: "uid-b", Object: "budget/destroyed", ClusterUID: "c", DestroyedAt: noon, ExpiresAt: noon,
	})
	for _, name := range []string{"destroyed", "unknown"} {
		damaged(t, k.Store, store.Statuses, record.BudgetStatusName(name))
	}
	list, err := record.Orphans(t.Context(), k.Store, record.Recorded{})
	var found []string
	for _, o := range list {
		found = append(found, o.Object+" by "+o.DocumentNames())
	}
	if got := strings.Join(found, ", "); err != nil || got != "budget/team-a by pauses/uid-lost/1, budget/unknown by statuses/budgets/unknown" {
		t.Errorf("found are %q: %v", got, err)
	}
}
