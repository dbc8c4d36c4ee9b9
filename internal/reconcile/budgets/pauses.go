package budgets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// pausesDocument is the document of what one budget holds paused.
type pausesDocument = record.Held[declaration.Pauses]

// heldPaused lists what budgets hold paused in a cluster. A document that can't be
// read fails its own budget alone: broken is by the budget's uid.
func (f *Flow) heldPaused(ctx context.Context, clusterUID string) (list []declaration.Pauses, broken map[string]error, err error) {
	docs, err := f.Keeper.Store.List(ctx, store.Pauses)
	if err != nil {
		return nil, nil, err
	}
	broken = map[string]error{}
	for _, doc := range docs {
		p, err := record.DecodeListed[declaration.Pauses](ctx, f.Keeper.Store, doc)
		if err == nil && p.BudgetUID != doc.Key.Name {
			err = fmt.Errorf("the document %s is of the budget with the uid %s", record.DocumentName(f.Keeper.Store, doc.Key), p.BudgetUID)
		}
		switch {
		case err != nil:
			broken[doc.Key.Name] = err
		case p.ClusterUID == clusterUID:
			list = append(list, p)
		}
	}
	return list, broken, nil
}

// pausing is what one budget pauses and resumes by.
type pausing struct {
	*Flow
	cluster Cluster
	budget  budget.Declaration // of a destroyed one, its name, uid and cluster
}

// attemptsAtMost is how often a workload is looked at anew that others write to.
const attemptsAtMost = 5

// pause stops a workload and holds it for the budget. What is to be done is
// written before it is done, so that whoever comes after a kill knows whose it is
// and how large it was. The error is *budget.NotPausedError where it must not be stopped.
func (p pausing) pause(ctx context.Context, w budget.Workload) error {
	return p.withWorkload(ctx, w, p.pauseOnce)
}

func (p pausing) pauseOnce(ctx context.Context, w budget.Workload) error {
	doc, err := p.load(ctx)
	if err != nil {
		return err
	}
	hold, holds := holdOf(doc.Value, w)
	seen, err := p.cluster.Workload(ctx, w)
	if err != nil {
		return err
	}
	if seen.Stopped {
		return p.takeStopped(ctx, doc, hold, seen)
	}
	if holds && hold.Phase == declaration.Paused && !p.budget.Enforce.Repause {
		return &budget.NotPausedError{Workload: w, Reason: "it was paused, and someone started it again since: repause = false leaves it so"}
	}
	reason := seen.Driven
	if reason == "" {
		if reason, err = p.cluster.Autoscaler(ctx, w); err != nil {
			return err
		}
	}
	if reason != "" {
		return &budget.NotPausedError{Workload: w, Reason: reason}
	}
	hold = declaration.Pause{
		Workload: seen.Workload, Phase: declaration.Pausing, Replicas: seen.Replicas, At: p.now().UTC().Truncate(time.Second),
		Labels: p.known(seen.Labels), PriorityClassName: seen.PriorityClassName,
	}
	if doc, err = p.keep(ctx, doc, hold); err != nil {
		return err
	}
	if err := p.cluster.Pause(ctx, seen); err != nil {
		var not *budget.NotPausedError
		// What was certainly refused is held by nobody: else it would be, once
		// somebody else stops it.
		if errors.As(err, &not) || errors.Is(err, budget.ErrWorkloadChanged) || isForbidden(err) {
			if err := p.forget(ctx, doc, w); err != nil {
				return err
			}
		}
		return err
	}
	hold.Phase = declaration.Paused
	_, err = p.keep(ctx, doc, hold)
	return err
}

// labelsAtMost is how many bytes of labels are kept of a workload. They are a
// tenant's, who may write many more, and stand in one document with all others.
const labelsAtMost = 2 << 10

// known are the labels that are kept of a workload, by which other budgets tell
// whether it is theirs as well: all of them, or those alone that this one asks for.
func (p pausing) known(labels map[string]string) map[string]string {
	size, asked := 0, map[string]string{}
	for key, value := range labels {
		size += len(key) + len(value)
		if p.budget.Selector.AsksFor(key) {
			asked[key] = value
		}
	}
	if size <= labelsAtMost {
		return labels
	}
	return asked
}

// takeStopped holds a workload that is stopped already: by this budget, of which
// only the outcome was not written, or by another one, whose count passes on.
func (p pausing) takeStopped(ctx context.Context, doc pausesDocument, hold declaration.Pause, seen budget.WorkloadState) error {
	switch hold.Phase {
	case declaration.Paused:
		return nil
	case "":
		others, err := p.others(ctx, seen.Workload)
		if err != nil {
			return err
		}
		if len(others) == 0 {
			return &budget.NotPausedError{Workload: seen.Workload, Reason: "it is stopped already, by someone else"}
		}
		hold = others[0].hold
	}
	hold.Phase = declaration.Paused
	_, err := p.keep(ctx, doc, hold)
	return err
}

// resume lets a workload go, and starts it where no other budget holds it. The
// error is *budget.NotPausedError where it was left as it is.
func (p pausing) resume(ctx context.Context, w budget.Workload) error {
	return p.withWorkload(ctx, w, p.resumeOnce)
}

func (p pausing) resumeOnce(ctx context.Context, w budget.Workload) error {
	doc, err := p.load(ctx)
	if err != nil {
		return err
	}
	hold, holds := holdOf(doc.Value, w)
	if !holds {
		return nil
	}
	released := func(reason string) error {
		if err := p.forget(ctx, doc, w); err != nil || reason == "" {
			return err
		}
		return &budget.NotPausedError{Workload: w, Reason: reason, Released: true}
	}
	others, err := p.others(ctx, w)
	if err != nil {
		return err
	}
	// A hold of before this one was of a pause that someone undid in between.
	others = slices.DeleteFunc(others, func(o otherHold) bool { return o.hold.At.Before(hold.At) })
	if len(others) > 0 {
		return released("the budget " + others[0].budget + " keeps it paused")
	}
	seen, err := p.cluster.Workload(ctx, hold.Workload)
	var not *budget.NotPausedError
	switch {
	case errors.As(err, &not):
		return released("")
	case err != nil:
		return err
	case !seen.Stopped && hold.Phase == declaration.Paused:
		return released("someone started it again since it was paused; it is left as it is")
	case !seen.Stopped: // never stopped, or started by a run that was killed then
		return released("")
	}
	hold.Phase = declaration.Resuming
	if doc, err = p.keep(ctx, doc, hold); err != nil {
		return err
	}
	err = p.cluster.Resume(ctx, seen, hold.Replicas)
	if errors.As(err, &not) && !not.Gone { // refused: it stays the budget's
		return err
	}
	if err != nil && !errors.As(err, &not) {
		return err
	}
	return released("")
}

// withWorkload does something with a workload, anew where others wrote to it
// meanwhile. It keeps other budgets from it: two may let it go and take it at once,
// one in a run, one that is destroyed.
func (p pausing) withWorkload(ctx context.Context, w budget.Workload, once func(ctx context.Context, w budget.Workload) error) error {
	return p.Keeper.WithLock(ctx, "workload/"+w.UID, p.Keeper.LockTimeout, func(ctx context.Context) error {
		for range attemptsAtMost {
			if err := once(ctx, w); !errors.Is(err, budget.ErrWorkloadChanged) {
				return err
			}
		}
		return &budget.NotPausedError{Workload: w, Reason: budget.ErrWorkloadChanged.Error()}
	})
}

// otherHold is what another budget holds of a workload.
type otherHold struct {
	budget string
	hold   declaration.Pause
}

// others are the holds that other budgets have on a workload.
func (p pausing) others(ctx context.Context, w budget.Workload) ([]otherHold, error) {
	list, broken, err := p.heldPaused(ctx, p.budget.ClusterUID)
	if err != nil {
		return nil, err
	}
	for uid, err := range broken {
		if uid != p.budget.UID {
			return nil, fmt.Errorf("whether another budget holds the %s can't be told: %w", w, err)
		}
	}
	var others []otherHold
	for _, of := range list {
		if of.BudgetUID == p.budget.UID {
			continue
		}
		if hold, holds := holdOf(of, w); holds && hold.Phase == declaration.Paused {
			others = append(others, otherHold{of.Budget, hold})
		}
	}
	return others, nil
}

func (p pausing) load(ctx context.Context) (pausesDocument, error) {
	return record.Load[declaration.Pauses](ctx, p.Keeper.Store, store.Pauses, p.budget.UID)
}

// holdOf is what a document has of a workload.
func holdOf(p declaration.Pauses, w budget.Workload) (declaration.Pause, bool) {
	n := slices.IndexFunc(p.Workloads, func(h declaration.Pause) bool { return h.UID == w.UID })
	if n < 0 {
		return declaration.Pause{}, false
	}
	return p.Workloads[n], true
}

// keep writes a hold down, in the place of what there was of its workload.
func (p pausing) keep(ctx context.Context, doc pausesDocument, hold declaration.Pause) (pausesDocument, error) {
	rest := without(doc.Value.Workloads, hold.Workload)
	return record.Save(ctx, p.Keeper.Store, store.Pauses, p.budget.UID, doc, declaration.Pauses{
		BudgetUID: p.budget.UID, Budget: p.budget.Name, ClusterUID: p.budget.ClusterUID, Workloads: append(rest, hold),
	})
}

// forget takes a hold off, and with the last one the document.
func (p pausing) forget(ctx context.Context, doc pausesDocument, w budget.Workload) error {
	rest := without(doc.Value.Workloads, w)
	switch {
	case len(rest) == len(doc.Value.Workloads):
		return nil
	case len(rest) == 0:
		return record.Remove(ctx, p.Keeper.Store, store.Pauses, p.budget.UID, doc.Revision)
	}
	doc.Value.Workloads = rest
	_, err := record.Save(ctx, p.Keeper.Store, store.Pauses, p.budget.UID, doc, doc.Value)
	return err
}

func without(list []declaration.Pause, w budget.Workload) []declaration.Pause {
	return slices.DeleteFunc(slices.Clone(list), func(h declaration.Pause) bool { return h.UID == w.UID })
}
