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

// pauser pauses and resumes workloads for one budget.
type pauser struct {
	keeper  record.Keeper
	clock   func() time.Time
	cluster Cluster
	budget  budget.Declaration // of a destroyed one, its name, uid and cluster
	// declared are the budgets of the run: the labels that their selectors ask for are
	// worth keeping of what is paused.
	declared []budget.Declaration
	// wanted names another budget that is exceeded and would hold a workload, if
	// any. Nil where nobody knows.
	wanted func(seen budget.WorkloadState) string
	// learn hears what the budget has paused after each batch; nil where nobody does.
	learn func(paused []declaration.Pause)
}

// batch is how many workloads are paused or resumed between two writes of what is
// paused.
const batch = 25

// attemptsAtMost is how often a workload is looked at anew that others write to.
const attemptsAtMost = 5

// pausesLock is the lock under which anything of what any budget has paused is
// changed: two may let a workload go and take it at once, one in a run, one that is
// destroyed. It is held for one batch, so that one may wait for it.
const (
	pausesLock     = "pauses"
	pausesLockWait = 30 * time.Second
)

// errNotCome says that the time was over before a workload's turn came.
var errNotCome = errors.New("the time was over before its turn came")

// step is one workload on its way to be paused or resumed: what is to come of it is
// written down, and not done yet.
type step struct {
	at            int // in the list of the batch
	seen          budget.WorkloadState
	before, pause declaration.Pause // before has no phase where there was none
}

// shared is what a batch goes by, read under its lock.
type shared struct {
	own *pauses
	all allPauses
}

// change is what is done to each workload of a batch.
type change struct {
	// look decides what becomes of a workload, and changes the pauses. It returns
	// nothing to do where nothing is left to, and then the error is what became of it.
	look func(ctx context.Context, s shared, w budget.Workload) (*step, error)
	do   func(ctx context.Context, t *step) error
	// settle changes the pauses by what became of it.
	settle func(s shared, t *step, err error) error
}

// together makes a change to a batch of workloads: what is to be done is written
// before any of it is done, so that whoever comes after a kill knows whose each is
// and how large it was, and what became of it after all of it is. The errors are by
// workload.
func (p pauser) together(ctx context.Context, list []budget.Workload, c change) []error {
	errs := make([]error, len(list))
	calling, release := record.Outliving(ctx)
	defer release()
	err := p.keeper.WithLock(calling, pausesLock, max(p.keeper.LockTimeout, pausesLockWait), func(calling context.Context) error {
		all, err := readPauses(calling, p.keeper.Store)
		if err != nil {
			return err
		}
		if err := all.broken[p.budget.UID]; err != nil {
			return err
		}
		s := shared{own: all.of(p.budget.UID), all: all}
		if s.own == nil {
			s.own = &pauses{uid: p.budget.UID, budget: p.budget.Name, clusterUID: p.budget.ClusterUID}
		}
		if p.learn != nil {
			defer func() { p.learn(s.own.all()) }()
		}
		left := make([]int, len(list))
		for n := range left {
			left[n] = n
		}
		for attempt := 1; len(left) > 0; attempt++ {
			if left, err = p.attempt(ctx, calling, s, c, list, left, errs, attempt == attemptsAtMost); err != nil {
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
func (p pauser) attempt(ctx, calling context.Context, s shared, c change, list []budget.Workload, left []int, errs []error, last bool) (again []int, err error) {
	var steps []*step
	for _, n := range left {
		if ctx.Err() != nil {
			errs[n] = errNotCome
			continue
		}
		t, err := c.look(calling, s, list[n])
		errs[n] = err
		if t != nil {
			t.at = n
			s.own.set(t.pause)
			steps = append(steps, t)
		}
	}
	if err := s.save(calling, p.keeper.Store); err != nil {
		return nil, err
	}
	for _, t := range steps {
		if ctx.Err() != nil {
			errs[t.at] = errNotCome
			s.own.restore(t)
			continue
		}
		err := c.do(calling, t)
		if errors.Is(err, budget.ErrWorkloadChanged) && !last {
			s.own.restore(t)
			again = append(again, t.at)
			continue
		}
		if errors.Is(err, budget.ErrWorkloadChanged) {
			err = &budget.NotPausedError{Workload: list[t.at], Reason: budget.ErrWorkloadChanged.Error()}
		}
		errs[t.at] = c.settle(s, t, err)
	}
	return again, s.save(calling, p.keeper.Store)
}

// save writes what changed: what is handed on to others before it is let go.
func (s shared) save(ctx context.Context, st store.Store) error {
	for _, of := range s.all.list {
		if of == s.own {
			continue
		}
		if err := of.save(ctx, st); err != nil {
			return err
		}
	}
	return s.own.save(ctx, st)
}

// restore takes back what a step wrote and did not do.
func (p *pauses) restore(t *step) {
	if t.before.Phase == "" {
		p.drop(t.pause.Workload)
		return
	}
	p.set(t.before)
}

// otherPause is the pause that another budget has of a workload.
type otherPause struct {
	of    *pauses
	pause declaration.Pause
}

// handOn gives others the count of a later pause than theirs: it had that many when
// it was last stopped, and is to get them back from whoever lets it go last.
func handOn(pause declaration.Pause, others []otherPause) {
	for _, o := range others {
		if o.pause.At.Before(pause.At) {
			o.pause.At, o.pause.Replicas = pause.At, pause.Replicas
			o.of.set(o.pause)
		}
	}
}

// others are the pauses that other budgets have of a workload, should it be stopped:
// one that was cut short is gone on with by its budget.
func (p pauser) others(s shared, w budget.Workload) ([]otherPause, error) {
	for _, uid := range slices.Sorted(maps.Keys(s.all.broken)) {
		if uid != p.budget.UID {
			return nil, fmt.Errorf("whether another budget holds the %s can't be told: %w", w, s.all.broken[uid])
		}
	}
	var others []otherPause
	for _, of := range s.all.list {
		if of.uid == p.budget.UID || of.clusterUID != p.budget.ClusterUID {
			continue
		}
		if pause := of.of(w); pause.Phase != "" && pause.Phase != declaration.Started {
			others = append(others, otherPause{of, pause})
		}
	}
	return others, nil
}
