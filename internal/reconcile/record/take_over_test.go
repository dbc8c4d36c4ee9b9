package record_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestStateIsTakenOverIfItIsNewer: a newer record and one in another phase win, and another
// object's record and a tombstone refuse.
func TestStateIsTakenOverIfItIsNewer(t *testing.T) {
	t.Parallel()
	with := func(change func(*budget.Declaration)) budget.Declaration {
		d := teamA(2)
		change(&d)
		return d
	}
	for name, tt := range map[string]struct {
		phase    declaration.Phase // of the record; empty for none
		recorded budget.Declaration
		entry    declaration.StateResource[budget.Declaration]
		older    string
		ended    bool // it has a tombstone
		stored   int64
		warns    string
		refuses  string
	}{
		"no record":       {stored: 2},
		"an older record": {phase: declaration.Active, recorded: teamA(1), stored: 2},
		"the same":        {phase: declaration.Active, recorded: teamA(2), stored: 2},
		"a newer record": {phase: declaration.Active, recorded: teamA(3), stored: 3,
			warns: "the store has a newer declaration (generation 3, and the state has 2), and it is used"},
		"a deletion":        {phase: declaration.Deleting, recorded: teamA(1), stored: 1},
		"another of a name": {phase: declaration.Active, recorded: with(func(d *budget.Declaration) { d.UID = "uid-b" }), refuses: "address: the store"},
		"destroyed":         {ended: true, refuses: "address: this budget (uid uid-a) was destroyed at 2026-11-20T12:00:00Z: the state is older than that"},
		"an older state":    {older: "this state is old", refuses: "address: the store has no record of it, and this state is old"},
		"an older state of what is recorded": {
			phase: declaration.Active, recorded: teamA(1), older: "this state is old", refuses: "and this state is old",
		},
		"tainted":    {entry: declaration.StateResource[budget.Declaration]{Tainted: true}, stored: 2, warns: "address is tainted"},
		"unreadable": {entry: declaration.StateResource[budget.Declaration]{Unread: errors.New("no attribute uid")}, refuses: "no attribute uid"},
	} {
		k := fixture()
		l := record.Budgets(k)
		if tt.phase != "" {
			recorded(t, k, tt.phase, tt.recorded)
		}
		if tt.ended {
			if err := l.WriteTombstone(t.Context(), teamA(2), noon); err != nil {
				t.Fatal(err)
			}
		}
		tt.entry.Address, tt.entry.Declaration = "address", teamA(2)
		var warnings []string
		err := l.TakeOver(t.Context(), record.StateEntry[budget.Declaration]{
			StateResource: tt.entry, Older: tt.older, Warn: func(list ...reason.Reason) { warnings = append(warnings, reason.Reasons(list).Texts()...) },
		}, func(_ context.Context, _ record.Stored[budget.Declaration], d budget.Declaration) (budget.Declaration, error) {
			return d, nil
		})
		if tt.refuses == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if tt.refuses != "" {
			fails(t, name, err, tt.refuses)
		}
		if got := strings.Join(warnings, "\n"); !strings.Contains(got, tt.warns) || tt.warns == "" && got != "" {
			t.Errorf("%s: the warnings are %q, want %q", name, got, tt.warns)
		}
		r, err := l.Load(t.Context(), "team-a")
		if err != nil || tt.refuses == "" && r.Value.Declaration.Generation != tt.stored || tt.refuses != "" && tt.phase == "" && r.Exists() {
			t.Errorf("%s: the store has %+v: %v", name, r.Value, err)
		}
	}
}

// TestRefusedStateIsNotTakenOver: by what completes it, and by a record that cannot be read. The list of
// the kind reports that record.
func TestRefusedStateIsNotTakenOver(t *testing.T) {
	t.Parallel()
	k := fixture()
	l := record.Budgets(k)
	entry := record.StateEntry[budget.Declaration]{StateResource: declaration.StateResource[budget.Declaration]{Address: "address", Declaration: teamA(1)}}
	err := l.TakeOver(t.Context(), entry, func(context.Context, record.Stored[budget.Declaration], budget.Declaration) (d budget.Declaration, err error) {
		return d, errors.New("no such namespace")
	})
	fails(t, "incomplete", err, "address: no such namespace")
	if r, err := l.Load(t.Context(), "team-a"); err != nil || r.Exists() {
		t.Errorf("the store has %+v: %v", r, err)
	}
	damaged(t, k.Store, store.Budgets, "team-a")
	if err := l.TakeOver(t.Context(), entry, nil); err != nil {
		t.Errorf("a damaged record is reported twice: %v", err)
	}
}

// TestOlderStatesAreKnownBySerial of the same lineage.
func TestOlderStatesAreKnownBySerial(t *testing.T) {
	t.Parallel()
	k := fixture()
	for n, tt := range []struct {
		lineage string
		serial  int64
		older   string
	}{
		{"x", 5, ""}, {"x", 5, ""}, {"x", 4, "this state has serial 4, and the newest one of its lineage has serial 5"}, {"y", 1, ""}, {"x", 6, ""},
		{"x", 5, "this state has serial 5, and the newest one of its lineage has serial 6"}, {"", 1, ""},
	} {
		if older, err := k.Older(t.Context(), &declaration.TerraformState{Lineage: tt.lineage, Serial: &tt.serial}); older != tt.older || err != nil {
			t.Errorf("state %d: %q, %v", n, older, err)
		}
	}
	if older, err := k.Older(t.Context(), &declaration.TerraformState{Lineage: "x"}); older != "" || err != nil {
		t.Errorf("without a serial: %q, %v", older, err)
	}
	docs, err := k.Store.List(t.Context(), store.States)
	if err != nil || len(docs) != 2 {
		t.Errorf("%d lineages are remembered: %v", len(docs), err)
	}
}

// TestLostErrorNamesTheStore in which to look for the record.
func TestLostErrorNamesTheStore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		e          record.LostError
		says, lack string
	}{
		"unknown": {record.LostError{}, "Use the store that it was recorded in", "The Terraform state remembers"},
		"another store": {record.LostError{Other: "directory:/old", Store: "directory:/new"}, "gpupool store move directory:/old directory:/new",
			"another cluster"},
		"another cluster": {record.LostError{Other: "kubernetes:x", Cluster: "uid-c"},
			"in another cluster. Use its kubeconfig and context: the uid of its namespace kube-system is uid-c", "store move"},
	} {
		if text := tt.e.Error(); !strings.Contains(text, tt.says) || strings.Contains(text, tt.lack) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestTakenStockPoolNamesItsManager(t *testing.T) {
	t.Parallel()
	var exists *request.ExistsError
	requested := stockpool.Declaration{Name: "g1", Namespace: "ml", ManagedBy: stockpool.ManagedByAPI, Owner: "alice"}
	if err := record.Taken(requested); !errors.As(err, &exists) || exists.Owner != "alice" {
		t.Errorf("requested: %v", err)
	}
	var managed *request.ManagedError
	if err := record.Taken(stockpool.Declaration{Name: "g1", Namespace: "ml"}); !errors.As(err, &managed) || managed.Object != "stock_pool/ml/g1" {
		t.Errorf("declared: %v", err)
	}
}

// reached is a cluster with a UID, or one that does not respond.
type reached struct {
	record.Cluster
	uid string
	err error
}

func (r reached) UID(context.Context) (string, error) { return r.uid, r.err }

// TestOnlyTheOwnClusterIsUsed refuses another, one without identity, and none.
func TestOnlyTheOwnClusterIsUsed(t *testing.T) {
	t.Parallel()
	away := errors.New("connection refused")
	connect := func(r reached, err error) func(context.Context) (reached, error) {
		return func(context.Context) (reached, error) { return r, err }
	}
	for name, tt := range map[string]struct {
		connect func(context.Context) (reached, error)
		error   string
	}{
		"its own": {connect(reached{uid: "c"}, nil), ""},
		"another": {connect(reached{uid: "d"}, nil),
			"budget/team-a belongs to another cluster: the uid of its namespace kube-system is c. That of the cluster in use is d"},
		"none":       {nil, "budgets need a Kubernetes cluster, and none is configured"},
		"away":       {connect(reached{}, away), "connection refused"},
		"no answer":  {connect(reached{err: away}, nil), "connection refused"},
		"no cluster": {connect(reached{}, nil), "the namespace kube-system has no uid"},
	} {
		cluster, err := record.ReachOwn(t.Context(), tt.connect, "budgets", "budget/team-a", "c")
		if tt.error != "" {
			fails(t, name, err, tt.error)
		} else if err != nil || cluster.uid != "c" {
			t.Errorf("%s: %+v, %v", name, cluster, err)
		}
	}
}

// TestMissingJournalsAreOfActivePools only: another's journal is not a pool's own.
func TestMissingJournalsAreOfActivePools(t *testing.T) {
	t.Parallel()
	k := fixture()
	for uid, phase := range map[string]declaration.Phase{"lost": declaration.Active, "kept": declaration.Active, "begun": declaration.Creating} {
		put(t, k.Store, store.StockPools, "ml/"+uid, declaration.StockPool{Phase: phase, Declaration: stockpool.Declaration{
			Name: uid, Namespace: "ml", UID: uid, ClusterUID: "c",
		}})
	}
	put(t, k.Store, store.StockJournals, "kept", declaration.StockJournal{PoolUID: "kept", Object: "stock_pool/ml/kept"})
	damaged(t, k.Store, store.StockPools, "ml/damaged")
	list, err := record.MissingJournals(t.Context(), k.Store)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.Document.String())
	}
	if !slices.Equal(got, []string{"stock_journals/lost"}) || !strings.Contains(list[0].String(), "stock_journals/lost is missing: restore it from a copy") {
		t.Errorf("missing are %q", list)
	}
}

// TestStockDeploymentsAreOfRecordedPools: budgets may pause the Deployment of any other. With an unreadable
// record, a journal that cannot be read may have any Deployment.
func TestStockDeploymentsAreOfRecordedPools(t *testing.T) {
	t.Parallel()
	k := fixture()
	pool := func(uid string, phase declaration.Phase) {
		put(t, k.Store, store.StockPools, "ml/"+uid, declaration.StockPool{Phase: phase, Declaration: stockpool.Declaration{
			Name: uid, Namespace: "ml", UID: uid, ClusterUID: "c",
		}})
	}
	journal := func(uid, deployment string) {
		put(t, k.Store, store.StockJournals, uid, declaration.StockJournal{PoolUID: uid, Object: "stock_pool/ml/" + uid, DeploymentUID: deployment})
	}
	expect := func(when string, want ...string) {
		t.Helper()
		got, err := k.StockDeployments(t.Context())
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %v, %v", when, got, err)
		}
		for _, name := range want {
			if got["deployment-"+name] != "stock_pool/ml/"+name {
				t.Errorf("%s: %v, want that of %s", when, got, name)
			}
		}
	}
	expect("without journals")
	pool("active", declaration.Active)
	pool("new", declaration.Active)
	pool("deleting", declaration.Deleting)
	journal("active", "deployment-active")
	journal("new", "")
	journal("deleting", "deployment-deleting")
	journal("orphan", "deployment-orphan")
	expect("all readable", "active")
	damaged(t, k.Store, store.StockJournals, "lost")
	expect("with a damaged journal of no pool", "active")
	damaged(t, k.Store, store.StockPools, "ml/orphan")
	if got, err := k.StockDeployments(t.Context()); err == nil {
		t.Errorf("with a damaged journal and a damaged record: %v", got)
	}
	docs, err := k.Store.List(t.Context(), store.StockJournals)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(docs, func(d store.Document) bool { return d.Key.Name == "lost" })
	if err := record.Remove(t.Context(), k.Store, store.StockJournals, "lost", docs[at].Revision); err != nil {
		t.Fatal(err)
	}
	expect("with a damaged record", "active", "orphan")
	damaged(t, k.Store, store.StockJournals, "of-active")
	pool("of-active", declaration.Active)
	if got, err := k.StockDeployments(t.Context()); err == nil {
		t.Errorf("with a damaged journal of an active pool: %v", got)
	}
}
