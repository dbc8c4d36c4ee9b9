package loop

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Run is one run over the declarations of one kind.
type Run[D record.Declaration[D], R Report] struct {
	kind     Kind[D, R]
	chosen   func(key string) bool
	listed   []Target[D]
	recorded map[string]bool // by uid
	taken    []string        // the keys of resources of a Terraform state
	targets  []Target[D]

	mu      sync.Mutex
	reports []R
	results []outcome.Result
}

// New returns a run over the declarations with selected keys.
func New[D record.Declaration[D], R Report](kind Kind[D, R], chosen func(key string) bool) *Run[D, R] {
	return &Run[D, R]{kind: kind, chosen: chosen, recorded: map[string]bool{}}
}

// Read reads all records of the kind. An unreadable one fails only itself.
func (r *Run[D, R]) Read(ctx context.Context) error {
	var err error
	if r.listed, err = r.kind.Records().List(ctx); err != nil {
		return err
	}
	for _, t := range r.listed {
		if t.Err == nil {
			uid, _ := t.Record.Declaration.Identity()
			r.recorded[uid] = true
		}
		switch {
		case !r.chosen(t.Key):
		case t.Err != nil:
			r.fail(t, t.Err)
		default:
			r.targets = append(r.targets, t)
		}
	}
	return nil
}

// Open reads further documents of each target. An error fails only that target.
func (r *Run[D, R]) Open(open func(Target[D]) error) {
	r.targets = slices.DeleteFunc(r.targets, func(t Target[D]) bool {
		err := open(t)
		if err != nil {
			r.fail(t, err)
		}
		return err != nil
	})
}

// TakeOver adds the selected resources of a Terraform state to the store. An error fails
// only that resource.
func (r *Run[D, R]) TakeOver(state []declaration.StateResource[D], take func(declaration.StateResource[D]) error) {
	for _, s := range state {
		key := s.Declaration.Key()
		r.taken = append(r.taken, key)
		if !r.chosen(key) {
			continue
		}
		if err := take(s); err != nil {
			r.fail(Target[D]{Key: key, Record: declaration.Record[D]{Declaration: s.Declaration}}, err)
		}
	}
}

// Reconcile reconciles the targets.
func (r *Run[D, R]) Reconcile(ctx context.Context) {
	if len(r.targets) == 0 {
		return
	}
	works, schedule, err := r.kind.Begin(ctx, r.targets)
	if err != nil {
		if ctx.Err() != nil { // the cause of any error
			err = context.Cause(ctx)
		}
		for _, t := range r.targets {
			r.add(r.kind.Unprocessed(t, r.ending(ctx, err)), nil)
		}
		return
	}
	turns := make([]Turn, len(works))
	for n, work := range works {
		turns[n] = (&job[D, R]{run: r, target: r.targets[n], work: work, next: Observe}).step
	}
	schedule(ctx, turns)
}

func (r *Run[D, R]) fail(t Target[D], err error) {
	r.add(r.kind.Unprocessed(t, Ending{Became: outcome.Failed, Why: err}), nil)
}

func (r *Run[D, R]) add(report R, results []outcome.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, report)
	r.results = append(r.results, results...)
}

// Keys are the keys of all records, and of resources of a Terraform state, selected or not.
func (r *Run[D, R]) Keys() []string {
	keys := slices.Clone(r.taken)
	for _, t := range r.listed {
		keys = append(keys, t.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Recorded reports whether the store has a readable record with this UID.
func (r *Run[D, R]) Recorded(uid string) bool { return r.recorded[uid] }

// Listed are all records of the store, selected or not.
func (r *Run[D, R]) Listed() []Target[D] { return r.listed }

// Targets are the declarations that the run reconciles.
func (r *Run[D, R]) Targets() []Target[D] { return r.targets }

// Reports are the reports by name.
func (r *Run[D, R]) Reports() []R {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := append([]R{}, r.reports...)
	slices.SortFunc(list, func(a, b R) int { return strings.Compare(a.Summary().Name, b.Summary().Name) })
	return list
}

// Results are the results of decisions.
func (r *Run[D, R]) Results() []outcome.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.results)
}
