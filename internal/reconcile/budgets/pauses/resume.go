package pauses

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Resume releases workloads, and resumes those that no other budget has paused. The error is
// *budget.NotPausedError for a workload that is left as it is.
func (p Pauser) Resume(ctx context.Context, list []budget.Workload) []error {
	return p.runBatch(ctx, list, protocol{
		intend: p.intendToResume,
		call:   func(ctx context.Context, t *transition) error { return p.Cluster.Resume(ctx, t.seen, t.pause.Replicas) },
		result: func(known batchPauses, t *transition, err error) error {
			var not *budget.NotPausedError
			if err != nil && (!errors.As(err, &not) || !not.Gone) { // refused: the budget keeps its pause
				return err
			}
			known.own.drop(t.pause.Workload)
			return nil
		},
	})
}

// intendToResume has the rule for a workload that several budgets paused. A stopped workload belongs to each
// budget with a pause of it, even if it was resumed manually in between. The last budget that releases it
// resumes it, unless another exceeded budget is about to pause it. If it became the Deployment of a stock
// pool, the pool scales it.
func (p Pauser) intendToResume(ctx context.Context, known batchPauses, w budget.Workload) (*transition, error) {
	last := known.own.pauseOf(w)
	if last.Phase == "" {
		return nil, nil
	}
	released := func(why reason.Reason) (*transition, error) {
		known.own.drop(w)
		if why.IsZero() {
			return nil, nil
		}
		return nil, &budget.NotPausedError{Workload: w, Why: why, Released: true}
	}
	pool, err := known.stockPoolOf(w)
	if err != nil {
		return nil, err
	}
	if pool != "" {
		return released(reason.ScaledByPool(reason.Object(pool)))
	}
	others, err := p.others(known, w)
	if err != nil {
		return nil, err
	}
	seen, err := p.Cluster.Workload(ctx, last.Workload)
	var not *budget.NotPausedError
	switch {
	case errors.As(err, &not):
		return released(reason.Reason{})
	case err != nil:
		return nil, err
	case seen.Stopped && last.Phase != declaration.Started && len(others) > 0:
		passReplicas(last, others)
		return released(reason.KeptPaused(reason.Object("budget/" + others[0].owner.budget)))
	case last.Phase == declaration.Started && seen.Stopped:
		return released(reason.StoppedAgain())
	case !seen.Stopped && (last.Phase == declaration.Paused || last.Phase == declaration.Started):
		return released(reason.RestartedByHand())
	case !seen.Stopped: // never stopped, or resumed by a run that was killed then
		return released(reason.Reason{})
	}
	if p.Wanted != nil {
		if other := p.Wanted(seen); other != "" {
			return nil, &budget.NotPausedError{Workload: w, Why: reason.PausedNext(reason.Object("budget/" + other))}
		}
	}
	if newer := known.own.newerJob(last); newer != "" {
		return released(reason.NewerJobResumed(reason.Word(newer)))
	}
	t := &transition{seen: seen, before: last, pause: last}
	t.pause.Phase = declaration.Resuming
	return t, nil
}

// newerJob returns the Job to resume instead of one of the same CronJob, or "". Each run of the schedule may have
// left a Job suspended: all would start at once. Only those that ran at once when the CronJob was paused do so
// again, unless the CronJob runs one Job at a time.
func (p *Paused) newerJob(job declaration.Pause) (newer string) {
	if job.CronJob == "" {
		return ""
	}
	latest := job
	for _, other := range p.Workloads() {
		switch {
		case other.UID == job.CronJob && other.Concurrent && other.Phase == declaration.Paused && !job.At.Before(other.At):
			return ""
		case other.CronJob == job.CronJob && inOrderOfResumption(other, latest) > 0:
			newer, latest = other.Name, other
		}
	}
	return newer
}

// inOrderOfResumption compares pauses by their workloads.
func inOrderOfResumption(a, b declaration.Pause) int {
	return budget.CompareForResumption(a.Workload, b.Workload, a.CreatedAt, b.CreatedAt)
}

// MarkStarted records that workloads were resumed manually and that the budget leaves them running. It no
// longer resumes them, even if another process stops them again.
func (p Pauser) MarkStarted(ctx context.Context, list []budget.Workload) error {
	return errors.Join(p.runBatch(ctx, list, protocol{intend: func(ctx context.Context, known batchPauses, w budget.Workload) (*transition, error) {
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

// Release resumes all workloads of a destroyed budget. It returns those that it resumed, and messages
// about those that it left as they are.
func (p Pauser) Release(ctx context.Context) (resumed []budget.Workload, messages reason.Reasons, err error) {
	all, err := Read(ctx, p.Repository.Store)
	own := all.OfBudget(p.Budget.UID)
	if err = cmp.Or(err, all.Broken[p.Budget.UID]); err != nil || own == nil {
		return nil, nil, err
	}
	list := slices.SortedStableFunc(slices.Values(own.Workloads()), inOrderOfResumption)
	for some := range slices.Chunk(list, BatchSize) {
		workloads := make([]budget.Workload, len(some))
		for n, pause := range some {
			workloads[n] = pause.Workload
		}
		for n, failed := range p.Resume(ctx, workloads) {
			var left *budget.NotPausedError
			switch {
			case errors.As(failed, &left) && left.Released:
				messages = append(messages, left.Because())
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
