package spotpools

import (
	"context"
	"errors"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// settle waits until launched instances run and terminated ones are gone. If something turns
// out differently, it decides again under the lock. It returns after wait, or when nothing is
// in progress and nothing can be done. It waits without the lock.
func (p *pass) settle(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	pause := p.flow.pollInterval()
	p.gone = nil // that observation is old by now
	for !p.settled() {
		select {
		case <-ctx.Done():
			p.warnUnsettled(ctx, wait)
			return nil
		case <-time.After(pause):
		}
		pause = min(pause*5/4, 10*p.flow.pollInterval())
		err := p.observeAgain(ctx)
		if err == nil && (len(p.latest.plan.Decisions) > 0 || p.failure != nil) {
			p.failure, p.uncertain = nil, false
			err = p.flow.records().Locked(ctx, p.declaration, func(ctx context.Context) error { return p.actOnRecord(ctx) })
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(p.failure, context.DeadlineExceeded) {
			p.failure = nil // the wait timed out, which is reported below
		}
		if err != nil && !worthRetrying(err) && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// actOnRecord acts by the current record: another process may have changed the pool while the
// lock was free, or begun to destroy it.
func (p *pass) actOnRecord(ctx context.Context) error {
	r, err := p.flow.records().Load(ctx, p.declaration.Key())
	if err != nil {
		return err
	}
	if !r.Exists() || r.Value.Phase == declaration.Deleting || r.Value.Declaration.UID != p.declaration.UID {
		return &loop.GoneError{Noun: p.flow.records().Noun()}
	}
	p.declaration = r.Value.Declaration
	return p.act(ctx)
}

// observeAgain observes a pool again. If instances were terminated since, it forgets the
// markets, since their quota and stock are free.
func (p *pass) observeAgain(ctx context.Context) error {
	earlier := p.latest
	if err := p.observe(ctx); err != nil || earlier == nil {
		return err
	}
	_, before := earlier.inProgress()
	if _, now := p.latest.inProgress(); before == 0 || now > 0 {
		return nil
	}
	p.flow.forgetMarkets(p.declaration.Region)
	return p.observe(ctx)
}

// settled reports whether waiting longer would change nothing. A pool that was never observed
// is not settled.
func (p *pass) settled() bool {
	if p.latest == nil {
		return false
	}
	if p.failure != nil {
		return !errors.Is(p.failure, errNotYet) && !worthRetrying(p.failure) && !p.awaitsOutcome()
	}
	if len(p.latest.plan.Decisions) > 0 || len(p.latest.plan.Journal.Pending) > 0 && p.hold == nil {
		return false
	}
	if len(p.drains()) > 0 && p.nodes.err == nil {
		return false
	}
	launching, terminating := p.latest.inProgress()
	return launching+terminating == 0
}

// awaitsOutcome reports whether an observation can show the outcome of a pending launch, so that
// another offering can be used if it had no effect.
func (p *pass) awaitsOutcome() bool {
	refusal, known := spotpool.AsCloudError(p.failure)
	return p.uncertain && known && refusal.Scope != spotpool.ScopePool
}

// warnUnsettled warns of what was still in progress when the wait ended.
func (p *pass) warnUnsettled(ctx context.Context, wait time.Duration) {
	when := reason.AfterWait(reason.Duration(wait))
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		when = reason.AtInterrupt()
	}
	if p.latest == nil {
		p.warnings = append(p.warnings, reason.NotObserved(when))
		return
	}
	launching, terminating := p.latest.inProgress()
	var waits reason.Clauses
	if launching > 0 {
		waits = append(waits, reason.StillLaunching(reason.Count(launching)))
	}
	if terminating > 0 {
		waits = append(waits, reason.StillTerminating(reason.Count(terminating)))
	}
	if drains := p.drainTexts(); len(drains) > 0 {
		waits = append(waits, reason.StillDraining(reason.Count(len(drains)), drains))
	}
	if len(waits) == 0 {
		waits = append(waits, reason.Unsettled())
	}
	p.warnings = append(p.warnings, reason.NotSettled(when, waits))
}

// drainTexts returns, for people, what the drains wait for, and until when.
func (p *pass) drainTexts() []string {
	texts := p.drains()
	for n, id := range texts {
		texts[n] += ": " + p.latest.drainOf(id)
	}
	return texts
}

// worthRetrying reports whether a retry may succeed soon.
func worthRetrying(err error) bool {
	var there *remainingError
	switch {
	case record.IsLocked(err):
		return true
	case errors.As(err, &there):
		return there.retryable()
	}
	cloud, ok := spotpool.AsCloudError(err)
	return ok && cloud.Class == errorclass.Transient
}
