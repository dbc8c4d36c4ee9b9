package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// settle waits until what was asked for is there and what was ended is gone,
// and decides again, under the lock, whenever something comes out differently.
// It gives up when nothing is under way and nothing can be done, and after wait.
// Nothing holds the lock while it waits.
func (e *Engine) settle(ctx context.Context, a *attempt, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	pause := e.pollInterval()
	a.gone = nil // that was long ago by now
	for !a.settled() {
		select {
		case <-ctx.Done():
			a.unsettled(ctx, wait)
			return nil
		case <-time.After(pause):
		}
		pause = min(pause*5/4, 10*e.pollInterval())
		err := e.look(ctx, a)
		if err == nil && (len(a.plan.Decisions) > 0 || a.failure != nil) {
			a.failure, a.uncertain = nil, false
			err = e.withLock(ctx, a.declaration.Key(), func(ctx context.Context) error { return e.act(ctx, a) })
		}
		if err != nil && !worthRetrying(err) && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// look observes the pool and decides, without acting. What it notices is kept.
func (e *Engine) look(ctx context.Context, a *attempt) error {
	j, err := e.loadJournal(ctx, a.declaration)
	if err != nil {
		return err
	}
	observation, err := e.observePool(ctx, a.declaration, j.value, a.gone)
	if err != nil {
		return err
	}
	if gate := e.gate(ctx, a.declaration); gate.Closed { // what opens, opens to the next run
		a.gate = gate
	}
	a.plan = spotpool.Decide(spotpool.Situation{
		Declaration: a.declaration, Observation: observation, Journal: j.value,
		Now: observation.At, Run: a.run, Gate: a.gate,
	})
	a.observation = observation
	a.notice(a.plan.Notices)
	if err := e.keepJournal(ctx, a.declaration, j, a.plan.Journal); err != nil {
		return err
	}
	e.tell(a.declaration.Object(), fmt.Sprintf("capacity %d of minimum %d", a.plan.Capacity, a.plan.Minimum), &a.plan.Counts)
	return nil
}

// settled reports whether waiting longer would change nothing.
func (a *attempt) settled() bool {
	if a.failure != nil {
		return !errors.Is(a.failure, errNotYet) && !worthRetrying(a.failure) && !a.willTell()
	}
	if len(a.plan.Decisions) > 0 || len(a.plan.Journal.Intents) > 0 {
		return false
	}
	for _, m := range a.plan.Members {
		if m.Condition == spotpool.Launching || m.Condition == spotpool.Terminating {
			return false
		}
	}
	return true
}

// willTell reports whether it will show what became of a launch that was left
// open, so that another offering can serve if it had no effect.
func (a *attempt) willTell() bool {
	refusal, known := spotpool.AsCloudError(a.failure)
	return a.uncertain && known && refusal.Scope != spotpool.ScopePool
}

// unsettled says what was still under way when the wait ended.
func (a *attempt) unsettled(ctx context.Context, wait time.Duration) {
	launching, ending := a.plan.Journal.OpenCount(), 0
	for _, m := range a.plan.Members {
		switch m.Condition {
		case spotpool.Launching:
			launching++
		case spotpool.Terminating:
			ending++
		}
	}
	why := fmt.Sprintf("after %s", wait)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = "at the interrupt"
	}
	a.plan.Warnings = append(a.plan.Warnings, fmt.Sprintf("%s, %d instances were still launching and %d still terminating; the next plan or reconcile goes on from there", why, launching, ending))
}

// worthRetrying reports whether the same may succeed a little later.
func worthRetrying(err error) bool {
	if isLocked(err) {
		return true
	}
	cloud, ok := spotpool.AsCloudError(err)
	return ok && cloud.Class == spotpool.ClassTransient
}
