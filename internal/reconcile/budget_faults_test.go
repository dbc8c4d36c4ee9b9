package reconcile_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// budgetStory is something that changes a desk, from what prepare makes of it.
type budgetStory struct {
	name    string
	prepare func(d *desk) budget.Declaration
	do      func(ctx context.Context, e *reconcile.Engine, b budget.Declaration) error
	// again is what a user does after it was cut short, beside running reconcile.
	again func(d *desk, b budget.Declaration)
	// verify checks what must hold after the next clean runs.
	verify func(d *desk, report reconcile.Report)
}

func budgetStories() []budgetStory {
	declare := func(action budget.Action) func(d *desk) budget.Declaration {
		return func(d *desk) budget.Declaration {
			b := d.declare(enforcing(action), func(b *budget.Declaration) { b.GPUHours = "6" })
			ends := d.cluster.start("ml", "ends", 4)
			d.cluster.start("ml", "b", 4, ownedBy("Job", "train"))
			d.cluster.step(30 * time.Minute)
			d.run()
			d.cluster.remove(ends)
			born := d.cluster.start("ml", "short", 2)
			d.cluster.step(30 * time.Minute)
			d.cluster.remove(born)
			return b
		}
	}
	run := func(ctx context.Context, e *reconcile.Engine, _ budget.Declaration) error {
		_, err := e.Run(ctx, reconcile.RunOptions{})
		return err
	}
	nothing := func(*desk, budget.Declaration) {}
	usage := func(d *desk, report reconcile.Report) {
		d.t.Helper()
		// 4 for half an hour, 4 for an hour, 2 for half an hour.
		wantConsumed(d.t, report, "7.000")
		if len(report.Budgets[0].Warnings) > 0 || report.Budgets[0].EstimatedGPUHours != "0.000" {
			d.t.Errorf("warnings %v, %s estimated", report.Budgets[0].Warnings, report.Budgets[0].EstimatedGPUHours)
		}
		if len(report.Warnings) > 0 {
			d.t.Errorf("warnings %v", report.Warnings)
		}
	}
	return []budgetStory{
		{"a run that evicts", declare(budget.Evict), run, nothing, func(d *desk, report reconcile.Report) {
			usage(d, report)
			if len(d.cluster.frozen) != 1 || len(d.cluster.evicted) != 1 || len(d.cluster.pods) != 0 {
				d.t.Errorf("frozen %v, evicted %v, left %v", d.cluster.frozen, d.cluster.evicted, d.cluster.pods)
			}
		}},
		{"a run that pauses", declare(budget.Pause), run, nothing, func(d *desk, report reconcile.Report) {
			usage(d, report)
			if len(d.cluster.paused) != 1 || len(d.cluster.pods) != 0 {
				d.t.Errorf("paused %v, left %v", d.cluster.paused, d.cluster.pods)
			}
		}},
		{
			"a deletion", func(d *desk) budget.Declaration {
				b := declare(budget.Evict)(d)
				d.run()
				return b
			},
			func(ctx context.Context, e *reconcile.Engine, b budget.Declaration) error {
				_, err := e.DeleteBudget(ctx, b)
				return err
			},
			func(d *desk, b budget.Declaration) {
				if _, err := d.engine().DeleteBudget(context.Background(), b); err != nil {
					d.t.Errorf("deleting again: %v", err)
				}
			},
			func(d *desk, report reconcile.Report) {
				if len(d.cluster.frozen) > 0 || len(report.Budgets) > 0 {
					d.t.Errorf("frozen %v, declared %v", d.cluster.frozen, report.Budgets)
				}
				for key := range d.documents() {
					if strings.HasPrefix(key, "budgets/") || strings.HasPrefix(key, "statuses/budgets/") {
						d.t.Errorf("%s is left", key)
					}
				}
			},
		},
	}
}

// TestBudgetsKilled kills each story right before and right after each of its
// effects: calls of the cluster, writes, deletes and locks of the store.
func TestBudgetsKilled(t *testing.T) {
	t.Parallel()
	for _, story := range budgetStories() {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			b := story.prepare(d)
			observer := &mortal{}
			if err := story.do(context.Background(), d.mortalEngine(observer), b); err != nil {
				t.Fatalf("without a kill: %v", err)
			}
			story.verify(d, d.run())
			for n := 1; n <= observer.count; n++ {
				for _, after := range []bool{false, true} {
					for _, gone := range []bool{false, true} {
						name := fmt.Sprintf("%s %d %s", map[bool]string{false: "before", true: "after"}[after], n, observer.trace[n-1])
						t.Run(name+map[bool]string{true: ", then by a run"}[gone], func(t *testing.T) {
							t.Parallel()
							d := newDesk(t)
							b := story.prepare(d)
							_ = story.do(context.Background(), d.mortalEngine(&mortal{killAt: n, after: after}), b)
							if !gone {
								story.again(d, b)
								d.run()
								story.verify(d, d.run())
								return
							}
							// Where the kill came before the record said so, nobody knows
							// that a deletion was meant.
							d.run()
							report := d.run()
							if story.name != "a deletion" || n > 3 {
								story.verify(d, report)
							}
						})
					}
				}
			}
		})
	}
}

// conflicted lets someone else write to the ledger right before this process
// does.
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

// TestTwoRunsAtOnce has a second run do all of its work in the middle of a
// first one's, which had looked before.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "a", 4)
	d.cluster.step(15 * time.Minute)
	d.run()
	d.cluster.step(15 * time.Minute)
	first := d.engine()
	first.Store = &conflicted{Store: first.Store, meet: func() {
		d.cluster.start("ml", "b", 2)
		d.cluster.remove(uid)
		d.cluster.step(15 * time.Minute)
		d.run()
	}}
	report, err := first.Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != reconcile.Done {
		t.Fatalf("the first run: %v, %+v", err, report.Budgets)
	}
	d.cluster.step(15 * time.Minute)
	// 4 for half an hour, 2 for another: nothing was lost, and nothing twice.
	wantConsumed(t, d.run(), "3.000")
}

// TestNewerLedger stops budgets, and touches nothing.
func TestNewerLedger(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	b := d.declare(enforcing(budget.Evict))
	d.cluster.start("ml", "a", 8)
	d.run()
	key := store.Key{Kind: store.Ledger, Name: b.ClusterUID + "/header"}
	doc, err := d.store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Replace(doc.Data, []byte("gpupool-ledger 1 "), []byte("gpupool-ledger 9 "), 1)
	if bytes.Equal(newer, doc.Data) {
		t.Fatalf("the document does not begin as expected: %.60q", doc.Data)
	}
	if _, err := d.store().Write(context.Background(), key, newer, doc.Revision); err != nil {
		t.Fatal(err)
	}
	before := d.documents()
	d.cluster.step(time.Hour)
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != reconcile.Failed || !strings.Contains(report.Budgets[0].Error.Message, "upgrade gpupool") {
		t.Errorf("got %v, %+v", err, report.Budgets)
	}
	after := d.documents()
	delete(before, "statuses/last_run")
	delete(after, "statuses/last_run")
	if diff := cmp.Diff(before, after); diff != "" || len(d.cluster.acts) > 0 {
		t.Errorf("something was touched: %v\n%s", d.cluster.acts, diff)
	}
}

// TestDamagedShard goes on with the rest of the ledger, says so, and evicts
// nobody while it doesn't know what was used.
func TestDamagedShard(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.GPUHours, b.Thresholds = "4.001", []int{100} })
	gone := d.cluster.start("ml", "gone", 8)
	d.cluster.start("ml", "stays", 8)
	d.run()
	d.cluster.step(15 * time.Minute)
	d.cluster.remove(gone)
	d.run()
	docs, err := d.store().List(context.Background(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		if strings.Contains(doc.Key.Name, "/closed-") {
			spoiled := append(bytes.Clone(doc.Data), 'x')
			spoiled[len(spoiled)/2] ^= 0xff
			if _, err := d.store().Write(context.Background(), doc.Key, spoiled, doc.Revision); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.cluster.step(15 * time.Minute)
	report := d.run()
	wantConsumed(t, report, "4.000") // and 2 that are lost
	d.cluster.step(15 * time.Minute)
	report = d.run()
	if !strings.Contains(strings.Join(report.Warnings, "\n"), "damaged") || report.Budgets[0].Coverage.String() >= "1" {
		t.Errorf("warnings %v, coverage %s", report.Warnings, report.Budgets[0].Coverage)
	}
	if len(d.cluster.evicted) > 0 {
		t.Errorf("%v were evicted", d.cluster.evicted)
	}
}

// TestInstanceEndedByItsPool takes the end of a pod whose machine a spot pool
// ended from the pool's journal, where the cluster tells nothing.
func TestInstanceEndedByItsPool(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	uid := d.cluster.start("ml", "a", 2, func(s *gpu.Sighting) { s.Node.ProviderID = "qcloud:///800001/ins-a1b2c3d4" })
	d.run()
	d.cluster.step(15 * time.Minute)
	journal, err := declaration.Encode(spotpool.Journal{Past: []spotpool.Past{{InstanceID: "ins-a1b2c3d4", EndedAt: d.cluster.now}}})
	if err != nil {
		t.Fatal(err)
	}
	key := store.Key{Kind: store.Journals, Name: "ap-singapore/train/0123456789abcdef0123456789abcdef"}
	if _, err := d.store().Write(context.Background(), key, journal, ""); err != nil {
		t.Fatal(err)
	}
	d.cluster.remove(uid)
	d.cluster.forget()
	d.cluster.step(30 * time.Minute)
	report := d.run()
	wantConsumed(t, report, "0.500")
	if got := report.Budgets[0].EstimatedGPUHours; got != "0.000" {
		t.Errorf("%s GPU-hours are estimated", got)
	}
	live, err := d.engine().BudgetUsage(context.Background(), "team-a")
	if err != nil || live.Pods[0].Record.End.Source != ledger.InstanceEnded || live.Pods[0].Record.Place.SpotPool != "" {
		t.Errorf("the record: %v, %+v", err, live.Pods)
	}
}

// TestNewerStatus leaves a status alone that a newer gpupool wrote.
func TestNewerStatus(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare()
	d.run()
	key := store.Key{Kind: store.Statuses, Name: "budgets/team-a"}
	doc, err := d.store().Read(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Replace(doc.Data, []byte(`"version": 1`), []byte(`"version": 9`), 1)
	if _, err := d.store().Write(context.Background(), key, newer, doc.Revision); err != nil {
		t.Fatal(err)
	}
	report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || report.Budgets[0].Outcome != reconcile.Failed || !strings.Contains(report.Budgets[0].Error.Message, "upgrade gpupool") {
		t.Errorf("got %v, %+v", err, report.Budgets)
	}
	if doc, err = d.store().Read(context.Background(), key); err != nil || !bytes.Equal(doc.Data, newer) {
		t.Errorf("it was replaced: %v", err)
	}
}

// TestInterruptedRun takes no new action once it is told to stop, and says which
// budgets are left to the next run.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Observe", "Freeze"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
			d.cluster.start("ml", "a", 8)
			d.cluster.step(time.Hour)
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			d.cluster.during = func(m string) {
				if m == method {
					stop()
				}
			}
			if method == "Observe" {
				d.cluster.failing["Observe"] = context.Canceled
			}
			report, err := d.engine().Run(ctx, reconcile.RunOptions{})
			if err != nil || report.Budgets[0].Outcome != reconcile.Skipped || len(d.cluster.evicted) > 0 {
				t.Errorf("got %v, %+v, evicted %v", err, report.Budgets, d.cluster.evicted)
			}
			if method == "Freeze" {
				wantTold(t, report, "done alert", "done freeze", "skipped evict a")
			}
			d.cluster.during = nil
			delete(d.cluster.failing, "Observe")
			d.run()
			if len(d.cluster.evicted) != 1 {
				t.Errorf("the next run did not go on: %v", d.cluster.acts)
			}
		})
	}
}

// TestUnusableRecordFailsItsBudgetAlone goes on with the others, and forgets
// nothing that the broken one may need.
func TestUnusableRecordFailsItsBudgetAlone(t *testing.T) {
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
			d := newDesk(t)
			d.declare(func(b *budget.Declaration) { b.Window = "1h" })
			d.declare(func(b *budget.Declaration) { b.Name, b.Window = "long", "30d" })
			uid := d.cluster.start("ml", "a", 2)
			d.cluster.step(time.Hour)
			d.run()
			d.cluster.remove(uid)
			key := store.Key{Kind: store.Budgets, Name: "long"}
			doc, err := d.store().Read(context.Background(), key)
			if err != nil {
				t.Fatal(err)
			}
			revision, err := d.store().Write(context.Background(), key, spoil(t, doc.Data), doc.Revision)
			if err != nil {
				t.Fatal(err)
			}
			d.cluster.step(72 * time.Hour)
			report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
			if err != nil || report.Budgets[0].Outcome != reconcile.Failed || report.Budgets[1].Outcome != reconcile.Done {
				t.Fatalf("got %v, %+v", err, report.Budgets)
			}
			if _, err := d.store().Write(context.Background(), key, doc.Data, revision); err != nil {
				t.Fatal(err)
			}
			if got := d.run().Budgets[0].ConsumedGPUHours; got != "2.000" {
				t.Errorf("put back, it counts %s GPU-hours, want 2.000", got)
			}
		})
	}
}
