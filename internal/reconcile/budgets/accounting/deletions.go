package accounting

import (
	"context"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// WriteDeletions writes down in the ledger by when evicted pods, by uid, are to be gone.
func (a Accountant) WriteDeletions(ctx context.Context, b *Books, evicted map[string]budget.Pod) error {
	due, err := b.dueTimes(ctx, evicted)
	if err != nil {
		return err
	}
	// Another read of the documents: those of before are written.
	documents, err := a.openLedger(ctx, b.documents.ledger.Header.ClusterUID)
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
	return a.saveLedger(ctx, documents)
}

// dueBy asks the cluster by when each evicted pod is to be gone. One that is gone
// already, or has ended, was so by now.
func (b *Books) dueTimes(ctx context.Context, evicted map[string]budget.Pod) (map[string]ledger.Time, error) {
	var namespaces []string
	for _, p := range evicted {
		namespaces = append(namespaces, p.Namespace)
	}
	slices.Sort(namespaces)
	live, err := b.cluster.LivePods(ctx, slices.Compact(namespaces), b.Rules)
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
