package budgets_test

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// conflicted has another process write to the ledger right before this one does.
type conflicted struct {
	store.Store
	once sync.Once
	meet func()
}

func (s *conflicted) Write(ctx context.Context, key store.Key, data []byte, r store.Revision) (store.Revision, error) {
	if key.Kind == store.Ledger {
		s.once.Do(s.meet)
	}
	return s.Store.Write(ctx, key, data, r)
}

// Lock gives the run lock to everyone, as after a lease that ran out.
func (s *conflicted) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	if name == "run" {
		return freeLock{}, nil
	}
	return s.Store.Lock(ctx, name, wait)
}

type freeLock struct{}

func (freeLock) Release() error        { return nil }
func (freeLock) Lost() <-chan struct{} { return nil }

// TestTwoRunsAtOnceCountNothingTwice has a second run do all of its work in the
// middle of a first one's, which had looked before.
func TestTwoRunsAtOnceCountNothingTwice(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare()
	uid := d.Cluster.Start("ml", "a", 4)
	d.Cluster.Step(15 * time.Minute)
	d.Run()
	d.Cluster.Step(15 * time.Minute)
	first := d.Process()
	first.Store = &conflicted{Store: first.Store, meet: func() {
		d.Cluster.Start("ml", "b", 2)
		d.Cluster.Remove(uid)
		d.Cluster.Step(15 * time.Minute)
		d.Run()
	}}
	report, err := first.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Done {
		t.Fatalf("the first run: %v, %+v", err, report.Budgets)
	}
	d.Cluster.Step(15 * time.Minute)
	// 4 for half an hour, 2 for another: nothing was lost, and nothing twice.
	wantConsumed(t, d.Run(), "3.000")
}

// TestALedgerOfANewerGpupoolStopsBudgets, and nothing is touched.
func TestALedgerOfANewerGpupoolStopsBudgets(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	b := d.Declare(enforcing(budget.Evict))
	d.Cluster.Start("ml", "a", 8)
	d.Run()
	key := store.Key{Kind: store.Ledger, Name: b.ClusterUID + "/header"}
	doc, err := d.Store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	newer := regexp.MustCompile(`gpupool-ledger \d+ `).ReplaceAll(doc.Data, []byte("gpupool-ledger 99 "))
	if bytes.Equal(newer, doc.Data) {
		t.Fatalf("the document does not begin as expected: %.60q", doc.Data)
	}
	if _, err := d.Store().Write(context.Background(), key, newer, doc.Revision); err != nil {
		t.Fatal(err)
	}
	before := d.Documents()
	d.Cluster.Step(time.Hour)
	report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != outcome.Failed || !strings.Contains(report.Budgets[0].Error.Remedy, "Upgrade gpupool") {
		t.Errorf("got %v, %+v", err, report.Budgets)
	}
	after := d.Documents()
	delete(before, "statuses/last_run")
	delete(after, "statuses/last_run")
	if diff := cmp.Diff(before, after); diff != "" || len(d.Cluster.Acts) > 0 {
		t.Errorf("something was touched: %v\n%s", d.Cluster.Acts, diff)
	}
}

// TestIntactPartsOfADamagedLedgerCount warns of the damage, and evicts no pods before the rest of the ledger
// reaches the limit.
func TestIntactPartsOfADamagedLedgerCount(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.Declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.GPUHours, b.Thresholds = "4.001", []int{100} })
	gone := d.Cluster.Start("ml", "gone", 8)
	d.Cluster.Start("ml", "stays", 8)
	d.Run()
	d.Cluster.Step(15 * time.Minute)
	d.Cluster.Remove(gone)
	d.Run()
	docs, err := d.Store().List(context.Background(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		if strings.Contains(doc.Key.Name, "/closed-") {
			spoiled := append(bytes.Clone(doc.Data), 'x')
			spoiled[len(spoiled)/2] ^= 0xff
			if _, err := d.Store().Write(context.Background(), doc.Key, spoiled, doc.Revision); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.Cluster.Step(15 * time.Minute)
	report := d.Run()
	wantConsumed(t, report, "4.000") // and 2 that are lost
	if len(d.Cluster.Evicted) > 0 {
		t.Errorf("%v were evicted", d.Cluster.Evicted)
	}
	d.Cluster.Step(15 * time.Minute)
	report = d.Run()
	if !strings.Contains(strings.Join(report.Warnings.Texts(), "\n"), "damaged") || report.Budgets[0].Coverage.String() >= "1" {
		t.Errorf("warnings %v, coverage %s", report.Warnings, report.Budgets[0].Coverage)
	}
	for _, text := range report.Budgets[0].Warnings.Texts() {
		if strings.Count(text, "closed-") != 1 {
			t.Errorf("it does not name the document once: %s", text)
		}
	}
	if !slices.Equal(d.Cluster.Evicted, []string{"stays"}) {
		t.Errorf("%v were evicted, with %s of 4.001 GPU-hours used for certain", d.Cluster.Evicted, reconciletest.Consumed(t, report))
	}
}

// TestAStatusOfANewerGpupoolIsLeftAlone, or the measurements of one, and the budget fails.
func TestAStatusOfANewerGpupoolIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"budgets/team-a", "budget_usage"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare()
			for range 3 { // and at least one of them changes only what was measured
				d.Run()
				d.Cluster.Step(time.Minute)
			}
			key := store.Key{Kind: store.Statuses, Name: name}
			doc, err := d.Store().Read(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			newer := bytes.Replace(doc.Data, []byte(`"version": 3`), []byte(`"version": 9`), 1)
			if _, err := d.Store().Write(t.Context(), key, newer, doc.Revision); err != nil {
				t.Fatal(err)
			}
			report, err := d.Runner().Run(t.Context(), reconcile.RunOptions{})
			if err != nil || report.Budgets[0].Outcome != outcome.Failed || !strings.Contains(report.Budgets[0].Error.Remedy, "Upgrade gpupool") {
				t.Errorf("got %v, %+v", err, report.Budgets)
			}
			if doc, err = d.Store().Read(t.Context(), key); err != nil || !bytes.Equal(doc.Data, newer) {
				t.Errorf("it was replaced: %v", err)
			}
		})
	}
}

// TestInvalidRecordFailsOnlyItsBudget reconciles the others, and drops nothing that the broken one may need.
func TestInvalidRecordFailsOnlyItsBudget(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, data []byte) []byte{
		"damaged": func(_ *testing.T, data []byte) []byte { return bytes.Replace(data, []byte("30d"), []byte("31d"), 1) },
		"of a window that can't be read": func(t *testing.T, data []byte) []byte {
			record, err := declaration.Decode[declaration.Budget]("it", data)
			if err != nil {
				t.Fatal(err)
			}
			record.Declaration.Window = "fortnight"
			if data, err = declaration.Encode(record); err != nil {
				t.Fatal(err)
			}
			return data
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(func(b *budget.Declaration) { b.Window = "1h" })
			d.Declare(func(b *budget.Declaration) { b.Name, b.Window = "long", "30d" })
			uid := d.Cluster.Start("ml", "a", 2)
			d.Cluster.Step(time.Hour)
			d.Run()
			d.Cluster.Remove(uid)
			key := store.Key{Kind: store.Budgets, Name: "long"}
			doc, err := d.Store().Read(context.Background(), key)
			if err != nil {
				t.Fatal(err)
			}
			revision, err := d.Store().Write(context.Background(), key, spoil(t, doc.Data), doc.Revision)
			if err != nil {
				t.Fatal(err)
			}
			d.Cluster.Step(72 * time.Hour)
			report, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
			if err != nil || report.Budgets[0].Outcome != outcome.Failed || report.Budgets[1].Outcome != outcome.Done {
				t.Fatalf("got %v, %+v", err, report.Budgets)
			}
			if _, err := d.Store().Write(context.Background(), key, doc.Data, revision); err != nil {
				t.Fatal(err)
			}
			if got := d.Run().Budgets[0].ConsumedGPUHours; got != "2.000" {
				t.Errorf("put back, it counts %s GPU-hours, want 2.000", got)
			}
		})
	}
}
