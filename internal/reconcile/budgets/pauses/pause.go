package pauses

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// Pause stops workloads and holds them for the budget. The error is
// *budget.NotPausedError where one must not be stopped.
func (p Pauser) Pause(ctx context.Context, list []budget.Workload) []error {
	return p.inBatch(ctx, list, protocol{
		intend: p.intendToPause,
		call:   func(ctx context.Context, t *transition) error { return p.Cluster.Pause(ctx, t.seen) },
		result: func(known batchPauses, t *transition, err error) error {
			var not *budget.NotPausedError
			switch {
			case err == nil:
				t.pause.Phase = declaration.Paused
				known.own.set(t.pause)
			// What was certainly refused is held by nobody: else it would be, once
			// somebody else stops it.
			case errors.As(err, &not), Forbidden(err):
				known.own.drop(t.pause.Workload)
			}
			return err
		},
	})
}

// intendToPause says which workloads must not be stopped, and holds without a call
// what is stopped already.
func (p Pauser) intendToPause(ctx context.Context, known batchPauses, w budget.Workload) (*transition, error) {
	pool, err := known.stockPoolOf(w)
	if err != nil {
		return nil, err
	}
	if pool != "" {
		return nil, &budget.NotPausedError{Workload: w, Reason: pool + " scales it, and pauses it for its budgets"}
	}
	last := known.own.pauseOf(w)
	seen, err := p.Cluster.Workload(ctx, w)
	if err != nil {
		return nil, err
	}
	if seen.Stopped {
		return nil, p.takeStopped(known, last, seen)
	}
	undone := last.Phase == declaration.Paused || last.Phase == declaration.Started
	if undone && !p.Budget.Enforce.PausesAgain() {
		return nil, &budget.NotPausedError{Workload: w, Reason: "it was paused, and someone started it again since: on_manual_resume = \"warn\" leaves it so"}
	}
	reason := seen.Driven
	if reason == "" {
		if reason, err = p.Cluster.Autoscaler(ctx, w); err != nil {
			return nil, err
		}
	}
	if reason != "" {
		return nil, &budget.NotPausedError{Workload: w, Reason: reason}
	}
	return &transition{seen: seen, before: last, pause: declaration.Pause{
		Workload: seen.Workload, Phase: declaration.Pausing, Replicas: seen.Replicas, At: p.Clock().UTC().Truncate(time.Second),
		Labels: p.keptLabels(seen.Labels), PriorityClassName: seen.PriorityClassName,
	}}, nil
}

// takeStopped holds a workload that is stopped already: by this budget, of which
// only the outcome was not written, or by another one, whose count passes on.
func (p Pauser) takeStopped(known batchPauses, last declaration.Pause, seen budget.WorkloadState) error {
	switch last.Phase {
	case declaration.Paused:
		return nil
	case "", declaration.Started:
		others, err := p.others(known, seen.Workload)
		if err != nil {
			return err
		}
		if len(others) == 0 {
			return &budget.NotPausedError{Workload: seen.Workload, Reason: "it is stopped already, by someone else"}
		}
		last = others[0].pause
	}
	last.Phase = declaration.Paused
	known.own.set(last)
	return nil
}

// labelsAtMost is how many bytes of labels are kept of a workload beside those that
// its budget asks for, as they stand in a document. They are a tenant's, who may
// write many more.
const labelsAtMost = 2 << 10

// keptLabels are the labels that are kept of a workload, by which other budgets tell
// whether it is theirs as well: all of them where they are few, else those that this
// budget asks for, and of those that others ask for as many as there is room for.
func (p Pauser) keptLabels(labels map[string]string) map[string]string {
	const punctuation = 24 // of one label in a document
	size := 0
	for key, value := range labels {
		size += len(key) + len(value) + punctuation
	}
	if size <= labelsAtMost {
		return labels
	}
	kept, room := map[string]string{}, labelsAtMost
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
