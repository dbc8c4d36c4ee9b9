package budgets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// alert creates an Event about the thresholds in each namespace, identified by the highest one. It
// skips deleted namespaces.
func (a *actor) alert(ctx context.Context, d budget.Decision) error {
	var failures []error
	highest := slices.Max(d.Thresholds)
	for _, namespace := range d.Namespaces {
		if _, there := a.books.Observation.Namespaces[namespace]; !there {
			continue
		}
		err := a.cluster.Alert(ctx, budget.Event{
			Namespace: namespace, Budget: a.declaration.Name, BudgetUID: a.declaration.UID, Reason: "GPUBudgetThreshold", Threshold: highest,
			Message: fmt.Sprintf("GPU budget %s: %s reached: %s", a.declaration.Name, d.Reached(), strings.Join(d.Reasons.Texts(), "; ")),
			Warning: highest >= 100,
		})
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// announcement returns the Event about an action of a budget.
func announcement(d budget.Declaration, e *budget.KindEvent, reasons ...string) budget.Event {
	return budget.Event{
		Budget: d.Name, BudgetUID: d.UID, Reason: e.Reason, Warning: e.Warning,
		Message: fmt.Sprintf("GPU budget %s: %s: %s", d.Name, e.Done, strings.Join(reasons, "; ")),
	}
}

// announce creates Events about an action on its objects. If one cannot be created, it warns, and this
// run tries no more for the budget.
func (a *actor) announce(ctx context.Context, d budget.Decision) {
	kind := d.Kind.Data().Event
	if kind == nil || a.eventsFailed {
		return
	}
	event := announcement(a.declaration, kind, d.Reasons.Texts()...)
	var events []budget.Event
	switch {
	case d.Pod != nil:
		events = []budget.Event{event.On(budget.Workload{
			Namespace: d.Pod.Namespace, Owner: ledger.Owner{APIVersion: "v1", Kind: "Pod", Name: d.Pod.Name, UID: d.Pod.UID},
		})}
	case d.Owner != nil:
		events = []budget.Event{event.On(*d.Owner)}
	default:
		for _, namespace := range d.Namespaces {
			if _, there := a.books.Observation.Namespaces[namespace]; there {
				event.Namespace = namespace
				events = append(events, event)
			}
		}
	}
	a.createEvents(ctx, events)
}

// announceIneffective creates Events about what an action does not reach, or what it did not end in time.
func (a *actor) announceIneffective(ctx context.Context, effects []budget.Effect) {
	var events []budget.Event
	for _, e := range effects {
		if e.About != nil && e.About.Name != "" {
			events = append(events, announcement(a.declaration, &budget.IneffectiveEvent, string(e.Measure)+" "+e.String()).On(*e.About))
		}
	}
	a.createEvents(ctx, events)
}

func (a *actor) createEvents(ctx context.Context, events []budget.Event) {
	for _, event := range events {
		err := a.cluster.Alert(ctx, event)
		if errors.Is(err, outcome.ErrPlanned) || a.eventsFailed {
			return
		}
		if err != nil {
			a.eventsFailed = true
			a.warn(reason.EventsFailed(reason.Failure(err)))
			return
		}
	}
}
