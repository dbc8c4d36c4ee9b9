package budgets_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// used is a cluster with many budgets that are used, of which nothing is to be decided.
func used(t *testing.T) (*fixture, []budget.Declaration) {
	t.Helper()
	d := newFixture(t)
	var list []budget.Declaration
	for n := range 30 {
		list = append(list, d.Declare(func(b *budget.Declaration) {
			b.Name, b.GPUHours, b.Selector.MatchLabels = fmt.Sprintf("team-%02d", n), "1000", map[string]string{"team": fmt.Sprintf("%02d", n)}
		}))
	}
	d.Declare(enforcing(budget.Freeze), func(b *budget.Declaration) { b.Name, b.GPUHours = "exceeded", "0.1" })
	d.Cluster.Start("ml", "a", 1)
	for range 3 { // the first ones write statuses, freeze, and note what the history has
		d.Cluster.Step(time.Hour)
		d.Run()
	}
	return d, list
}

func usageAt(t *testing.T, w reconcile.World, b budget.Declaration) time.Time {
	t.Helper()
	state, err := w.Budgets().View(context.Background(), b)
	if err != nil || state.Status == nil {
		t.Fatalf("the status of %s is %+v: %v", b.Name, state.Status, err)
	}
	return state.Status.At
}

func TestIdleRunWritesTheUsageOfAllBudgetsOnce(t *testing.T) {
	t.Parallel()
	d, list := used(t)
	before := d.Documents()
	d.Cluster.Step(time.Minute)
	if r := d.Run(); len(r.Decisions) > 0 {
		t.Fatalf("the run is not idle: it decided %v", r.Decisions)
	}
	after := d.Documents()
	maps.DeleteFunc(after, func(key, text string) bool { return before[key] == text || strings.HasPrefix(key, "ledger/") })
	delete(after, "statuses/last_day") // which is written once a quarter of an hour
	if diff := cmp.Diff([]string{"statuses/budget_usage", "statuses/last_run"}, slices.Sorted(maps.Keys(after))); diff != "" {
		t.Errorf("the run wrote (-want +got):\n%s", diff)
	}
	for _, b := range list {
		if at := usageAt(t, d.Process(), b); !at.Equal(d.Cluster.Now()) {
			t.Errorf("the status of %s is as of %s, and the run was at %s", b.Name, at, d.Cluster.Now())
		}
	}
}

// A status is never by a measurement that went with another one, and by none if they are lost.
func TestLostUsageMakesStatusesOld(t *testing.T) {
	t.Parallel()
	d, list := used(t)
	key := store.Key{Kind: store.Statuses, Name: "budget_usage"}
	doc, err := d.Store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	now := d.Cluster.Now()
	if err := d.Store().Delete(context.Background(), key, doc.Revision); err != nil {
		t.Fatal(err)
	}
	if at := usageAt(t, d.Process(), list[0]); !at.Before(now) {
		t.Errorf("without measurements, the status is as of %s: the run that wrote it was before %s", at, now)
	}
	d.Cluster.Step(time.Minute)
	d.Run()
	if at := usageAt(t, d.Process(), list[0]); !at.Equal(d.Cluster.Now()) {
		t.Errorf("the next run left the status as of %s", at)
	}
}

// refusing is a store that takes no document of some names.
type refusing struct {
	store.Store

	prefix string
}

func (r refusing) Write(ctx context.Context, key store.Key, data []byte, revision store.Revision) (store.Revision, error) {
	if strings.HasPrefix(key.String(), r.prefix) {
		return "", fmt.Errorf("%w: %s", store.ErrTooLarge, key)
	}
	return r.Store.Write(ctx, key, data, revision)
}

func TestRefusedUsageIsWrittenStatusByStatus(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		prefix string
		failed bool
	}{{"statuses/budget_usage", false}, {"statuses/budget", true}} {
		d, list := used(t)
		d.Cluster.Step(time.Minute)
		w := d.Process()
		w.Store = refusing{w.Store, of.prefix}
		r, err := w.Runner().Run(context.Background(), reconcile.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range r.Budgets {
			if failed := b.Outcome == outcome.Failed; failed != of.failed || failed != (b.Error != nil) {
				t.Errorf("without %s, %s is %s: %+v", of.prefix, b.Name, b.Outcome, b.Error)
			}
		}
		if kept := usageAt(t, d.Process(), list[0]).Equal(d.Cluster.Now()); kept == of.failed {
			t.Errorf("without %s, the status of now is kept: %v", of.prefix, kept)
		}
		if _, err := d.Store().Read(context.Background(), store.Key{Kind: store.Statuses, Name: "budget_usage"}); errors.Is(err, store.ErrNotFound) {
			t.Error("the measurements of earlier runs are gone")
		}
	}
}
