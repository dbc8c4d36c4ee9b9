package pauses

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// BatchSize is how many workloads are paused or resumed between two writes of what
// is paused.
const BatchSize = 25

// attemptsAtMost is how often a workload is observed anew that others write to.
const attemptsAtMost = 5

// pausesLock is the lock under which anything of what any budget has paused is
// changed: two may let a workload go and take it at once, one in a run, one that is
// destroyed. It is held for one batch, so that one may wait for it.
const (
	pausesLock     = "pauses"
	pausesLockWait = 30 * time.Second
)

// ErrNotBegun says that the time was over before a workload was begun with.
var ErrNotBegun = errors.New("the time was over before it was begun")

// protocol is what is done to each workload of a batch: one for pausing, one for
// resuming, one for noting what someone started again.
type protocol struct {
	// intend observes a workload and says what is to become of it. Nil means that no
	// call is needed: intend has then changed the pauses itself, where they are to, and
	// the error is what became of the workload.
	intend func(ctx context.Context, known batchPauses, w budget.Workload) (*transition, error)
	// call has the cluster do it.
	call func(ctx context.Context, t *transition) error
	// result changes the pauses by what the call came to, and returns what became of
	// the workload.
	result func(known batchPauses, t *transition, err error) error
}

// transition is one workload on its way to be paused or resumed: pause is the intent,
// written before the call; before is what stood in its place.
type transition struct {
	at     int // in the batch
	seen   budget.WorkloadState
	before declaration.Pause // without a phase where there was none
	pause  declaration.Pause
}

// batchPauses are the pauses that a batch goes by and changes, as they were read
// under the pauses lock.
type batchPauses struct {
	own *Paused // of the budget that the batch is for
	all All     // of every budget; own is not among them where it had none
	// stock are the stock pools that scale a Deployment by themselves, by its uid, as far
	// as unread is nil.
	stock  map[string]string
	unread error
}

// stockPoolOf names the stock pool that scales a workload in the place of budgets; empty
// where none does.
func (k batchPauses) stockPoolOf(w budget.Workload) (string, error) {
	if pool := k.stock[w.UID]; pool != "" || k.unread == nil || w.Kind != "Deployment" {
		return pool, nil
	}
	return "", fmt.Errorf("whether a stock pool scales the %s can't be told: %w", w, k.unread)
}

// inBatch changes workloads under the pauses lock in three steps: write the intent
// of all, call for each, write the result of all. After a kill the intents say whose
// each workload is, and how large it was. A workload that someone else wrote to
// between its observation and its call goes through them again. The errors are by workload.
func (p Pauser) inBatch(ctx context.Context, workloads []budget.Workload, steps protocol) []error {
	b := &batch{Pauser: p, steps: steps, workloads: workloads, errs: make([]error, len(workloads))}
	calling, release := record.Outliving(ctx)
	defer release()
	err := p.Keeper.WithLock(calling, pausesLock, max(p.Keeper.LockTimeout, pausesLockWait), func(calling context.Context) error {
		return b.run(ctx, calling)
	})
	for n := range b.errs {
		if b.errs[n] == nil {
			b.errs[n] = err
		}
	}
	return b.errs
}

// batch is one inBatch at work. Its calls outlive the run's own context, and nothing
// new is begun once that is over.
type batch struct {
	Pauser
	steps     protocol
	workloads []budget.Workload
	errs      []error // by workload
	known     batchPauses
}

// run takes all workloads through the steps. The pauses lock must be held.
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
		if err := b.known.save(calling, b.Keeper.Store); err != nil {
			return err
		}
		left = b.call(ctx, calling, intents, attempt == attemptsAtMost)
		if err := b.known.save(calling, b.Keeper.Store); err != nil {
			return err
		}
	}
	return nil
}

// read reads what budgets have paused.
func (b *batch) read(ctx context.Context) error {
	all, err := Read(ctx, b.Keeper.Store)
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
	b.known.stock, b.known.unread = b.Keeper.StockDeployments(ctx)
	return nil
}

// intend observes workloads, by their numbers in the batch, and takes up what is to
// become of those that a call is needed for.
func (b *batch) intend(ctx, calling context.Context, left []int) []*transition {
	var intents []*transition
	for _, n := range left {
		if ctx.Err() != nil {
			b.errs[n] = ErrNotBegun
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

// call does what was intended, and takes up what came of it. It returns the numbers
// of the workloads that someone else wrote to meanwhile, unless this attempt is the
// last.
func (b *batch) call(ctx, calling context.Context, intents []*transition, last bool) (again []int) {
	for _, t := range intents {
		if ctx.Err() != nil {
			b.errs[t.at] = ErrNotBegun
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
			err = &budget.NotPausedError{Workload: b.workloads[t.at], Reason: budget.ErrWorkloadChanged.Error()}
		}
		b.errs[t.at] = b.steps.result(b.known, t, err)
	}
	return again
}

// save writes what changed: what is handed on to others before it is let go.
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

// restore takes back the intent of a transition that was not made.
func (p *Paused) restore(t *transition) {
	if t.before.Phase == "" {
		p.drop(t.pause.Workload)
		return
	}
	p.set(t.before)
}
