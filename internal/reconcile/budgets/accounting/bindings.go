package accounting

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// bind records a bound pod that has no interval yet, with its present labels. A later change of labels,
// before its kubelet accepts the pod, then does not move its hours to another budget.
func (b *Books) bind(p gpu.Pod) {
	if _, recorded := b.documents.ledger.Get(p.UID); recorded || p.UID == "" || p.Node.Name == "" {
		return
	}
	if !awaited(p) {
		b.documents.ledger.Unbind(p.UID)
		return
	}
	r := b.recorder.recordOf(p)
	if err := b.documents.ledger.Bind(ledger.Binding{UID: r.UID, Name: r.Name, Seen: r.Seen, Set: r.Set, Owner: r.Owner}); err != nil {
		b.doubts.add(p.Namespace, reason.RecordError(reason.Failure(err)))
	}
}

// awaited reports whether a bound pod that holds nothing yet may get an interval. It does when its kubelet
// accepts it, or when its node turns out to have enough GPUs.
func awaited(p gpu.Pod) bool {
	if p.Mirror || p.Phase == "Succeeded" || p.Phase == "Failed" || !p.End.Open() {
		return false
	}
	return p.Scheduled.At == 0 || p.Capped || p.Incomplete
}

// deletedBindings returns the bound pods in the ledger that no longer exist.
func (b *Books) deletedBindings(there func(uid string) bool) []string {
	var gone []string
	for bound := range b.documents.ledger.Bindings() {
		if !there(bound.UID) {
			gone = append(gone, bound.UID)
		}
	}
	return gone
}

// unbind forgets bound pods that are gone.
func (b *Books) unbind(there func(uid string) bool) {
	for _, uid := range b.deletedBindings(there) {
		b.documents.ledger.Unbind(uid)
	}
}

// trimBindings forgets the bound pods that are more than the ledger keeps.
func (b *Books) trimBindings() {
	if more := b.documents.ledger.TrimBindings(); more > 0 {
		b.Warnings = append(b.Warnings, reason.TooManyBound(ledger.MostBindings, reason.Count(more)))
	}
}
