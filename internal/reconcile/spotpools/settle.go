package spotpools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// settle waits until what was asked for runs and what was ended is gone. Where
// something comes out differently, it decides again under the lock. It gives up after
// wait, or when nothing is under way and nothing can be done. It waits without the
// lock.
func (p *pass) settle(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	pause := p.flow.pollInterval()
	p.gone = nil // the observation that told so is old by now
	for !p.settled() {
		select {
		case <-ctx.Done():
			p.unsettled(ctx, wait)
			return nil
		case <-time.After(pause):
		}
		pause = min(pause*5/4, 10*p.flow.pollInterval())
		err := p.observeAgain(ctx)
		if err == nil && (len(p.latest.plan.Decisions) > 0 || p.failure != nil) {
			p.failure, p.uncertain = nil, false
			err = p.flow.records().Locked(ctx, p.declaration, func(ctx context.Context) error { return p.actByRecord(ctx) })
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(p.failure, context.DeadlineExceeded) {
			p.failure = nil // the time to wait is up, which is told below
		}
		if err != nil && !worthRetrying(err) && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// actByRecord acts on what is declared now: while nobody held the lock, someone may
// have changed the pool, or begun to destroy it.
func (p *pass) actByRecord(ctx context.Context) error {
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

// observeAgain observes a pool again. Instances that ended since then gave their quota
// and stock back.
func (p *pass) observeAgain(ctx context.Context) error {
	earlier := p.latest
	if err := p.observe(ctx); err != nil || earlier == nil {
		return err
	}
	_, before := earlier.underWay()
	if _, now := p.latest.underWay(); before == 0 || now > 0 {
		return nil
	}
	p.flow.forgetMarkets(p.declaration.Region)
	return p.observe(ctx)
}

// settled reports whether waiting longer would change nothing. What was never
// observed is not settled.
func (p *pass) settled() bool {
	if p.latest == nil {
		return false
	}
	if p.failure != nil {
		return !errors.Is(p.failure, errNotYet) && !worthRetrying(p.failure) && !p.willShow()
	}
	if len(p.latest.plan.Decisions) > 0 || len(p.latest.plan.Journal.Pending) > 0 && p.hold == nil {
		return false
	}
	if len(p.drains()) > 0 && p.nodes.err == nil {
		return false
	}
	launching, ending := p.latest.underWay()
	return launching+ending == 0
}

// willShow reports whether it will show what became of a launch that was left open, so
// that another offering can serve if it had no effect.
func (p *pass) willShow() bool {
	refusal, known := spotpool.AsCloudError(p.failure)
	return p.uncertain && known && refusal.Scope != spotpool.ScopePool
}

// unsettled says what was still under way when the wait ended.
func (p *pass) unsettled(ctx context.Context, wait time.Duration) {
	why := fmt.Sprintf("after %s", wait)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = "at the interrupt"
	}
	if p.latest == nil {
		p.warnings = append(p.warnings, why+", the pool could not be looked at even once; the next plan or reconcile goes on from there")
		return
	}
	launching, ending := p.latest.underWay()
	text := fmt.Sprintf("%s, %d instances were still launching and %d still terminating", why, launching, ending)
	if drains := p.drainTexts(); len(drains) > 0 {
		text += fmt.Sprintf(", and %d %s being drained: %s", len(drains), wording.Plural(len(drains), "node was", "nodes were"), wording.Some(drains))
	}
	p.warnings = append(p.warnings, text+"; the next plan or reconcile goes on from there")
}

// drainTexts say, for people, what the drains wait for, and until when.
func (p *pass) drainTexts() []string {
	texts := p.drains()
	for n, id := range texts {
		texts[n] += ": " + p.latest.drainOf(id)
	}
	return texts
}

// worthRetrying reports whether the same may succeed a little later.
func worthRetrying(err error) bool {
	var there *stillThereError
	switch {
	case record.IsLocked(err):
		return true
	case errors.As(err, &there):
		return there.again()
	}
	cloud, ok := spotpool.AsCloudError(err)
	return ok && cloud.Class == errorclass.Transient
}
