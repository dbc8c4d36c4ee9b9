package budgets

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// noteDeletions writes down in the ledger when the pods that this run evicted
// are to be gone: should no later run see them end, it is known all the same.
func (k *kind) noteDeletions(ctx context.Context, b *books, works []*work) {
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
	if err := k.flow.writeDeletions(noting, b, evicted); err != nil {
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

func (f *Flow) writeDeletions(ctx context.Context, b *books, evicted map[string]budget.Pod) error {
	due, err := b.dueBy(ctx, evicted)
	if err != nil {
		return err
	}
	// Another look at the documents: those of before are written.
	documents, err := f.openLedger(ctx, b.documents.ledger.Header.ClusterUID)
	if err != nil {
		return err
	}
	for uid, at := range due {
		r, known := documents.ledger.Get(uid)
		if !known || !r.Open() {
			continue
		}
		r.Deletion = at
		if err := documents.ledger.Merge(r); err != nil {
			return err
		}
	}
	return f.saveLedger(ctx, documents)
}

// dueBy asks the cluster by when each evicted pod is to be gone. One that is gone
// already, or has ended, was so by now.
func (b *books) dueBy(ctx context.Context, evicted map[string]budget.Pod) (map[string]ledger.Time, error) {
	var namespaces []string
	for _, p := range evicted {
		namespaces = append(namespaces, p.Namespace)
	}
	slices.Sort(namespaces)
	live, err := b.cluster.LivePods(ctx, slices.Compact(namespaces), b.rules)
	if err != nil {
		return nil, err
	}
	now := ledger.TimeOf(b.cluster.Now())
	due := map[string]ledger.Time{}
	for uid := range evicted {
		due[uid] = now
	}
	for _, p := range live {
		if _, ours := evicted[p.UID]; !ours || !p.End.Open() {
			continue
		}
		delete(due, p.UID) // it is there, and nothing tells that it is to go
		if p.Deletion != 0 {
			due[p.UID] = p.Deletion
		}
	}
	return due, nil
}
