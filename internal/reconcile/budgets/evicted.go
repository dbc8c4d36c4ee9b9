package budgets

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// noteDeletions writes down in the ledger when the pods that this run evicted
// are to be gone: should no later run see them end, it is known all the same.
func (k *kind) noteDeletions(ctx context.Context, b *accounting.Books, works []*work) {
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
		k.warnings.Add(fmt.Sprintf("when the evicted pods are to be gone could not be written to the ledger, so that their ends are estimated unless the "+
			"next run sees them: %v", err))
	}
}

// evicted are the pods whose eviction a run brought about, by uid.
func evicted(results []outcome.Result) map[string]budget.Pod {
	pods := map[string]budget.Pod{}
	for _, d := range results {
		if of, ok := d.Decision.(budget.Decision); ok && of.Kind == budget.KindEvict && d.Outcome == outcome.Done {
			pods[of.Pod.UID] = *of.Pod
		}
	}
	return pods
}
