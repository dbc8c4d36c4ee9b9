package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// poolsAtOnce is how many pools of a run act at the same time.
const poolsAtOnce = 16

// reconcileRegion looks at a region once, and then after each of its pools that
// has something to do.
func (r *run) reconcileRegion(ctx context.Context, region string, targets []target) {
	view, err := r.lookFor(ctx, region, targets)
	if err != nil {
		for _, t := range targets {
			r.add(newPoolReport(t.declaration, nil, Failed, err), nil)
		}
		return
	}
	for _, text := range view.warnings {
		r.warn(text)
	}
	for _, text := range view.markets.warnings(region, slices.ContainsFunc(targets, target.spot)) {
		r.warn(text)
	}
	var group errgroup.Group
	group.SetLimit(poolsAtOnce)
	for _, t := range targets {
		group.Go(func() error { r.reconcilePool(ctx, view, t); return nil })
	}
	_ = group.Wait()
	if !r.options.Wait && !r.options.DryRun {
		r.confirm(ctx, region, targets)
	}
}

func (r *run) reconcilePool(ctx context.Context, view *regionView, t target) {
	d := t.declaration
	if d.AccountID != view.accountID {
		err := &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: view.accountID}
		r.add(newPoolReport(d, nil, Failed, err), nil)
		return
	}
	gate, gateErr := r.gateBy(ctx, d, r.statuses)
	t.unjudged = gateErr
	plan := spotpool.Decide(spotpool.Situation{
		Declaration: d, Observation: view.observation(d), Journal: t.journal.value, Now: view.at, Gate: gate,
	})
	switch {
	case ctx.Err() != nil:
		r.add(newPoolReport(d, &plan, Skipped, errInterrupted), nil)
	case t.phase == declaration.Creating:
		r.leaveCreation(ctx, t, plan)
	case t.phase == declaration.Deleting:
		r.finishDeletion(ctx, t, plan)
	case len(plan.Decisions) == 0:
		if !r.options.DryRun {
			if err := r.keepJournal(ctx, d, t.journal, plan.Journal); err != nil {
				r.warn(err.Error())
			}
		}
		r.add(t.report(plan, idleOutcome(plan)), nil)
	case r.options.DryRun:
		results := make([]Result, len(plan.Decisions))
		for n, decision := range plan.Decisions {
			results[n] = poolResult(decision, Planned, nil)
		}
		r.add(t.report(plan, Planned), results)
	default:
		r.actOn(ctx, t, view, gate, plan)
	}
}

// actOn carries decisions out under the pool's lock, on a fresh look.
func (r *run) actOn(ctx context.Context, t target, view *regionView, gate spotpool.Gate, seen spotpool.Plan) {
	a := &attempt{declaration: t.declaration, gate: gate, gone: view.gone}
	a.saw(seen, view.observation(t.declaration))
	err := r.withLock(ctx, t.declaration.Key(), func(ctx context.Context) error {
		// The declaration may have changed since it was listed.
		record, err := r.loadRecord(ctx, t.declaration.Key())
		if err != nil {
			return err
		}
		if !record.exists() || record.value.Phase != t.phase || record.value.Declaration.UID != t.declaration.UID {
			return errGone
		}
		a.declaration = record.value.Declaration
		return r.act(ctx, a)
	})
	if err == nil && r.options.Wait {
		err = r.settle(ctx, a, r.options.WaitTimeout)
	}
	switch {
	case isLocked(err):
		r.add(newPoolReport(t.declaration, &seen, Skipped, err), nil)
	case errors.Is(err, errGone):
		r.add(newPoolReport(t.declaration, &seen, Skipped, err), nil)
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(a.failure, context.Cause(ctx))):
		r.add(newPoolReport(t.declaration, a.plan(), Skipped, errInterrupted), a.results)
	case err != nil:
		r.add(newPoolReport(t.declaration, a.plan(), Failed, err), a.results)
	case a.failure != nil && !errors.Is(a.failure, errNotYet):
		r.add(newPoolReport(t.declaration, a.plan(), Failed, a.failure), a.results)
	default:
		t.declaration = a.declaration
		r.add(t.report(*a.plan(), actedOutcome(*a.plan())), a.results)
	}
}

var errInterrupted = errors.New("the run was interrupted: the next one goes on with this pool")

var errGone = errors.New("the pool was changed or destroyed by someone else while this run looked at it")

// forgottenAfter is how long a creation may stand still before it counts as failed:
// longer than any apply is meant to take.
const forgottenAfter = time.Hour

// leaveCreation leaves a creation that is not finished to terraform apply. One that
// is under way is somebody's; one that stands still for long is nobody's.
func (r *run) leaveCreation(ctx context.Context, t target, plan spotpool.Plan) {
	key := t.declaration.Key()
	still := r.now().Sub(t.updatedAt)
	if still > forgottenAfter && !r.options.DryRun {
		err := r.withNamedLock(ctx, createLockName(key), 0, func(context.Context) error { return nil })
		if isLocked(err) {
			still = 0
		}
	}
	if still <= forgottenAfter {
		err := errors.New("its creation is not finished: it is under way, or was interrupted and the next terraform apply resumes it")
		r.add(newPoolReport(t.declaration, &plan, Skipped, err), nil)
		return
	}
	err := fmt.Errorf("its creation was interrupted at %s, and nobody has gone on with it: nothing keeps its minimum until terraform apply resumes it. Where the state that declared it is lost, import it first: terraform import ADDRESS %s", t.updatedAt.UTC().Format(time.RFC3339), key)
	r.add(newPoolReport(t.declaration, &plan, Failed, err), nil)
}

// finishDeletion goes on with a deletion that was interrupted.
func (r *run) finishDeletion(ctx context.Context, t target, plan spotpool.Plan) {
	d := t.declaration
	if r.options.DryRun {
		r.add(newPoolReport(d, &plan, Planned, errors.New("its deletion was begun: the next run finishes it")), nil)
		return
	}
	wait := 30 * time.Second
	if r.options.Wait {
		wait = r.options.WaitTimeout
	}
	results, err := r.finishDelete(ctx, d, time.Now().Add(wait))
	switch {
	case isLocked(err):
		r.add(newPoolReport(d, &plan, Skipped, err), results)
	case err != nil:
		r.add(newPoolReport(d, &plan, Failed, err), results)
	default:
		d.Minimum, d.Maximum = 0, 0
		report := newPoolReport(d, &spotpool.Plan{Notices: []string{"its deletion is finished: nothing of it is left"}}, Done, nil)
		report.Deleted = true
		r.add(report, results)
	}
}

// report is the report of a pool with which nothing went wrong, unless its gate
// can't be told.
func (t target) report(p spotpool.Plan, outcome Outcome) PoolReport {
	if t.unjudged != nil {
		outcome = Failed
	}
	return newPoolReport(t.declaration, &p, outcome, t.unjudged)
}

func idleOutcome(p spotpool.Plan) Outcome {
	if p.Shortfall > 0 {
		return Short
	}
	return Done
}

// actedOutcome judges a pool after it was acted on: what is launching counts.
func actedOutcome(p spotpool.Plan) Outcome {
	if p.Shortfall > 0 && len(p.Decisions) == 0 {
		return Short
	}
	return Done
}

// newPoolReport reports on a pool by the plan over what was last seen of it; nil
// where it could not be looked at.
func newPoolReport(d spotpool.Declaration, p *spotpool.Plan, outcome Outcome, err error) PoolReport {
	report := PoolReport{Name: d.Name, Region: d.Region, UID: d.UID, Outcome: outcome, Error: NewErrorReport(err)}
	if p != nil {
		report.Counts, report.Observed, report.Gate = p.Counts, true, newGateReport(d, *p)
		report.Short, report.Notices, report.Warnings = p.Short, p.Notices, p.Warnings
	}
	report.Counts.Minimum, report.Counts.Maximum = d.Minimum, d.Maximum
	return report
}
