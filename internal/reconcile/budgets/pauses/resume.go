package pauses

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// Resume lets workloads go, and starts those that no other budget holds. The
// error is *budget.NotPausedError where one was left as it is.
func (p Pauser) Resume(ctx context.Context, list []budget.Workload) []error {
	return p.inBatch(ctx, list, protocol{
		intend: p.intendToResume,
		call:   func(ctx context.Context, t *transition) error { return p.Cluster.Resume(ctx, t.seen, t.pause.Replicas) },
		result: func(known batchPauses, t *transition, err error) error {
			var not *budget.NotPausedError
			if err != nil && (!errors.As(err, &not) || !not.Gone) { // refused: it stays the budget's
				return err
			}
			known.own.drop(t.pause.Workload)
			return nil
		},
	})
}

// intendToResume holds the one rule of who starts what several budgets paused. What
// stands stopped is held by each budget that has it as paused, however long it has:
// whoever undid that before, it was undone in turn when it was stopped again. It
// is started by the last that lets it go, and not while another that is exceeded
// has yet to hold it. A Deployment that became a stock pool's is the pool's to start.
func (p Pauser) intendToResume(ctx context.Context, known batchPauses, w budget.Workload) (*transition, error) {
	last := known.own.pauseOf(w)
	if last.Phase == "" {
		return nil, nil
	}
	released := func(reason string) (*transition, error) {
		known.own.drop(w)
		if reason == "" {
			return nil, nil
		}
		return nil, &budget.NotPausedError{Workload: w, Reason: reason, Released: true}
	}
	pool, err := known.stockPoolOf(w)
	if err != nil {
		return nil, err
	}
	if pool != "" {
		return released(pool + " scales it now")
	}
	others, err := p.others(known, w)
	if err != nil {
		return nil, err
	}
	seen, err := p.Cluster.Workload(ctx, last.Workload)
	var not *budget.NotPausedError
	switch {
	case errors.As(err, &not):
		return released("")
	case err != nil:
		return nil, err
	case seen.Stopped && last.Phase != declaration.Started && len(others) > 0:
		handOn(last, others)
		return released("the budget " + others[0].owner.budget + " keeps it paused")
	case last.Phase == declaration.Started && seen.Stopped:
		return released("someone started it again since it was paused, and stopped it; it is left as it is")
	case !seen.Stopped && (last.Phase == declaration.Paused || last.Phase == declaration.Started):
		return released("someone started it again since it was paused; it is left as it is")
	case !seen.Stopped: // never stopped, or started by a run that was killed then
		return released("")
	}
	if p.Wanted != nil {
		if other := p.Wanted(seen); other != "" {
			return nil, &budget.NotPausedError{Workload: w, Reason: "the budget " + other + " is exceeded as well, and has yet to hold it: it stays " +
				"paused until then"}
		}
	}
	t := &transition{seen: seen, before: last, pause: last}
	t.pause.Phase = declaration.Resuming
	return t, nil
}

// MarkStarted notes of workloads that someone started them again, and that the
// budget leaves them so: it holds them no longer, whoever stops them next.
func (p Pauser) MarkStarted(ctx context.Context, list []budget.Workload) error {
	// A note needs no call.
	return errors.Join(p.inBatch(ctx, list, protocol{intend: func(ctx context.Context, known batchPauses, w budget.Workload) (*transition, error) {
		last := known.own.pauseOf(w)
		if last.Phase != declaration.Paused {
			return nil, nil
		}
		seen, err := p.Cluster.Workload(ctx, w)
		if err != nil || seen.Stopped {
			var gone *budget.NotPausedError
			if errors.As(err, &gone) {
				err = nil
			}
			return nil, err
		}
		last.Phase = declaration.Started
		known.own.set(last)
		return nil, nil
	}})...)
}

// LetGo resumes all that a budget which is destroyed has paused. It returns what was
// resumed, and what is to be said of what was left as someone else has it.
func (p Pauser) LetGo(ctx context.Context) (resumed []budget.Workload, messages []string, err error) {
	all, err := Read(ctx, p.Keeper.Store)
	own := all.OfBudget(p.Budget.UID)
	if err = cmp.Or(err, all.Broken[p.Budget.UID]); err != nil || own == nil {
		return nil, nil, err
	}
	for some := range slices.Chunk(own.Workloads(), BatchSize) {
		workloads := make([]budget.Workload, len(some))
		for n, pause := range some {
			workloads[n] = pause.Workload
		}
		for n, failed := range p.Resume(ctx, workloads) {
			var left *budget.NotPausedError
			switch {
			case errors.As(failed, &left) && left.Released:
				messages = append(messages, left.Error())
			case failed != nil:
				err = cmp.Or(err, failed)
			case some[n].Phase == declaration.Paused:
				resumed = append(resumed, workloads[n])
			}
		}
		if err != nil {
			break
		}
	}
	return resumed, messages, err
}
