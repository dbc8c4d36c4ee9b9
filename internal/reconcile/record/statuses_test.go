package record_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

func statusOf(d budget.Declaration, consumed int64, grants ...budget.Grant) budget.Status {
	return budget.Status{UID: d.UID, Name: d.Name, ClusterUID: "c", RunID: "run-1", At: noon, Usage: budget.Usage{Consumed: consumed,
		Limit: budget.Hour}, Grants: grants}
}

func measuredAs(d budget.Declaration, run string, consumed int64) declaration.BudgetUsage {
	return declaration.BudgetUsage{Budgets: map[string]budget.Measurement{d.UID: {Of: run, At: noon, Usage: budget.Usage{Consumed: consumed}}}}
}

func grant(id string) budget.Grant {
	return budget.Grant{Exception: exception.Exception{ID: id, From: noon, Until: noon.Add(time.Hour), Who: "alice", Why: "a deadline"}, GPUHours: "0.001"}
}

// reads counts the reads of documents of a kind.
func reads(k record.Repository, kind store.Kind) (record.Repository, func() int) {
	faulty := storetest.Wrap(k.Store, &storetest.Faults{})
	k.Store = faulty
	return k, func() (n int) {
		for _, op := range faulty.Ops() {
			if op.Method == "Read" && op.Key.Kind == kind {
				n++
			}
		}
		return n
	}
}

// TestStatusHasTheLastMeasurement of its own run. The status of an earlier budget is unknown.
func TestStatusHasTheLastMeasurement(t *testing.T) {
	t.Parallel()
	k := fixture()
	expect := func(when string, d budget.Declaration, known bool, consumed int64) {
		t.Helper()
		status, is, err := k.BudgetStatus(t.Context(), d)
		if err != nil || is != known || known && status.Value.Usage.Consumed != consumed {
			t.Errorf("%s: known %t with %d, want %t with %d: %v", when, is, status.Value.Usage.Consumed, known, consumed, err)
		}
	}
	expect("before a run", teamA(1), false, 0)
	put(t, k.Store, store.Statuses, record.BudgetStatusName("team-a"), statusOf(teamA(1), 7))
	expect("judged", teamA(1), true, 7)
	successor := teamA(1)
	successor.UID = "uid-b"
	expect("its successor", successor, false, 0)
	if err := k.SaveBudgetUsage(t.Context(), record.Document[declaration.BudgetUsage]{}, measuredAs(teamA(1), "run-1", 9)); err != nil {
		t.Fatal(err)
	}
	expect("measured again", teamA(1), true, 9)
	put(t, k.Store, store.Statuses, record.BudgetStatusName("team-b"), statusOf(budget.Declaration{Name: "team-b", UID: "uid-b"}, 3))
	damaged(t, k.Store, store.Statuses, record.BudgetStatusName("broken"))
	statuses, usage, lost, err := k.BudgetStatuses(t.Context())
	if err != nil || lost != nil || !usage.Exists() || len(statuses) != 3 {
		t.Fatalf("%d statuses: %v, %v", len(statuses), lost, err)
	}
	if a, b := statuses["team-a"].Value.Usage.Consumed, statuses["team-b"].Value.Usage.Consumed; a != 9 || b != 3 || statuses["broken"].Err == nil {
		t.Errorf("%d and %d are consumed, and the third: %v", a, b, statuses["broken"].Err)
	}
}

// TestMeasurementsAreReadOnce by readers within a second. A write replaces what they have.
func TestMeasurementsAreReadOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, readMeasurements)
}

func readMeasurements(t *testing.T) {
	k := fixture()
	put(t, k.Store, store.Statuses, record.BudgetStatusName("team-a"), statusOf(teamA(1), 7))
	for n, reader := range []*record.UsageReader{nil, {}} {
		k, count := reads(k, store.Statuses)
		k.Usage = reader
		for _, wait := range []time.Duration{0, 999 * time.Millisecond, time.Millisecond} {
			time.Sleep(wait)
			if _, _, err := k.BudgetStatus(t.Context(), teamA(1)); err != nil {
				t.Fatal(err)
			}
		}
		if want := []int{3 + 3, 3 + 2}[n]; count() != want {
			t.Errorf("reader %d: %d reads, want %d", n, count(), want)
		}
	}
	k.Usage = &record.UsageReader{}
	if _, _, err := k.BudgetStatus(t.Context(), teamA(1)); err != nil {
		t.Fatal(err)
	}
	if err := k.SaveBudgetUsage(t.Context(), record.Document[declaration.BudgetUsage]{}, measuredAs(teamA(1), "run-1", 9)); err != nil {
		t.Fatal(err)
	}
	if status, _, err := k.BudgetStatus(t.Context(), teamA(1)); err != nil || status.Value.Usage.Consumed != 9 {
		t.Errorf("after a write, %d are consumed: %v", status.Value.Usage.Consumed, err)
	}
	if _, usage, _, err := k.BudgetStatuses(t.Context()); err != nil || usage.Value.Budgets["uid-a"].Usage.Consumed != 9 {
		t.Errorf("after a write, the list has %+v: %v", usage, err)
	}
	_, usage, _, _ := k.BudgetStatuses(t.Context())
	other := record.Repository{Store: k.Store}
	if err := other.SaveBudgetUsage(t.Context(), usage, measuredAs(teamA(1), "run-1", 11)); err != nil {
		t.Fatal(err)
	}
	if _, usage, _, err := k.BudgetStatuses(t.Context()); err != nil || usage.Value.Budgets["uid-a"].Usage.Consumed != 11 {
		t.Errorf("after another process wrote, the list has %+v: %v", usage, err)
	}
}

// TestLimitWithoutTheGrantsThatEnded reads grants only for a status that counts some.
func TestLimitWithoutTheGrantsThatEnded(t *testing.T) {
	t.Parallel()
	k := fixture()
	d := teamA(1)
	put(t, k.Store, store.Grants, d.UID, declaration.Grants{BudgetUID: d.UID, Budget: d.Name, Grants: budget.Grants{List: []budget.Grant{grant("g-1")}}})
	for n, tt := range []struct {
		grants []budget.Grant
		limit  int64
		reads  int
	}{
		{nil, budget.Hour, 0}, {[]budget.Grant{grant("g-1")}, budget.Hour, 1}, {[]budget.Grant{grant("g-1"), grant("g-2")}, budget.Hour - budget.Hour/1000, 1},
	} {
		k, count := reads(k, store.Grants)
		name := record.BudgetStatusName(d.Name)
		old, err := record.Load[declaration.BudgetStatus](t.Context(), k.Store, store.Statuses, name)
		if err == nil {
			_, err = record.Save(t.Context(), k.Store, store.Statuses, name, old, statusOf(d, 7, tt.grants...))
		}
		if err != nil {
			t.Fatal(err)
		}
		status, known, err := k.LimitedStatus(t.Context(), d, noon)
		if err != nil || !known || status.Usage.Limit != tt.limit || count() != tt.reads {
			t.Errorf("%d: known %t, with a limit of %d, by %d reads of grants: %v", n, known, status.Usage.Limit, count(), err)
		}
	}
}

// TestExceptionsAreOfTheirObject: a document of another, or a damaged one, fails with a remedy.
func TestExceptionsAreOfTheirObject(t *testing.T) {
	t.Parallel()
	k := fixture()
	grants := record.Grants(k)
	put(t, k.Store, store.Grants, "uid-a", declaration.Grants{BudgetUID: "uid-a", Budget: "team-a"})
	put(t, k.Store, store.Grants, "uid-b", declaration.Grants{BudgetUID: "uid-a", Budget: "team-a"})
	put(t, k.Store, store.Holds, "uid-p", declaration.Holds{PoolUID: "uid-p", Pool: "ap-singapore/train"})
	put(t, k.Store, store.Holds, "uid-q", declaration.Holds{PoolUID: "uid-p", Pool: "ap-singapore/train"})
	damaged(t, k.Store, store.Grants, "uid-c")
	if none, err := grants.Of(t.Context(), ""); err != nil || none.BudgetUID != "" {
		t.Errorf("without a uid: %+v, %v", none, err)
	}
	if none, err := grants.Of(t.Context(), "uid-x"); err != nil || none.BudgetUID != "" {
		t.Errorf("without grants: %+v, %v", none, err)
	}
	if own, err := grants.Of(t.Context(), "uid-a"); err != nil || own.Budget != "team-a" {
		t.Errorf("its own: %+v, %v", own, err)
	}
	if own, err := record.Holds(k).Of(t.Context(), "uid-p"); err != nil || own.PoolUID != "uid-p" {
		t.Errorf("its own: %+v, %v", own, err)
	}
	const remedy = "nothing was changed. Restore it from a copy, or move it away and set its grants or holds again"
	_, err := grants.Of(t.Context(), "uid-b")
	fails(t, "another's grants", err, `is damaged (it is of "uid-a")`, remedy)
	_, err = record.Holds(k).Of(t.Context(), "uid-q")
	fails(t, "another's holds", err, `it is of "uid-p"`, remedy)
	all, err := grants.All(t.Context())
	if err != nil || len(all) != 3 || all["uid-a"].Err != nil || all["uid-a"].Value.Budget != "team-a" {
		t.Errorf("all are %+v: %v", all, err)
	}
	fails(t, "listed, another's", all["uid-b"].Err, remedy)
	fails(t, "listed, a damaged one", all["uid-c"].Err, remedy)
}

// TestExceptionsChangeByCompareAndSwap: a change is repeated after a conflict, and an equal one is not written.
func TestExceptionsChangeByCompareAndSwap(t *testing.T) {
	t.Parallel()
	k := fixture()
	conflicts, writes := 0, 0
	grants := record.Grants(record.Repository{Store: storetest.Wrap(k.Store, &storetest.Faults{Before: func(op storetest.Op) error {
		if op.Method != "Write" {
			return nil
		}
		if writes++; writes <= conflicts {
			return store.ErrConflict
		}
		return nil
	}})})
	add := func(g declaration.Grants) (declaration.Grants, error) {
		g.BudgetUID, g.Budget, g.List = "uid-a", "team-a", append(slices.Clone(g.List), grant(fmt.Sprint("g-", len(g.List))))
		return g, nil
	}
	for _, tt := range []struct {
		conflicts int
		list      int
		error     string
	}{{0, 1, ""}, {3, 2, ""}, {100, 2, "was written by others again and again: try again"}} {
		conflicts, writes = tt.conflicts, 0
		changed, err := grants.Change(t.Context(), "uid-a", add)
		stored, loadErr := grants.Of(t.Context(), "uid-a")
		if loadErr != nil || len(stored.List) != tt.list {
			t.Errorf("after %d conflicts, %d grants: %v", tt.conflicts, len(stored.List), loadErr)
		}
		if tt.error != "" {
			fails(t, "conflicts without end", err, tt.error)
		} else if err != nil || len(changed.List) != tt.list {
			t.Errorf("after %d conflicts, %+v: %v", tt.conflicts, changed, err)
		}
	}
	conflicts, writes = 0, 0
	if same, err := grants.Change(t.Context(), "uid-a", func(g declaration.Grants) (declaration.Grants, error) { return g, nil }); err != nil ||
		writes != 0 || len(same.List) != 2 {
		t.Errorf("unchanged, it is written %d times: %+v, %v", writes, same, err)
	}
	refused := errors.New("too many grants")
	if _, err := grants.Change(t.Context(), "uid-a", func(g declaration.Grants) (declaration.Grants, error) { return g, refused }); !errors.Is(err, refused) {
		t.Errorf("refused: %v", err)
	}
	damaged(t, k.Store, store.Grants, "uid-c")
	_, err := grants.Change(t.Context(), "uid-c", add)
	fails(t, "a damaged document", err, "Restore it from a copy")
	for range 2 {
		if err := grants.Forget(t.Context(), "uid-a"); err != nil {
			t.Error(err)
		}
	}
	if left, err := grants.Of(t.Context(), "uid-a"); err != nil || len(left.List) > 0 {
		t.Errorf("forgotten, there is %+v: %v", left, err)
	}
}

// TestRestIsReportedOnce: to the history, and then out of the documents. Failures are warnings.
func TestRestIsReportedOnce(t *testing.T) {
	t.Parallel()
	k := fixture()
	grants := record.Grants(k)
	event := history.About{At: noon, Object: "budget/team-a", ObjectUID: "uid-a"}.Declaration(history.Create)
	put(t, k.Store, store.Grants, "uid-a", declaration.Grants{BudgetUID: "uid-a", Budget: "team-a", Grants: budget.Grants{Unreported: []history.Event{event}}})
	damaged(t, k.Store, store.Grants, "uid-c")
	var warnings []string
	var outbox record.Outbox
	outbox.Note(event)
	without := func(g declaration.Grants) declaration.Grants { g.Unreported = nil; return g }
	now := func() time.Time { return noon }
	warn := func(list ...reason.Reason) { warnings = append(warnings, reason.Reasons(list).Texts()...) }
	grants.ReportRest(t.Context(), k, &outbox, now, nil, warn)
	if outbox.Has(event) {
		t.Error("it is reported without need")
	}
	grants.ReportRest(t.Context(), k, &outbox, now, []record.Rest[declaration.Grants]{{UID: "uid-a", WithoutReported: without}, {UID: "uid-c",
		WithoutReported: without}}, warn)
	left, err := grants.Of(t.Context(), "uid-a")
	if err != nil || len(left.Unreported) > 0 || !outbox.Has(event) {
		t.Errorf("left are %+v: %v", left, err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "Restore it from a copy") {
		t.Errorf("the warnings are %q", warnings)
	}
}

// TestOutboxSignsAndForgets: events of a run have its ID, and what came to nothing is not reported.
func TestOutboxSignsAndForgets(t *testing.T) {
	t.Parallel()
	about := func(uid string) history.Event {
		return history.About{At: noon, Object: "budget/" + uid, ObjectUID: uid}.Declaration(history.Create)
	}
	var o record.Outbox
	o.Begin("run-7")
	signed := history.Event{ID: "x", Actor: "terraform"}
	events := o.Sign([]history.Event{about("a"), signed}, "reconcile")
	if events[0].Actor != "reconcile" || events[0].RunID != "run-7" || events[1].Actor != "terraform" || events[1].RunID != "" {
		t.Errorf("signed: %+v", events)
	}
	if alone := o.Sign([]history.Event{about("a")}, "reconcile"); alone[0].Actor != "reconcile" || alone[0].RunID != "run-7" {
		t.Errorf("signed alone: %+v", alone)
	}
	if kept := o.Sign([]history.Event{signed}, "reconcile"); kept[0].RunID != "" {
		t.Errorf("signed again: %+v", kept)
	}
	o.Note(about("a"), about("b"))
	o.Note(about("a"))
	o.Forget("b")
	taken := o.Take()
	if len(taken) != 1 || taken[0].ObjectUID != "a" || len(o.Take()) != 0 {
		t.Errorf("taken are %+v", taken)
	}
	o.Confirm(taken)
	if o.Note(about("a"), about("b")); !o.Has(about("a")) || o.Has(about("b")) {
		t.Error("what is reported is not known")
	}
	if taken := o.Take(); len(taken) != 1 || taken[0].ObjectUID != "b" {
		t.Errorf("reported again: %+v", taken)
	}
	o.Begin("run-8")
	if o.Has(about("a")) {
		t.Error("a run knows what another one reported")
	}
}

// TestUnreportedEventsAreNotConfirmed if the history cannot be written.
func TestUnreportedEventsAreNotConfirmed(t *testing.T) {
	t.Parallel()
	k := fixture()
	event := history.About{At: noon, Object: "budget/a", ObjectUID: "a"}.Declaration(history.Create)
	broken := k
	broken.Store = storetest.Wrap(k.Store, &storetest.Faults{Before: func(op storetest.Op) error {
		if op.Method == "Write" {
			return errors.New("no space left on device")
		}
		return nil
	}})
	for _, tt := range []struct {
		k   record.Repository
		has bool
	}{{broken, false}, {k, true}} {
		var o record.Outbox
		var warnings []string
		o.Note(event)
		added := tt.k.ReportAfter(t.Context(), &o, func() time.Time { return noon }, func(list ...reason.Reason) {
			warnings = append(warnings, reason.Reasons(list).Texts()...)
		})
		if o.Has(event) != tt.has || (added.Unreported == 0) != tt.has || (len(warnings) == 0) != tt.has {
			t.Errorf("reported %t, want %t: %+v, %q", o.Has(event), tt.has, added, warnings)
		}
	}
}

// TestLostLockEndsItsWork, and a failed release is an error of it.
func TestLostLockEndsItsWork(t *testing.T) {
	t.Parallel()
	k := fixture()
	stuck := errors.New("cannot delete the lease")
	k.Store = storetest.Wrap(k.Store, &storetest.Faults{Before: func(op storetest.Op) error {
		if op.Method == "Release" {
			return stuck
		}
		return nil
	}})
	failed := errors.New("failed")
	if err := k.WithLock(t.Context(), "run", 0, func(context.Context) error { return failed }); !errors.Is(err, failed) || !errors.Is(err, stuck) {
		t.Errorf("got %v", err)
	}
	err := k.WithLock(t.Context(), "run", 0, func(context.Context) error { return nil })
	if !record.IsLocked(err) || record.IsLocked(failed) {
		t.Errorf("the lock is taken by another: %v", err)
	}
}
