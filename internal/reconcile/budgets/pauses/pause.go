package pauses

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Pause stops workloads and records their pauses. The error is *budget.NotPausedError for a workload
// that must not be paused.
func (p Pauser) Pause(ctx context.Context, list []budget.Workload) []error {
	return p.runBatch(ctx, list, protocol{
		intend: p.intendToPause,
		call:   func(ctx context.Context, t *transition) error { return p.Cluster.Pause(ctx, t.seen) },
		result: func(known batchPauses, t *transition, err error) error {
			var not *budget.NotPausedError
			switch {
			case err == nil:
				t.pause.Phase = declaration.Paused
				known.own.set(t.pause)
			// A pause that was certainly refused is not recorded. Otherwise the budget would resume a
			// workload that was stopped manually later.
			case errors.As(err, &not), Forbidden(err):
				known.own.drop(t.pause.Workload)
			}
			return err
		},
	})
}

// intendToPause rejects workloads that must not be paused, and records the pause of a stopped one
// without a call.
func (p Pauser) intendToPause(ctx context.Context, known batchPauses, w budget.Workload) (*transition, error) {
	pool, err := known.stockPoolOf(w)
	if err != nil {
		return nil, err
	}
	if pool != "" {
		return nil, &budget.NotPausedError{Workload: w, Why: reason.PausedByPool(reason.Object(pool))}
	}
	last := known.own.pauseOf(w)
	seen, err := p.Cluster.Workload(ctx, w)
	if err != nil {
		return nil, err
	}
	if seen.Stopped {
		return nil, p.recordStopped(known, last, seen)
	}
	undone := last.Phase == declaration.Paused || last.Phase == declaration.Started
	if undone && !p.Budget.Enforce.PausesAgain() {
		return nil, &budget.NotPausedError{Workload: w, Why: reason.LeftResumedByHand()}
	}
	obstacle := seen.PauseObstacle
	if obstacle.IsZero() {
		by, err := p.Cluster.Autoscaler(ctx, w)
		if err != nil {
			return nil, err
		}
		obstacle = by.Obstacle()
	}
	if !obstacle.IsZero() {
		return nil, &budget.NotPausedError{Workload: w, Why: obstacle}
	}
	return &transition{seen: seen, before: last, pause: declaration.Pause{
		Workload: seen.Workload, Phase: declaration.Pausing, Replicas: seen.Replicas, At: p.Clock().UTC().Truncate(time.Second),
		Labels: p.keptLabels(seen.Labels), PriorityClassName: seen.PriorityClassName,
		CronJob: p.CronJobs[seen.UID], CreatedAt: seen.CreatedAt.UTC(), Concurrent: seen.Concurrent,
	}}, nil
}

// recordStopped records the pause of a stopped workload. Either this budget stopped it, and the outcome was
// not written yet, or another one did, whose replica count it keeps.
func (p Pauser) recordStopped(known batchPauses, last declaration.Pause, seen budget.WorkloadState) error {
	switch last.Phase {
	case declaration.Paused:
		return nil
	case "", declaration.Started:
		others, err := p.others(known, seen.Workload)
		if err != nil {
			return err
		}
		if len(others) == 0 {
			return &budget.NotPausedError{Workload: seen.Workload, Why: reason.StoppedByHand(), Stopped: true}
		}
		last = others[0].pause
	}
	last.Phase = declaration.Paused
	known.own.set(last)
	return nil
}

// maxLabels limits the bytes of a workload's labels in a document, apart from those in the budget's
// selector. A tenant can write many more.
const maxLabels = 2 << 10

// keptLabels returns the labels that are stored with a pause, which the selectors of other budgets need: all
// of them if they fit. Otherwise they are those in this budget's selector, and as many of those in other
// selectors as fit.
func (p Pauser) keptLabels(labels map[string]string) map[string]string {
	const punctuation = 24 // of one label in a document
	size := 0
	for key, value := range labels {
		size += len(key) + len(value) + punctuation
	}
	if size <= maxLabels {
		return labels
	}
	kept, room := map[string]string{}, maxLabels
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value := labels[key]
		asks := func(d budget.Declaration) bool { return d.Selector.AsksFor(key) }
		switch {
		case asks(p.Budget):
			kept[key] = value
		case len(key)+len(value)+punctuation <= room && slices.ContainsFunc(p.Declared, asks):
			kept[key] = value
			room -= len(key) + len(value) + punctuation
		}
	}
	return kept
}
