package budgets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// pausing is what one budget pauses and resumes by.
type pausing struct {
	*Flow
	cluster Cluster
	budget  budget.Declaration // of a destroyed one, its name, uid and cluster
	// selectors are those of the other budgets that are declared: the labels that they
	// ask for are worth keeping of what is paused.
	selectors []budget.Selector
	// wanted names another budget that is exceeded and would hold a workload, if
	// any. Nil where nobody knows.
	wanted func(seen budget.WorkloadState) string
	// learn hears what the budget holds after each batch; nil where nobody does.
	learn func(holds []declaration.Pause)
}

// batch is how many workloads are paused or resumed between two writes of what is
// held.
const batch = 25

// attemptsAtMost is how often a workload is looked at anew that others write to.
const attemptsAtMost = 5

// pausesLock is the lock under which anything of what any budget holds is changed:
// two may let a workload go and take it at once, one in a run, one that is
// destroyed. It is held for one batch, so that one may wait for it.
const (
	pausesLock     = "pauses"
	pausesLockWait = 30 * time.Second
)

// errNotCome says that the time was over before a workload's turn came.
var errNotCome = errors.New("the time was over before its turn came")

// turn is one workload on its way to be paused or resumed: what is to come of it is
// written down, and not done yet.
type turn struct {
	at           int // in the list of the batch
	seen         budget.WorkloadState
	before, hold declaration.Pause // before has no phase where there was none
}

// holding is what a batch goes by, read under its lock.
type holding struct {
	own *holds
	all held
}

// way is how a batch is gone about, for each of its workloads.
type way struct {
	// look decides what becomes of a workload, and changes the holds. It returns
	// nothing to do where nothing is left to, and then the error is what became of it.
	look func(ctx context.Context, h holding, w budget.Workload) (*turn, error)
	do   func(ctx context.Context, t *turn) error
	// settle changes the holds by what became of it.
	settle func(h holding, t *turn, err error) error
}

// together takes a batch of workloads a way: what is to be done is written before
// any of it is done, so that whoever comes after a kill knows whose each is and how
// large it was, and what became of it after all of it is. The errors are by workload.
func (p pausing) together(ctx context.Context, list []budget.Workload, by way) []error {
	errs := make([]error, len(list))
	calling, release := record.Outliving(ctx)
	defer release()
	err := p.Keeper.WithLock(calling, pausesLock, max(p.Keeper.LockTimeout, pausesLockWait), func(calling context.Context) error {
		all, err := p.held(calling)
		if err != nil {
			return err
		}
		if err := all.broken[p.budget.UID]; err != nil {
			return err
		}
		h := holding{own: all.of(p.budget.UID), all: all}
		if h.own == nil {
			h.own = &holds{uid: p.budget.UID, budget: p.budget.Name, clusterUID: p.budget.ClusterUID}
		}
		if p.learn != nil {
			defer func() { p.learn(h.own.all()) }()
		}
		left := make([]int, len(list))
		for n := range left {
			left[n] = n
		}
		for attempt := 1; len(left) > 0; attempt++ {
			if left, err = p.attempt(ctx, calling, h, by, list, left, errs, attempt == attemptsAtMost); err != nil {
				return err
			}
		}
		return nil
	})
	for n := range errs {
		if errs[n] == nil {
			errs[n] = err
		}
	}
	return errs
}

// attempt takes the workloads that are left of a batch one step on, and returns
// those that others wrote to meanwhile. Calls outlive the run's own context, and
// nothing new begins once that is over.
func (p pausing) attempt(ctx, calling context.Context, h holding, by way, list []budget.Workload, left []int, errs []error, last bool) (changed []int, err error) {
	var turns []*turn
	for _, n := range left {
		if ctx.Err() != nil {
			errs[n] = errNotCome
			continue
		}
		t, err := by.look(calling, h, list[n])
		errs[n] = err
		if t != nil {
			t.at = n
			h.own.set(t.hold)
			turns = append(turns, t)
		}
	}
	if err := h.save(calling, p.Keeper.Store); err != nil {
		return nil, err
	}
	for _, t := range turns {
		if ctx.Err() != nil {
			errs[t.at] = errNotCome
			h.own.restore(t)
			continue
		}
		err := by.do(calling, t)
		if errors.Is(err, budget.ErrWorkloadChanged) && !last {
			h.own.restore(t)
			changed = append(changed, t.at)
			continue
		}
		if errors.Is(err, budget.ErrWorkloadChanged) {
			err = &budget.NotPausedError{Workload: list[t.at], Reason: budget.ErrWorkloadChanged.Error()}
		}
		errs[t.at] = by.settle(h, t, err)
	}
	return changed, h.save(calling, p.Keeper.Store)
}

// save writes what changed: what is handed on to others before it is let go.
func (h holding) save(ctx context.Context, s store.Store) error {
	for _, of := range h.all.list {
		if of == h.own {
			continue
		}
		if err := of.save(ctx, s); err != nil {
			return err
		}
	}
	return h.own.save(ctx, s)
}

// restore takes back what a turn wrote and did not do.
func (h *holds) restore(t *turn) {
	if t.before.Phase == "" {
		h.drop(t.hold.Workload)
		return
	}
	h.set(t.before)
}

// otherHold is what another budget holds of a workload.
type otherHold struct {
	of   *holds
	hold declaration.Pause
}

// handOn gives others the count of a later pause than theirs: it had that many when
// it was last stopped, and is to get them back from whoever lets it go last.
func handOn(hold declaration.Pause, others []otherHold) {
	for _, o := range others {
		if o.hold.At.Before(hold.At) {
			o.hold.At, o.hold.Replicas = hold.At, hold.Replicas
			o.of.set(o.hold)
		}
	}
}

// others are the holds that other budgets have on a workload, should it be stopped:
// one that was cut short is gone on with by its budget.
func (p pausing) others(h holding, w budget.Workload) ([]otherHold, error) {
	for _, uid := range slices.Sorted(maps.Keys(h.all.broken)) {
		if uid != p.budget.UID {
			return nil, fmt.Errorf("whether another budget holds the %s can't be told: %w", w, h.all.broken[uid])
		}
	}
	var others []otherHold
	for _, of := range h.all.list {
		if of.uid == p.budget.UID || of.clusterUID != p.budget.ClusterUID {
			continue
		}
		if hold := of.of(w); hold.Phase != "" && hold.Phase != declaration.Started {
			others = append(others, otherHold{of, hold})
		}
	}
	return others, nil
}
