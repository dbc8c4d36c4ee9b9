package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
)

// report is a report that says how the work ended.
type report struct {
	name string
	loop.Ending
}

func (r report) Summary() outcome.Summary { return outcome.Summary{Name: r.name, Outcome: r.Became} }

// kind does what a test says about each declaration.
type kind struct {
	repository record.Repository
	begin      error
	works      map[string]*work
}

func (k *kind) Records() record.Lifecycle[stockpool.Declaration] {
	return record.StockPools(k.repository)
}

func (k *kind) Begin(_ context.Context, targets []loop.Target[stockpool.Declaration]) ([]loop.Work[stockpool.Declaration, report], loop.Schedule, error) {
	list := make([]loop.Work[stockpool.Declaration, report], len(targets))
	for n, t := range targets {
		w := k.works[t.Key]
		w.name, list[n] = t.Key, w
	}
	return list, loop.Parallel, k.begin
}

func (k *kind) Unprocessed(t loop.Target[stockpool.Declaration], e loop.Ending) report {
	return report{t.Key, e}
}

// work takes the steps that a test says, and notes them.
type work struct {
	name     string
	observes []func(context.Context) (loop.Next, error)
	act      func(context.Context) (loop.Next, error)

	mu    sync.Mutex
	steps []string
}

func (w *work) note(step string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, step)
}

func (w *work) Observe(ctx context.Context) (loop.Next, error) {
	w.note("observe")
	observe := w.observes[0]
	w.observes = w.observes[1:]
	return observe(ctx)
}

func (w *work) Act(ctx context.Context, now record.Stored[stockpool.Declaration]) (loop.Next, error) {
	w.note(fmt.Sprintf("act on %d replicas", now.Value.Declaration.Replicas))
	return w.act(ctx)
}

func (w *work) Report(_ context.Context, e loop.Ending) (report, []outcome.Result) {
	w.note("report")
	return report{w.name, e}, nil
}

func next(n loop.Next, err error) func(context.Context) (loop.Next, error) {
	return func(context.Context) (loop.Next, error) { return n, err }
}

func pool(name string) stockpool.Declaration {
	return stockpool.Declaration{Name: name, Namespace: "ml", UID: "uid-" + name, ClusterUID: "c", Generation: 1, Replicas: 2}
}

// TestARunEndsWithEachDeclarationInOneWay plays all ways in which a work may end.
func TestARunEndsWithEachDeclarationInOneWay(t *testing.T) {
	t.Parallel()
	refused := errors.New("the cluster refuses it")
	for name, tt := range map[string]struct {
		work   *work
		before func(t *testing.T, k *kind, cancel context.CancelFunc)
		became outcome.Outcome
		why    string
		steps  string
	}{
		"nothing is to be done": {work: &work{observes: steps(next(loop.Done, nil))}, became: outcome.Done, steps: "observe, report"},
		"it is acted on by its record as that is now": {
			work:   &work{observes: steps(next(loop.Act, nil)), act: next(loop.Done, nil)},
			before: func(t *testing.T, k *kind, _ context.CancelFunc) { t.Helper(); scale(t, k, 5) },
			became: outcome.Done, steps: "observe, act on 5 replicas, report",
		},
		"what was done settles": {
			work:   &work{observes: steps(next(loop.Act, nil), next(loop.Done, nil)), act: next(loop.Observe, nil)},
			became: outcome.Done, steps: "observe, act on 2 replicas, observe, report",
		},
		"it can't be observed": {work: &work{observes: steps(next(0, refused))}, became: outcome.Failed, why: refused.Error(), steps: "observe, report"},
		"a step says nothing of the next": {
			work: &work{observes: steps(next(0, nil))}, became: outcome.Failed, why: "invalid next step of ml/a", steps: "observe, report",
		},
		"a dry run": {
			work: &work{observes: steps(next(loop.Act, nil)), act: next(loop.Done, outcome.ErrPlanned)}, became: outcome.Planned,
			why: outcome.ErrDeletionPlanned.Error(), steps: "observe, act on 2 replicas, report",
		},
		"it is passed over": {
			work: &work{observes: steps(next(0, loop.Skip(refused)))}, became: outcome.Skipped, why: refused.Error(), steps: "observe, report",
		},
		"somebody destroyed it": {
			work: &work{observes: steps(next(loop.Act, nil))}, before: func(t *testing.T, k *kind, _ context.CancelFunc) {
				t.Helper()
				if err := k.repository.Store.Delete(t.Context(), store.Key{Kind: store.StockPools, Name: "ml/a"}, load(t, k).Revision); err != nil {
					t.Fatal(err)
				}
			},
			became: outcome.Skipped, why: "another process changed or deleted the stock pool during this run", steps: "observe, report",
		},
		"somebody else has its lock": {
			work: &work{observes: steps(next(loop.Act, nil))}, before: func(t *testing.T, k *kind, _ context.CancelFunc) {
				t.Helper()
				taken, done := make(chan struct{}), t.Context().Done()
				go func() {
					_ = k.repository.WithLock(context.WithoutCancel(t.Context()), "stock_pool/ml/a", 0, func(context.Context) error {
						close(taken)
						<-done
						return nil
					})
				}()
				<-taken
			},
			became: outcome.Skipped, why: "stock_pool/ml/a", steps: "observe, report",
		},
		"it is interrupted before it acts": {
			work:   &work{observes: steps(next(loop.Act, nil)), act: next(loop.Done, nil)},
			before: func(_ *testing.T, _ *kind, cancel context.CancelFunc) { cancel() },
			became: outcome.Skipped, why: "the run was interrupted: the next one continues with this stock pool", steps: "observe, report",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, w := play(t, tt.work, tt.before)
			why := ""
			if got.Why != nil {
				why = got.Why.Error()
			}
			if got.Became != tt.became || !strings.Contains(why, tt.why) || tt.why == "" && why != "" {
				t.Errorf("it ended as %s, %q; want %s, %q", got.Became, why, tt.became, tt.why)
			}
			if steps := strings.Join(w.steps, ", "); steps != tt.steps {
				t.Errorf("the steps are %s, want %s", steps, tt.steps)
			}
		})
	}
}

func steps(list ...func(context.Context) (loop.Next, error)) []func(context.Context) (loop.Next, error) {
	return list
}

// play runs one work, of the pool ml/a. What comes before it acts happens after the run
// has read the records.
func play(t *testing.T, w *work, before func(*testing.T, *kind, context.CancelFunc)) (report, *work) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := newKind(t, map[string]*work{"ml/a": w})
	r := loop.New(k, func(string) bool { return true })
	if err := r.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if before != nil {
		before(t, k, cancel)
	}
	r.Reconcile(ctx)
	reports := r.Reports()
	if len(reports) != 1 || reports[0].name != "ml/a" {
		t.Fatalf("the reports are %+v", reports)
	}
	return reports[0], w
}

func newKind(t *testing.T, works map[string]*work) *kind {
	t.Helper()
	k := &kind{repository: record.Repository{Store: draft.Empty(store.Location{}), Clock: time.Now, Actor: "test"}, works: works}
	for key := range works {
		d := pool(strings.TrimPrefix(key, "ml/"))
		if _, err := k.Records().Save(t.Context(), record.Stored[stockpool.Declaration]{}, declaration.Active, d); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

func load(t *testing.T, k *kind) record.Stored[stockpool.Declaration] {
	t.Helper()
	r, err := k.Records().Load(t.Context(), "ml/a")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func scale(t *testing.T, k *kind, replicas int) {
	t.Helper()
	r := load(t, k)
	d := r.Value.Declaration
	d.Replicas = replicas
	if _, err := k.Records().Save(t.Context(), r, declaration.Active, d); err != nil {
		t.Fatal(err)
	}
}

// TestFailedBeginFailsAllObjects, and an unreadable record fails by itself.
func TestFailedBeginFailsAllObjects(t *testing.T) {
	t.Parallel()
	k := newKind(t, map[string]*work{"ml/a": {}, "ml/b": {}, "ml/left-out": {}})
	k.begin = errors.New("the cluster can't be reached")
	if _, err := k.repository.Store.Write(t.Context(), store.Key{Kind: store.StockPools, Name: "ml/broken"}, []byte("{"), ""); err != nil {
		t.Fatal(err)
	}
	r := loop.New(k, func(key string) bool { return key != "ml/left-out" })
	if err := r.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Open(func(t loop.Target[stockpool.Declaration]) error {
		if t.Key == "ml/b" {
			return errors.New("its journal is damaged")
		}
		return nil
	})
	r.Reconcile(t.Context())
	want := map[string]string{"ml/a": "the cluster can't be reached", "ml/b": "its journal is damaged", "ml/broken": "ml/broken"}
	for _, got := range r.Reports() {
		if says, expected := want[got.name]; !expected || got.Became != outcome.Failed || !strings.Contains(got.Why.Error(), says) {
			t.Errorf("%s: %s, %v", got.name, got.Became, got.Why)
		}
		delete(want, got.name)
	}
	if len(want) > 0 || len(r.Keys()) != 4 || !r.Recorded("uid-left-out") || r.Recorded("uid-broken") {
		t.Errorf("no report on %v; the keys are %v", want, r.Keys())
	}
}
