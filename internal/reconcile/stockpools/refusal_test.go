package stockpools_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestAReplacementIsNotRefusedAtPlan: the Deployment is the recorded pool's own, so the error
// is only that the name is taken.
func TestAReplacementIsNotRefusedAtPlan(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	var exists *record.ExistsError
	if err := d.Process().StockPools().Refusal(context.Background(), pool()); !errors.As(err, &exists) {
		t.Errorf("a plan reports %v", err)
	}
	foreign := d.Cluster.Deployment(key).DeepCopy()
	foreign.UID = "somebody's"
	d.Cluster.Put(key, foreign)
	var taken *decide.TakenError
	if err := d.Process().StockPools().Refusal(context.Background(), pool()); !errors.As(err, &taken) {
		t.Errorf("of somebody else's, a plan reports %v", err)
	}
}

// TestAReplacementOfAnOrphanIsRefusedAtPlan: the Deployment that its destruction leaves
// would be in the way.
func TestAReplacementOfAnOrphanIsRefusedAtPlan(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create(func(d *stockpool.Declaration) { d.OnDestroy = stockpool.DestroyRetain })
	err := d.Process().StockPools().Refusal(context.Background(), pool())
	var exists *record.ExistsError
	if err == nil || errors.As(err, &exists) || !strings.Contains(err.Error(), `on_destroy = "retain"`) {
		t.Errorf("a plan reports %v", err)
	}
}

// TestARecordThatCantBeReadIsReportedAtPlan, and not taken for none.
func TestARecordThatCantBeReadIsReportedAtPlan(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	d.damage(store.StockPools, key)
	if err := d.Process().StockPools().Refusal(context.Background(), pool()); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a plan reports %v", err)
	}
}

// TestRefusedChangesAreNotRecorded: an update that an admission policy refuses
// leaves the record as it was, and a budget can still pause the pool.
func TestRefusedChangesAreNotRecorded(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	state := d.create()
	d.is(2, decide.Ready)
	refuses := errors.New("the policy images forbids it")
	d.Cluster.Failing["PreviewStock"] = refuses
	for name, change := range map[string]func(*stockpool.Declaration){
		"an image":  func(d *stockpool.Declaration) { d.Image = "registry.example.com/team/runtime:2" },
		"more pods": func(d *stockpool.Declaration) { d.Replicas = 3 },
	} {
		changed, acts := state.Declaration, len(d.Cluster.Acts)
		change(&changed)
		if _, err := d.Process().StockPools().Update(context.Background(), changed, 0); !errors.Is(err, refuses) || len(d.Cluster.Acts) != acts {
			t.Errorf("%s: %v; it did %q", name, err, d.Cluster.Acts[acts:])
		}
	}
	changed := state.Declaration
	changed.OnDestroy = stockpool.DestroyRetain
	if _, err := d.Process().StockPools().Update(context.Background(), changed, 0); err != nil {
		t.Errorf("what changes nothing in the cluster is not tried there: %v", err)
	}
	delete(d.Cluster.Failing, "PreviewStock")
	recorded, err := d.Process().StockPools().Find(context.Background(), "ml", "pool-g1")
	if err != nil || recorded.Image != pool().Image || recorded.Replicas != 2 {
		t.Errorf("the record has %s and %d pods: %v", recorded.Image, recorded.Replicas, err)
	}
	d.uses("train", 4, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	d.Run()
	d.is(0, decide.Paused)
}

// TestAdviceAboutATakenName does not lead in a circle: an import finds the record, where
// there is one.
func TestAdviceAboutATakenName(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	state := d.create()
	foreign := d.Cluster.Deployment(key).DeepCopy()
	foreign.UID, foreign.Labels = "somebody's", nil
	d.Cluster.Put(key, foreign)
	changed := state.Declaration
	changed.Replicas = 3
	_, updated := d.Process().StockPools().Update(context.Background(), changed, 0)
	view, err := d.Process().StockPools().View(context.Background(), state.Declaration)
	if err != nil || len(view.Warnings) == 0 || updated == nil {
		t.Fatalf("it is viewed as %+v (%v), and updated: %v", view, err, updated)
	}
	for of, text := range map[string]string{
		"an apply": updated.Error(), "a refresh": strings.Join(view.Warnings.Texts(), "\n"), "a run": d.Run().StockPools[0].Error.Reason.String(),
	} {
		if !strings.Contains(text, "destroy this stock pool, which leaves it, then run terraform import ADDRESS "+key) ||
			strings.Contains(text, "state rm") {
			t.Errorf("%s says %s", of, text)
		}
	}
	notices, err := d.Process().StockPools().Delete(context.Background(), state.Declaration, time.Minute)
	if err != nil || !strings.Contains(strings.Join(notices.Texts(), "; "), "was left") {
		t.Fatalf("destroyed: %s, %v", notices, err)
	}
	found, err := d.Process().StockPools().Find(context.Background(), "ml", "pool-g1")
	if err != nil || found.DeploymentUID != "somebody's" || found.UID != "" {
		t.Errorf("an import finds %+v, %v", found, err)
	}
	if _, err := d.Process().StockPools().Create(context.Background(), pool(), 0); err == nil ||
		!strings.Contains(err.Error(), "run terraform import ADDRESS "+key) {
		t.Errorf("of a new one it says %v", err)
	}
}
