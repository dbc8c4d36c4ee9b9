package budgets

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// recordDeletions records in the ledger when evicted pods are due to be gone, in case no later run
// observes their ends.
func (k *kind) recordDeletions(ctx context.Context, b *accounting.Books, works []*work) {
	var results []outcome.Result
	for _, w := range works {
		if w.actor != nil {
			results = append(results, w.actor.results...)
		}
	}
	evicted := evicted(results)
	if len(evicted) == 0 {
		return
	}
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	if err := k.flow.accountant().WriteDeletions(noting, b, evicted); err != nil {
		k.warnings.Warn(reason.DeletionsUnrecorded(reason.Failure(err)))
	}
}

// evicted returns the pods that a run evicted, by UID.
func evicted(results []outcome.Result) map[string]budget.Pod {
	pods := map[string]budget.Pod{}
	for _, d := range results {
		if of, ok := d.Decision.(budget.Decision); ok && of.Kind == budget.KindEvict && d.Outcome == outcome.Done {
			pods[of.Pod.UID] = *of.Pod
		}
	}
	return pods
}
