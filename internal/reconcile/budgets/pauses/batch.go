package pauses

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// BatchSize is how many workloads are paused or resumed between two writes of the pauses.
const BatchSize = 25

// maxAttempts limits the attempts for a workload that other processes write to.
const maxAttempts = 5

// pausesLock protects the pauses of all budgets: one budget can release a workload while another
// one pauses it. It is held for one batch only, so that others can wait for it.
const (
	pausesLock     = "pauses"
	pausesLockWait = 30 * time.Second
)

// ErrNotStarted says that the time was over before a workload's turn.
var ErrNotStarted = errors.New("the time was over before its turn")

// protocol is the steps of each workload of a batch: to pause, to resume, or to record a manual resume.
type protocol struct {
	// intend observes a workload and returns the transition to make. Nil means that no call is
	// needed: intend has then changed the pauses itself, and the error is the workload's result.
	intend func(ctx context.Context, known batchPauses, w budget.Workload) (*transition, error)
	// call changes the cluster.
	call func(ctx context.Context, t *transition) error
	// result changes the pauses by the result of the call, and returns that of the workload.
	result func(known batchPauses, t *transition, err error) error
}

// transition pauses or resumes one workload. The pause is the intent, written before the call;
// before is the pause that it replaces.
type transition struct {
	at     int // in the batch
	seen   budget.WorkloadState
	before declaration.Pause // its phase is empty if there was none
	pause  declaration.Pause
}

// batchPauses are the pauses that a batch reads and changes under the pauses lock.
type batchPauses struct {
	own *Paused // of the batch's budget
	all All     // of every budget; without own if that is new
	// stock are the stock pools that scale Deployments, by the Deployment's UID. They are unknown
	// if unread is not nil.
	stock  map[string]string
	unread error
}

// stockPoolOf names the stock pool that scales a workload instead of budgets, or returns "".
func (k batchPauses) stockPoolOf(w budget.Workload) (string, error) {
	if pool := k.stock[w.UID]; pool != "" || k.unread == nil || w.Kind != "Deployment" {
		return pool, nil
	}
	return "", fmt.Errorf("whether a stock pool scales the %s is unknown: %w", w, k.unread)
}

// runBatch changes workloads under the pauses lock in three steps: write the intent of all, call for each,
// write the result of all. After a kill, the intents tell which budget has each workload, and its size. If
// another process writes to a workload between its observation and its call, the steps are repeated for it.
// The errors are by workload.
func (p Pauser) runBatch(ctx context.Context, workloads []budget.Workload, steps protocol) []error {
	b := &batch{Pauser: p, steps: steps, workloads: workloads, errs: make([]error, len(workloads))}
	calling, release := record.WithGrace(ctx)
	defer release()
	err := p.Repository.WithLock(calling, pausesLock, max(p.Repository.LockTimeout, pausesLockWait), func(calling context.Context) error {
		return b.run(ctx, calling)
	})
	for n := range b.errs {
		if b.errs[n] == nil {
			b.errs[n] = err
		}
	}
	return b.errs
}

// batch is one runBatch. Its calls outlive the run's context; once that is over, no other workload
// is started.
type batch struct {
	Pauser
	steps     protocol
	workloads []budget.Workload
	errs      []error // by workload
	known     batchPauses
}

// run requires the pauses lock.
func (b *batch) run(ctx, calling context.Context) error {
	if err := b.read(calling); err != nil {
		return err
	}
	if b.Learn != nil {
		defer func() { b.Learn(b.known.own.Workloads()) }()
	}
	left := make([]int, len(b.workloads))
	for n := range left {
		left[n] = n
	}
	for attempt := 1; len(left) > 0; attempt++ {
		intents := b.intend(ctx, calling, left)
		if err := b.known.save(calling, b.Repository.Store); err != nil {
			return err
		}
		left = b.call(ctx, calling, intents, attempt == maxAttempts)
		if err := b.known.save(calling, b.Repository.Store); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) read(ctx context.Context) error {
	all, err := Read(ctx, b.Repository.Store)
	if err != nil {
		return err
	}
	if err := all.Broken[b.Budget.UID]; err != nil {
		return err
	}
	own := all.OfBudget(b.Budget.UID)
	if own == nil {
		own = &Paused{UID: b.Budget.UID, budget: b.Budget.Name, ClusterUID: b.Budget.ClusterUID}
	}
	b.known = batchPauses{own: own, all: all}
	b.known.stock, b.known.unread = b.Repository.StockDeployments(ctx)
	return nil
}

// intend observes workloads, by their numbers in the batch, and returns the transitions that need a
// call.
func (b *batch) intend(ctx, calling context.Context, left []int) []*transition {
	var intents []*transition
	for _, n := range left {
		if ctx.Err() != nil {
			b.errs[n] = ErrNotStarted
			continue
		}
		t, err := b.steps.intend(calling, b.known, b.workloads[n])
		b.errs[n] = err
		if t != nil {
			t.at = n
			b.known.own.set(t.pause)
			intents = append(intents, t)
		}
	}
	return intents
}

// call makes the transitions and records their results. It returns the numbers of the workloads that another
// process wrote to meanwhile, unless this is the last attempt.
func (b *batch) call(ctx, calling context.Context, intents []*transition, last bool) (again []int) {
	for _, t := range intents {
		if ctx.Err() != nil {
			b.errs[t.at] = ErrNotStarted
			b.known.own.restore(t)
			continue
		}
		err := b.steps.call(calling, t)
		if errors.Is(err, budget.ErrWorkloadChanged) && !last {
			b.known.own.restore(t)
			again = append(again, t.at)
			continue
		}
		if errors.Is(err, budget.ErrWorkloadChanged) {
			err = &budget.NotPausedError{Workload: b.workloads[t.at], Why: reason.Contended()}
		}
		b.errs[t.at] = b.steps.result(b.known, t, err)
	}
	return again
}

// save writes the changes, those of other budgets first: a workload is never without a pause in
// between.
func (k batchPauses) save(ctx context.Context, s store.Store) error {
	for _, other := range k.all.ByBudget {
		if other == k.own {
			continue
		}
		if err := other.save(ctx, s); err != nil {
			return err
		}
	}
	return k.own.save(ctx, s)
}

// restore reverts the intent of a transition that was not made.
func (p *Paused) restore(t *transition) {
	if t.before.Phase == "" {
		p.drop(t.pause.Workload)
		return
	}
	p.set(t.before)
}
