// Package loop is what a run does with the declarations of one kind, once for all kinds:
// it lists them, looks, locks, reads each again, acts, and says what became of each. What
// is skipped, planned, interrupted or failed is decided here; what there is to see and to
// do is the kind's.
package loop

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Kind is what a run knows of one kind of declarations: D is declared, and R reports on it.
type Kind[D record.Declaration[D], R Report] interface {
	// Records is the life of the kind's records.
	Records() record.Life[D]
	// Begin observes what all share, and returns the work about each target, in their
	// order, and how it is scheduled. An error fails all of them.
	Begin(ctx context.Context, targets []Target[D]) ([]Work[D, R], Schedule, error)
	// Unworked reports on a declaration to which no work came, since it can't be read or
	// since none could begin.
	Unworked(t Target[D], e Ending) R
}

// Target is a declaration that a run sees to.
type Target[D any] = record.Listed[D]

// Report is how one declaration is at the end of a run.
type Report interface{ Summary() outcome.Summary }

// Work is what a run does about one declaration.
type Work[D, R any] interface {
	// Observe sees how it stands, without its lock. It comes first, and again where Act
	// asks for it: what has to settle is waited for here.
	Observe(ctx context.Context) (Next, error)
	// Act acts on it under its lock, by its record as that is now.
	Act(ctx context.Context, now record.Stored[D]) (Next, error)
	// Report says how it ended, and what became of its decisions.
	Report(ctx context.Context, e Ending) (R, []outcome.Result)
}

// Next is what comes next of a work. The zero value is none, and fails it.
type Next int

// The next steps.
const (
	Done    Next = iota + 1
	Observe      // again, or for the first time
	Act          // under the lock
)

// Ending is how a work ended: what became of it, and why, where it is not simply done.
type Ending struct {
	Became outcome.Outcome
	Why    error
}

// Skip is an error for which the work is skipped, and has not failed.
func Skip(why error) error { return &skip{why} }

type skip struct{ why error }

func (s *skip) Error() string { return s.why.Error() }
func (s *skip) Unwrap() error { return s.why }

// GoneError says that what was observed is not there any more as it was.
type GoneError struct{ Noun string }

// Error says so.
func (e *GoneError) Error() string {
	return fmt.Sprintf("the %s was changed or destroyed by someone else while this run looked at it", e.Noun)
}

// InterruptedError says that a run was asked to stop before it was done with something.
type InterruptedError struct {
	Noun string
	// Cause is why it stopped, see context.Cause.
	Cause error
}

// Error says so, and what comes next.
func (e *InterruptedError) Error() string {
	return "the run was interrupted: the next one goes on with this " + e.Noun
}

// Unwrap returns why it stopped.
func (e *InterruptedError) Unwrap() error { return e.Cause }

// Schedule takes the turns of all works, each until it says that no more are left.
type Schedule func(ctx context.Context, turns []Turn)

// Turn takes one step of a work, and says whether there are more.
type Turn func(ctx context.Context) (more bool)

// atOnce is how many works a kind does at the same time.
const atOnce = 16

// Parallel does several works at the same time.
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

// job is one work under way.
type job[D record.Declaration[D], R Report] struct {
	run    *Run[D, R]
	target Target[D]
	work   Work[D, R]
	next   Next
}

// step takes the next step, and reports where it was the last.
func (j *job[D, R]) step(ctx context.Context) (more bool) {
	var err error
	switch j.next {
	case Observe:
		j.next, err = j.work.Observe(ctx)
	case Act:
		j.next, err = j.act(ctx)
	default:
		err = fmt.Errorf("what comes next of %s is not known", j.target.Key)
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

// act takes the lock, and has the work act on the record as it is now.
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

// ending is how a work ended, by its error.
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
