package budgets

import (
	"context"
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// resume lets workloads go, and starts those that no other budget holds. The
// error is *budget.NotPausedError where one was left as it is.
func (p pausing) resume(ctx context.Context, list []budget.Workload) []error {
	return p.together(ctx, list, way{
		look: p.lookToResume,
		do:   func(ctx context.Context, t *turn) error { return p.cluster.Resume(ctx, t.seen, t.hold.Replicas) },
		settle: func(h holding, t *turn, err error) error {
			var not *budget.NotPausedError
			if err != nil && (!errors.As(err, &not) || !not.Gone) { // refused: it stays the budget's
				return err
			}
			h.own.drop(t.hold.Workload)
			return nil
		},
	})
}

// lookToResume holds the one rule of who starts what several budgets paused. What
// stands stopped is held by each budget that has it as paused, however long it has:
// whoever undid that before, it was undone in turn when it was stopped again. It
// is started by the last that lets it go, and not while another that is exceeded
// has yet to hold it.
func (p pausing) lookToResume(ctx context.Context, h holding, w budget.Workload) (*turn, error) {
	hold := h.own.of(w)
	if hold.Phase == "" {
		return nil, nil
	}
	released := func(reason string) (*turn, error) {
		h.own.drop(w)
		if reason == "" {
			return nil, nil
		}
		return nil, &budget.NotPausedError{Workload: w, Reason: reason, Released: true}
	}
	others, err := p.others(h, w)
	if err != nil {
		return nil, err
	}
	seen, err := p.cluster.Workload(ctx, hold.Workload)
	var not *budget.NotPausedError
	switch {
	case errors.As(err, &not):
		return released("")
	case err != nil:
		return nil, err
	case seen.Stopped && hold.Phase != declaration.Started && len(others) > 0:
		handOn(hold, others)
		return released("the budget " + others[0].of.budget + " keeps it paused")
	case hold.Phase == declaration.Started && seen.Stopped:
		return released("someone started it again since it was paused, and stopped it; it is left as it is")
	case !seen.Stopped && (hold.Phase == declaration.Paused || hold.Phase == declaration.Started):
		return released("someone started it again since it was paused; it is left as it is")
	case !seen.Stopped: // never stopped, or started by a run that was killed then
		return released("")
	}
	if p.wanted != nil {
		if other := p.wanted(seen); other != "" {
			return nil, &budget.NotPausedError{Workload: w, Reason: "the budget " + other + " is exceeded as well, and has yet to hold it: it stays paused until then"}
		}
	}
	t := &turn{seen: seen, before: hold, hold: hold}
	t.hold.Phase = declaration.Resuming
	return t, nil
}

// markStarted notes of workloads that someone started them again, and that the
// budget leaves them so: it holds them no longer, whoever stops them next.
func (p pausing) markStarted(ctx context.Context, list []budget.Workload) error {
	return errors.Join(p.together(ctx, list, way{look: func(ctx context.Context, h holding, w budget.Workload) (*turn, error) {
		hold := h.own.of(w)
		if hold.Phase != declaration.Paused {
			return nil, nil
		}
		seen, err := p.cluster.Workload(ctx, w)
		if err != nil || seen.Stopped {
			var gone *budget.NotPausedError
			if errors.As(err, &gone) {
				err = nil
			}
			return nil, err
		}
		hold.Phase = declaration.Started
		h.own.set(hold)
		return nil, nil
	}})...)
}
