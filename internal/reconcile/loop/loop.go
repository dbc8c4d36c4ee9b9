// Package loop is the part of a run that all kinds of declarations share. It lists
// declarations, observes, locks, reads each one again, acts and reports. It decides what is
// skipped, planned, interrupted or failed; each kind implements observations and actions.
package loop

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Kind is one kind of declarations: D is the declaration, and R its report.
type Kind[D record.Declaration[D], R Report] interface {
	// Records returns the records of the kind.
	Records() record.Lifecycle[D]
	// Begin observes what all targets share, and returns the work of each one in order, and
	// a schedule. An error fails all of them.
	Begin(ctx context.Context, targets []Target[D]) ([]Work[D, R], Schedule, error)
	// Unprocessed reports a declaration without work: it is unreadable, or Begin failed.
	Unprocessed(t Target[D], e Ending) R
}

// Target is a declaration that a run reconciles.
type Target[D any] = record.Listed[D]

// Report is the result of a run for one declaration.
type Report interface{ Summary() outcome.Summary }

// Work reconciles one declaration.
type Work[D, R any] interface {
	// Observe observes the object without its lock. It comes first, and again if Act returns
	// it, to wait for results.
	Observe(ctx context.Context) (Next, error)
	// Act changes the object under its lock, with its current record.
	Act(ctx context.Context, now record.Stored[D]) (Next, error)
	// Report returns the report and the results of decisions.
	Report(ctx context.Context, e Ending) (R, []outcome.Result)
}

// Next is the next step of a work. The zero value is invalid, and fails it.
type Next int

// The next steps.
const (
	Done    Next = iota + 1
	Observe      // again, or for the first time
	Act          // under the lock
)

// Ending is the outcome of a work, with an error unless it is done.
type Ending struct {
	Became outcome.Outcome
	Why    error
}

// Skip is an error that skips the work instead of failing it.
func Skip(why error) error { return &skip{why} }

type skip struct{ why error }

func (s *skip) Error() string { return s.why.Error() }
func (s *skip) Unwrap() error { return s.why }

// GoneError is the error that the record changed after the observation.
type GoneError struct{ Noun string }

// Because names the kind of object.
func (e *GoneError) Because() reason.Reason { return reason.ChangedMeanwhile(reason.Word(e.Noun)) }

// Error is Because as text.
func (e *GoneError) Error() string { return e.Because().String() }

// InterruptedError is the error that a run was interrupted before it finished an object.
type InterruptedError struct {
	Noun string
	// Cause is context.Cause of the run.
	Cause error
}

// Because names the kind of object.
func (e *InterruptedError) Because() reason.Reason { return reason.RunInterrupted(reason.Word(e.Noun)) }

// Error is Because as text.
func (e *InterruptedError) Error() string { return e.Because().String() }

// Unwrap returns the cause.
func (e *InterruptedError) Unwrap() error { return e.Cause }

// Schedule takes turns of all works until none has more.
type Schedule func(ctx context.Context, turns []Turn)

// Turn takes one step of a work, and reports whether there are more.
type Turn func(ctx context.Context) (more bool)

// atOnce is the number of concurrent works of a kind.
const atOnce = 16

// Parallel schedules works concurrently.
func Parallel(ctx context.Context, turns []Turn) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, turn := range turns {
		group.Go(func() error {
			for turn(ctx) {
			}
			return nil
		})
	}
	_ = group.Wait()
}

// job is one work in progress.
type job[D record.Declaration[D], R Report] struct {
	run    *Run[D, R]
	target Target[D]
	work   Work[D, R]
	next   Next
}

// step takes the next step, and adds the report after the last one.
func (j *job[D, R]) step(ctx context.Context) (more bool) {
	var err error
	switch j.next {
	case Observe:
		j.next, err = j.work.Observe(ctx)
	case Act:
		j.next, err = j.act(ctx)
	default:
		err = fmt.Errorf("invalid next step of %s", j.target.Key)
	}
	if err == nil && j.next == Act && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && j.next != Done {
		return true
	}
	j.run.add(j.work.Report(ctx, j.run.ending(ctx, err)))
	return false
}

// act locks the object and calls Act with the current record.
func (j *job[D, R]) act(ctx context.Context) (next Next, err error) {
	life, d := j.run.kind.Records(), j.target.Record.Declaration
	ctx, release, err := life.Lock(ctx, d.Object(), life.LockTimeout)
	if err != nil {
		return 0, err
	}
	defer release(&err)
	// The declaration may have changed since it was listed.
	now, err := life.Still(ctx, d, j.target.Record.Phase)
	if err != nil {
		return 0, err
	}
	if now == nil {
		return 0, &GoneError{life.Noun()}
	}
	return j.work.Act(ctx, *now)
}

// ending is the outcome of a work by its error.
func (r *Run[D, R]) ending(ctx context.Context, err error) Ending {
	var skipped *skip
	var gone *GoneError
	switch {
	case err == nil:
		return Ending{Became: outcome.Done}
	case errors.Is(err, outcome.ErrPlanned):
		return Ending{Became: outcome.Planned, Why: outcome.ErrDeletionPlanned}
	case errors.As(err, &skipped):
		return Ending{Became: outcome.Skipped, Why: skipped.why}
	case record.IsLocked(err), errors.As(err, &gone):
		return Ending{Became: outcome.Skipped, Why: err}
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return Ending{Became: outcome.Skipped, Why: &InterruptedError{Noun: r.kind.Records().Noun(), Cause: context.Cause(ctx)}}
	}
	return Ending{Became: outcome.Failed, Why: err}
}
