package record_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func teamA(generation int64) budget.Declaration {
	return budget.Declaration{
		Name: "team-a", UID: "uid-a", Generation: generation, ClusterUID: "c", GPUHours: "10", Window: "24h",
		Selector: budget.Selector{Namespaces: []string{"ml"}},
	}
}

// fixture is the store of budgets, at noon.
func fixture() record.Repository {
	return record.Repository{
		Store: draft.Empty(store.Location{Path: "/srv/store"}), Actor: "reconcile", Clock: func() time.Time { return noon.Add(time.Millisecond) },
	}
}

func recorded(t *testing.T, k record.Repository, phase declaration.Phase, d budget.Declaration) record.Stored[budget.Declaration] {
	t.Helper()
	r, err := record.Budgets(k).Save(t.Context(), record.Stored[budget.Declaration]{}, phase, d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fails verifies an error by its parts.
func fails(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: the error is %v, want %q", what, err, part)
		}
	}
}

func TestSavedRecordIsFound(t *testing.T) {
	t.Parallel()
	k := fixture()
	l := record.Budgets(k)
	if r, err := l.Load(t.Context(), "team-a"); err != nil || r.Exists() {
		t.Errorf("before it is saved: %+v, %v", r, err)
	}
	saved := recorded(t, k, declaration.Active, teamA(1))
	want := declaration.Record[budget.Declaration]{Phase: declaration.Active, Declaration: teamA(1), UpdatedAt: noon, UpdatedBy: "reconcile"}
	found, err := l.Find(t.Context(), "team-a")
	if err != nil || found.Revision != saved.Revision || !saved.Exists() {
		t.Fatalf("%q is found, want %q: %v", found.Revision, saved.Revision, err)
	}
	if diff := cmp.Diff(want, found.Value); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := l.Save(t.Context(), record.Stored[budget.Declaration]{}, declaration.Active, teamA(2)); !errors.Is(err, store.ErrConflict) {
		t.Errorf("saved again as new: %v", err)
	}
	if err := l.Remove(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	_, err = l.Find(t.Context(), "team-a")
	fails(t, "removed", err, `has no budget "team-a", and no other: use the store that it was declared in`)
	if err := l.Remove(t.Context(), found); err != nil {
		t.Errorf("removed again: %v", err)
	}
}

// TestNamesAreFound lists what there is if there is nothing of a name.
func TestNamesAreFound(t *testing.T) {
	t.Parallel()
	k := fixture()
	for _, key := range []string{"ap-singapore/train", "ap-tokyo/train", "ap-tokyo/infer"} {
		region, name, _ := strings.Cut(key, "/")
		put(t, k.Store, store.SpotPools, key, declaration.SpotPool{Phase: declaration.Active, Declaration: spotpool.Declaration{
			Name: name, Region: region, UID: "uid-" + name, AccountID: "1",
		}})
	}
	l := record.SpotPools(k)
	for name, want := range map[string]string{"infer": "ap-tokyo/infer", "ap-singapore/train": "ap-singapore/train"} {
		if key, err := l.KeyOf(t.Context(), name); key != want || err != nil {
			t.Errorf("%s is %q: %v", name, key, err)
		}
	}
	_, err := l.KeyOf(t.Context(), "train")
	fails(t, "two of a name", err, "the name train of a pool is ambiguous: use ap-singapore/train or ap-tokyo/train")
	_, err = l.KeyOf(t.Context(), "ap-tokyo/inter")
	fails(t, "a typing error", err, `did you mean "ap-tokyo/infer"? It has ap-singapore/train, ap-tokyo/infer, ap-tokyo/train`)
	_, err = l.KeyOf(t.Context(), "nothing-alike")
	fails(t, "another name", err, `has no spot pool "nothing-alike"; it has ap-singapore/train,`)
	if strings.Contains(err.Error(), "did you mean") {
		t.Errorf("another name: %v", err)
	}
	_, err = k.NamedBudget(t.Context(), "team-a")
	var undeclared *record.UndeclaredError
	if !errors.As(err, &undeclared) || strings.Contains(err.Error(), "use the store") || undeclared.Advice() == "" {
		t.Errorf("a pool's budget without a record: %v", err)
	}
}

// TestUnreadableRecordFailsOnlyItself: also one that has another name than its document.
func TestUnreadableRecordFailsOnlyItself(t *testing.T) {
	t.Parallel()
	k := fixture()
	recorded(t, k, declaration.Active, teamA(1))
	damaged(t, k.Store, store.Budgets, "damaged")
	put(t, k.Store, store.Budgets, "renamed", declaration.Budget{Phase: declaration.Active, Declaration: teamA(1)})
	list, err := record.Budgets(k).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var readable, unreadable []string
	for _, r := range list {
		if r.Err == nil {
			readable = append(readable, r.Key+" "+r.Record.Declaration.UID)
		} else {
			unreadable = append(unreadable, r.Key)
		}
	}
	if !slices.Equal(readable, []string{"team-a uid-a"}) || !slices.Equal(unreadable, []string{"damaged", "renamed"}) {
		t.Errorf("%q are readable, and %q are not", readable, unreadable)
	}
	_, err = record.Budgets(k).Load(t.Context(), "renamed")
	fails(t, "a copied record", err, "budgets/renamed holds the declaration of team-a")
}

func TestChangeTakesTheNextGeneration(t *testing.T) {
	t.Parallel()
	k := fixture()
	l := record.Budgets(k)
	more := teamA(3)
	more.GPUHours = "20"
	foreign := teamA(3)
	foreign.UID = "uid-b"
	for name, tt := range map[string]struct {
		phase       declaration.Phase
		d           budget.Declaration
		differs     bool
		generation  int64
		error, also string
	}{
		"the same":      {phase: declaration.Active, d: teamA(3), generation: 3},
		"another limit": {phase: declaration.Active, d: more, differs: true, generation: 4},
		"an older plan": {phase: declaration.Active, d: teamA(2),
			error: "the declaration of the budget team-a changed after this plan (generation 3 instead of 2)"},
		"a newer plan": {phase: declaration.Active, d: teamA(4), error: "generation 3 instead of 4): plan again"},
		"another's name": {phase: declaration.Active, d: foreign,
			error: "another budget with the name team-a (uid uid-a, and this one is uid-b)", also: "Give this budget another name"},
		"it is being deleted": {phase: declaration.Deleting, d: more, error: "the deletion of the budget team-a was begun and not finished"},
	} {
		r := record.Stored[budget.Declaration]{Value: declaration.Record[budget.Declaration]{Phase: tt.phase, Declaration: teamA(3)}, Revision: "1"}
		changed, differs, err := l.Change(r, tt.d)
		if tt.error != "" {
			fails(t, name, err, tt.error, tt.also)
			if differs {
				t.Errorf("%s: it differs", name)
			}
			continue
		}
		if err != nil || differs != tt.differs || changed.Generation != tt.generation || changed.GPUHours != tt.d.GPUHours {
			t.Errorf("%s: %+v, %t: %v", name, changed, differs, err)
		}
	}
}

// TestDeletionByTheRecord deletes what the record says, by the state's uid and generation.
func TestDeletionByTheRecord(t *testing.T) {
	t.Parallel()
	k := fixture()
	l := record.Budgets(k)
	_, err := l.Deletable(t.Context(), teamA(1))
	var lost *record.LostError
	if !errors.As(err, &lost) || lost.UID != "uid-a" || lost.Key != "team-a" {
		t.Errorf("never recorded: %v", err)
	}
	r := recorded(t, k, declaration.Active, teamA(2))
	_, err = l.Deletable(t.Context(), teamA(1))
	fails(t, "an older state", err, "generation 2 instead of 1): plan again, with terraform apply -refresh-only first", "nothing was deleted")
	foreign := teamA(2)
	foreign.UID = "uid-b"
	_, err = l.Deletable(t.Context(), foreign)
	fails(t, "another's name", err, "another budget with the name team-a", "remove the budget from this state with terraform state rm")
	if same, err := l.Deletable(t.Context(), teamA(2)); err != nil || same.Revision != r.Revision {
		t.Errorf("deletable is %+v: %v", same, err)
	}
	begun, err := l.BeginDeletion(t.Context(), r)
	if err != nil || begun.Value.Phase != declaration.Deleting {
		t.Fatalf("%+v: %v", begun, err)
	}
	if again, err := l.BeginDeletion(t.Context(), begun); err != nil || again.Revision != begun.Revision {
		t.Errorf("begun again, it is written again: %v", err)
	}
	if resumed, err := l.Deletable(t.Context(), teamA(1)); err != nil || resumed.Revision != begun.Revision {
		t.Errorf("a begun deletion is resumed by any state: %+v, %v", resumed, err)
	}
	var outbox record.Outbox
	l.NoteDeletion(&outbox, begun, reason.DeletionComplete())
	if events := outbox.Take(); len(events) != 1 || events[0].Kind != history.Delete || events[0].ObjectUID != "uid-a" || !events[0].At.Equal(noon) {
		t.Errorf("the events are %+v", events)
	}
	if err := l.WriteTombstone(t.Context(), teamA(2), noon.Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := l.Remove(t.Context(), begun); err != nil {
		t.Fatal(err)
	}
	if gone, err := l.Deletable(t.Context(), teamA(2)); err != nil || gone.Exists() {
		t.Errorf("destroyed, it is %+v: %v", gone, err)
	}
	if d := record.NewDeletion(declaration.Active, noon, reason.DeletionKeeps()); d != nil {
		t.Errorf("active, its deletion is %s", d)
	}
	if d := record.NewDeletion(declaration.Deleting, noon, reason.DeletionKeeps()); d == nil ||
		!strings.Contains(d.String(), "the next run keeps") || !d.Since.Equal(noon) {
		t.Errorf("its deletion is %v", d)
	}
}

// TestTombstoneOutlivesTheRecord: it is written once, and refuses what was destroyed.
func TestTombstoneOutlivesTheRecord(t *testing.T) {
	t.Parallel()
	k := fixture()
	l := record.Budgets(k)
	if err := l.CheckNotDestroyed(t.Context(), teamA(1)); err != nil {
		t.Errorf("before: %v", err)
	}
	for _, at := range []time.Time{noon, noon.Add(time.Hour)} {
		if err := l.WriteTombstone(t.Context(), teamA(1), at); err != nil {
			t.Fatal(err)
		}
	}
	fails(t, "destroyed", l.CheckNotDestroyed(t.Context(), teamA(1)), "the budget team-a (uid uid-a) was destroyed at 2026-11-20T12:00:00Z")
	successor := teamA(1)
	successor.UID = "uid-b"
	if err := l.CheckNotDestroyed(t.Context(), successor); err != nil {
		t.Errorf("its successor: %v", err)
	}
	recorded(t, k, declaration.Active, successor)
	r, tombstone, err := l.Known(t.Context(), teamA(1))
	if err != nil || !tombstone.Exists() || r.Value.Declaration.UID != "uid-b" {
		t.Errorf("%+v and %+v are known: %v", r, tombstone, err)
	}
	r, tombstone, err = l.Known(t.Context(), successor)
	if err != nil || tombstone.Exists() || !r.Exists() {
		t.Errorf("%+v and %+v are known of its successor: %v", r, tombstone, err)
	}
	stranger := teamA(1)
	stranger.UID = "uid-c"
	_, _, err = l.Known(t.Context(), stranger)
	fails(t, "another's name", err, "another budget with the name team-a (uid uid-b, and this one is uid-c)")
	stranger.Name = "team-c"
	if r, tombstone, err := l.Known(t.Context(), stranger); r.Exists() || tombstone.Exists() || err != nil {
		t.Errorf("%+v and %+v are known of nothing: %v", r, tombstone, err)
	}
}

// TestStillIsTheSameInItsPhase returns nothing for another object, and in another phase.
func TestStillIsTheSameInItsPhase(t *testing.T) {
	t.Parallel()
	k := fixture()
	l := record.Budgets(k)
	r := recorded(t, k, declaration.Active, teamA(1))
	other := teamA(1)
	other.UID = "uid-b"
	absent := teamA(1)
	absent.Name = "team-c"
	for name, tt := range map[string]struct {
		d     budget.Declaration
		phase declaration.Phase
		still bool
	}{
		"the same": {teamA(1), declaration.Active, true}, "another phase": {teamA(1), declaration.Creating, false},
		"another object": {other, declaration.Active, false}, "none": {absent, "", false},
	} {
		still, err := l.Still(t.Context(), tt.d, tt.phase)
		if err != nil || (still != nil) != tt.still || still != nil && still.Revision != r.Revision {
			t.Errorf("%s: %+v, %v", name, still, err)
		}
	}
}

// TestTakenNameIsRefused says whether the record that has the name is being deleted.
func TestTakenNameIsRefused(t *testing.T) {
	t.Parallel()
	k := fixture()
	l := record.Budgets(k)
	fails(t, "active", l.ErrTaken(recorded(t, k, declaration.Active, teamA(1))), "the budget team-a exists already", "(active, uid uid-a)",
		"terraform import ADDRESS team-a")
	deleting := record.Stored[budget.Declaration]{Value: declaration.Record[budget.Declaration]{Phase: declaration.Deleting, Declaration: teamA(1)}}
	fails(t, "deleting", l.ErrTaken(deleting), "the budget team-a still exists", "whose deletion has begun. Apply again once it is gone")
}

// TestUnfinishedCreationIsForgotten after an hour, unless a process has its lock.
func TestUnfinishedCreationIsForgotten(t *testing.T) {
	t.Parallel()
	k := fixture()
	l := record.Budgets(k)
	for age, forgotten := range map[time.Duration]bool{0: false, time.Hour: false, time.Hour + time.Second: true} {
		e := l.UnfinishedCreation(t.Context(), teamA(1), "budget/team-a", noon.Add(-age))
		if e.Forgotten.IsZero() == forgotten {
			t.Errorf("after %s: %v", age, e)
		}
		if want := map[bool]string{true: "terraform import ADDRESS team-a",
			false: "the next terraform apply resumes it"}[forgotten]; !strings.Contains(e.Error(), want) {
			t.Errorf("after %s: %v, want %q", age, e, want)
		}
	}
	err := k.WithLock(t.Context(), "budget/team-a", 0, func(ctx context.Context) error {
		if e := l.UnfinishedCreation(ctx, teamA(1), "budget/team-a", noon.Add(-2*time.Hour)); !e.Forgotten.IsZero() {
			t.Errorf("in progress: %v", e)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestStoreFailuresAreReturned by each operation that reads.
func TestStoreFailuresAreReturned(t *testing.T) {
	t.Parallel()
	broken := errors.New("the store cannot be reached")
	k := fixture()
	recorded(t, k, declaration.Active, teamA(1))
	for _, method := range []string{"Read", "List"} {
		k := k
		k.Store = storetest.Wrap(k.Store, &storetest.Faults{Before: func(op storetest.Op) error {
			if op.Method == method {
				return broken
			}
			return nil
		}})
		l := record.Budgets(k)
		for name, do := range map[string]func() error{
			"Read load":      func() error { _, err := l.Load(t.Context(), "team-a"); return err },
			"Read known":     func() error { _, _, err := l.Known(t.Context(), teamA(1)); return err },
			"Read still":     func() error { _, err := l.Still(t.Context(), teamA(1), declaration.Active); return err },
			"Read deletable": func() error { _, err := l.Deletable(t.Context(), teamA(1)); return err },
			"Read tombstone": func() error { return l.WriteTombstone(t.Context(), teamA(1), noon) },
			"Read destroyed": func() error { return l.CheckNotDestroyed(t.Context(), teamA(1)) },
			"List list":      func() error { _, err := l.List(t.Context()); return err },
			"List key":       func() error { _, err := l.KeyOf(t.Context(), "team-a"); return err },
			"List statuses":  func() error { _, _, _, err := k.BudgetStatuses(t.Context()); return err },
			"List rooms":     func() error { _, err := k.Rooms(t.Context()); return err },
			"List orphans":   func() error { _, err := record.Orphans(t.Context(), k.Store, record.Recorded{}); return err },
			"List missing":   func() error { _, err := record.MissingJournals(t.Context(), k.Store); return err },
			"List grants":    func() error { _, err := record.Grants(k).All(t.Context()); return err },
		} {
			if err := do(); strings.HasPrefix(name, method) && !errors.Is(err, broken) {
				t.Errorf("%s returns %v", name, err)
			}
		}
	}
}
