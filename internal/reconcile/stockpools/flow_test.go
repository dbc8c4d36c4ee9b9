package stockpools_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

func TestAPoolIsCreatedKeptAndDestroyed(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	state := d.create(func(d *stockpool.Declaration) {
		d.PodDisruptionBudget = &stockpool.PodDisruptionBudget{MinAvailable: 1}
	})
	if want := []string{"CreateStock " + key, "ApplyStock " + key, "GuardStock " + key}; !slices.Equal(d.Cluster.Acts, want) {
		t.Errorf("it did %q, want %q", d.Cluster.Acts, want)
	}
	if !state.Recorded || state.Status.Phase != decide.Ready || state.Declaration.DeploymentUID == "" {
		t.Errorf("created, it is %+v", state)
	}
	d.is(2, decide.Ready)
	before, acts := d.Cluster.Calls(), len(d.Cluster.Acts)
	d.Run()
	calls := d.Cluster.Calls()
	if len(d.Cluster.Acts) != acts || calls["Stock"] != before["Stock"]+1 || calls["StockOf"] != before["StockOf"] ||
		calls["PreviewStock"] != before["PreviewStock"] {
		t.Errorf("an idle run does %q, and calls %v after %v", d.Cluster.Acts[acts:], calls, before)
	}
	changed := state.Declaration
	changed.Replicas, changed.Image = 3, "registry.example.com/team/runtime:2"
	state, err := d.Process().StockPools().Update(context.Background(), changed, 0)
	if err != nil || state.Declaration.Generation != 2 || d.replicas() != 3 {
		t.Fatalf("updated, it has %d pods: %+v, %v", d.replicas(), state, err)
	}
	d.is(3, decide.Ready)
	if _, err := d.Process().StockPools().Delete(context.Background(), state.Declaration, time.Minute); err != nil {
		t.Fatal(err)
	}
	if d.replicas() != -1 {
		t.Error("its Deployment is there")
	}
	if docs, err := d.Store().List(context.Background(), store.StockJournals); err != nil || len(docs) > 0 {
		t.Errorf("its journal is there: %v, %v", docs, err)
	}
	if _, err := d.Process().StockPools().Update(context.Background(), state.Declaration, 0); err == nil || !strings.Contains(err.Error(), "was destroyed at") {
		t.Errorf("a stale state brings it back: %v", err)
	}
	for kind, want := range map[history.Kind]int{history.Create: 1, history.Update: 1, history.Destroy: 1} {
		if got := d.reported(kind); got != want {
			t.Errorf("the history has %d events of %s, want %d", got, kind, want)
		}
	}
}

func TestARunRevertsDrift(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	scaled := d.Cluster.Deployment(key).DeepCopy()
	*scaled.Spec.Replicas = 9
	d.Cluster.Put(key, scaled)
	r := d.Run()
	if len(r.Decisions) != 1 || r.Decisions[0].Kind() != "revert" ||
		!strings.Contains(r.Decisions[0].Reasons()[0].String(), "spec.replicas was 9 instead of 2") {
		t.Errorf("decided %v", r.Decisions)
	}
	d.is(2, decide.Ready)
	unlabeled := d.Cluster.Deployment(key).DeepCopy()
	unlabeled.Labels = nil // which keeps it out of the observation of all
	d.Cluster.Put(key, unlabeled)
	d.is(2, decide.Ready)
	d.Cluster.Put(key, nil)
	d.is(2, decide.Ready)
	if got := d.reported(history.Revert); got != 3 {
		t.Errorf("the history has %d", got)
	}
}

func TestATakenPodIsReplacedByARun(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create(func(d *stockpool.Declaration) { d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 4 })
	d.Cluster.StockPods(key)[0].Labels["session"] = "x"
	d.is(3, decide.Ready)
	taken := d.Cluster.StockPods(key)[0].UID
	d.Cluster.StockPods(key)[1].Labels["session"] = "y"
	d.is(4, decide.Ready)
	delete(d.Cluster.StockPods(key)[1].Labels, "session")
	d.is(3, decide.Ready)
	if pods := d.Cluster.StockPods(key); pods[0].UID != taken || d.reported(history.Scale) != 3 {
		t.Errorf("the pod in use was ended, or the history has %d", d.reported(history.Scale))
	}
}

// TestInvalidPoolIsRefusedEarly, and nothing is left of it.
func TestInvalidPoolIsRefusedEarly(t *testing.T) {
	t.Parallel()
	foreign := func(d *fixture) {
		of := pool().InitialDeployment("", 0)
		of.Annotations, of.Labels = nil, nil
		d.Cluster.Put(key, of)
	}
	for name, c := range map[string]struct {
		before func(*fixture)
		change func(*stockpool.Declaration)
		says   string
	}{
		"a taken name": {before: foreign, says: "is not managed by gpupool and was not changed"},
		"no namespace": {before: func(d *fixture) { d.Cluster.LoseNamespace("ml") }, says: "has no namespace ml"},
		"no quantity":  {change: func(d *stockpool.Declaration) { d.Memory = "lots" }, says: `"lots" is not a quantity`},
		"another's pods": {
			before: func(d *fixture) { d.Declare() }, change: func(d *stockpool.Declaration) { d.Budget, d.Labels = "team-a", nil },
			says: "whose selector does not take its pods",
		},
		"a declared pool":      {before: func(d *fixture) { d.create() }, says: "terraform import"},
		"a cluster that hangs": {before: func(d *fixture) { d.Cluster.Failing["StockOf"] = errors.New("no answer") }, says: "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			if c.before != nil {
				c.before(d)
			}
			if c.change == nil {
				c.change = func(*stockpool.Declaration) {}
			}
			acts, documents := len(d.Cluster.Acts), d.stocked()
			_, err := d.Process().StockPools().Create(context.Background(), pool(c.change), 0)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want one that says %q", err, c.says)
			}
			if len(d.Cluster.Acts) != acts || d.stocked() != documents {
				t.Errorf("something was changed: %q, %d documents", d.Cluster.Acts[acts:], d.stocked())
			}
		})
	}
}

func (d *fixture) stocked() (n int) {
	for _, kind := range []store.Kind{store.StockPools, store.StockJournals} {
		docs, err := d.Store().List(context.Background(), kind)
		if err != nil {
			d.t.Fatal(err)
		}
		n += len(docs)
	}
	return n
}

func TestAnotherClusterIsNotTouched(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	state := d.create()
	d.Cluster.ClusterUID = "99999999-2222-3333-4444-555555555555"
	acts := len(d.Cluster.Acts)
	_, deleted := d.Process().StockPools().Delete(context.Background(), state.Declaration, time.Minute)
	_, updated := d.Process().StockPools().Update(context.Background(), state.Declaration, 0)
	_, viewed := d.Process().StockPools().View(context.Background(), state.Declaration)
	r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || r.StockPools[0].Outcome != outcome.Failed {
		t.Errorf("a run: %v, %+v", err, r.StockPools)
	}
	for _, err := range []error{deleted, updated, viewed} {
		if err == nil || !strings.Contains(err.Error(), "belongs to another cluster") {
			t.Errorf("it goes on: %v", err)
		}
	}
	if len(d.Cluster.Acts) != acts {
		t.Errorf("it did %q", d.Cluster.Acts[acts:])
	}
}

// TestAnUnobservedPoolIsLoggedWithoutNumbers: a cluster that cannot be reached has no pods to count.
func TestAnUnobservedPoolIsLoggedWithoutNumbers(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	w := d.Process()
	var log bytes.Buffer
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.Cluster = func(context.Context) (reconcile.Cluster, error) { return nil, errors.New("no answer") }
	if _, err := w.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, `msg="stock pool failed" stock_pool=ml/pool-g1 detail=`) {
		t.Errorf("the log is\n%s", text)
	}
}

func TestADeploymentIsAdoptedByAnUpdate(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	theirs := pool().InitialDeployment("", 0)
	theirs.Annotations, theirs.Labels = nil, nil
	theirs.Spec.Template.Spec.Containers[0].Name = "main"
	d.Cluster.Put(key, theirs)
	found, err := d.Process().StockPools().Find(context.Background(), "ml", "pool-g1")
	if err != nil || found.UID != "" || found.DeploymentUID == "" || found.Image != pool().Image {
		t.Fatalf("found %+v: %v", found, err)
	}
	declared := pool()
	declared.ClusterUID, declared.DeploymentUID = found.ClusterUID, found.DeploymentUID
	state, err := d.Process().StockPools().Update(context.Background(), declared, 0)
	if err != nil || state.Declaration.UID == "" || d.replicas() != 2 {
		t.Fatalf("adopted: %+v, %v", state, err)
	}
	if name := d.Cluster.Deployment(key).Spec.Template.Spec.Containers[0].Name; name != "main" {
		t.Errorf("its container is called %s", name)
	}
	if slices.Contains(d.Cluster.Acts, "CreateStock "+key) {
		t.Error("it was created again")
	}
	d.is(2, decide.Ready)
}

func TestAnOrphanIsLeft(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	state := d.create(func(d *stockpool.Declaration) { d.OnDestroy = stockpool.DestroyRetain })
	notices, err := d.Process().StockPools().Delete(context.Background(), state.Declaration, time.Minute)
	if err != nil || len(notices) == 0 || d.replicas() != 2 || d.stocked() != 0 {
		t.Errorf("it has %d pods, %d documents: %s, %v", d.replicas(), d.stocked(), notices, err)
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	scaled := d.Cluster.Deployment(key).DeepCopy()
	*scaled.Spec.Replicas = 9
	d.Cluster.Put(key, scaled)
	acts := len(d.Cluster.Acts)
	r := d.DryRun()
	if len(r.Decisions) != 1 || r.Decisions[0].Outcome != outcome.Planned || r.Decisions[0].Kind() != "revert" {
		t.Errorf("decided %+v", r.Decisions)
	}
	if len(d.Cluster.Acts) != acts || d.replicas() != 9 || d.reported(history.Revert) != 0 {
		t.Errorf("it did %q", d.Cluster.Acts[acts:])
	}
	if s, err := d.Runner().Status(context.Background()); err != nil || len(s.StockPools) != 1 || len(s.StockPools[0].Decisions) != 1 ||
		s.StockPools[0].Outcome != outcome.Planned {
		t.Errorf("its status is %+v: %v", s.StockPools, err)
	}
}

// TestADryRunAssumes another number of replicas, and leaves the declaration as it is.
func TestADryRunAssumes(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	assumed := func(text string) (reconcile.Report, error) {
		a, err := reconcile.ParseAssumption(text)
		if err != nil {
			t.Fatal(err)
		}
		return d.Runner().Run(context.Background(), reconcile.RunOptions{DryRun: true, Assume: []reconcile.Assumption{a}})
	}
	r, err := assumed("stock_pool/pool-g1.replicas=5")
	if err != nil || len(r.Decisions) != 1 || r.Decisions[0].Summary() != "scale its Deployment from 2 to 5" || r.Assumed[0].Declared != "2" ||
		r.Assumed[0].Object != "stock_pool/"+key {
		t.Errorf("%v: it would do %+v by %+v", err, r.Decisions, r.Assumed)
	}
	for text, want := range map[string]string{
		"stock_pool/ml/pool-g1.replicas=many": `cannot assume "many" as replicas of the stock pool ml/pool-g1: use a whole number`,
		"stock_pool/ml/pool-g1.replicas=-1":   "invalid assumption about the stock pool ml/pool-g1: replicas: ",
	} {
		if _, err := assumed(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	d.is(2, decide.Ready)
}

// TestARefreshShowsWhoseANameIs: a refresh shows a foreign Deployment of the pool's name
// without its label, as a run does.
func TestARefreshShowsWhoseANameIs(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	foreign := d.Cluster.Deployment(key).DeepCopy()
	foreign.UID, foreign.Labels = "somebody's", nil
	d.Cluster.Put(key, foreign)
	status, err := d.Runner().Status(context.Background())
	if err != nil || len(status.StockPools) != 1 {
		t.Fatal(err)
	}
	p := status.StockPools[0]
	if p.Outcome != outcome.Failed || p.Error == nil || !strings.Contains(p.Error.Message, "somebody's") || len(p.Decisions) > 0 || !status.Trouble() {
		t.Errorf("it is %s, with %+v, and a run would do %+v", p.Outcome, p.Error, p.Decisions)
	}
	x, err := d.Runner().Explain(context.Background())
	if err != nil || len(x.StockPools) != 1 || x.StockPools[0].Outcome != outcome.Failed || len(x.StockPools[0].Standings) != 0 {
		t.Errorf("%v: it explains %+v", err, x.StockPools)
	}
}

// TestExplainReportsAllThatDecisionsFollowFrom: what is declared, each pod, the budgets that
// cover them, and who wrote what.
func TestExplainReportsAllThatDecisionsFollowFrom(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	d.create()
	d.create(func(d *stockpool.Declaration) { d.Name, d.Labels = "other", map[string]string{"team": "b"} })
	x, err := d.Runner().Explain(context.Background(), "stock_pool/"+key)
	if err != nil || len(x.StockPools) != 1 || len(x.Budgets) != 0 {
		t.Fatalf("%v: it explains %+v", err, x)
	}
	p := x.StockPools[0]
	if p.Declared.Replicas != 2 || p.Declared.Memory != "16Gi" || len(p.Budgets) != 1 || p.Budgets[0].Budget != "team-a" || p.Budgets[0].Exceeded {
		t.Errorf("it is declared as %+v, and covered by %+v", p.Declared, p.Budgets)
	}
	if len(p.Standings) != 2 || p.Standings[0].CountsAs != decide.CountsAvailable {
		t.Errorf("its pods are %+v", p.Standings)
	}
	if len(x.Events) == 0 || x.Events[0].Object != "stock_pool/"+key {
		t.Errorf("what happened is %+v", x.Events)
	}
}
