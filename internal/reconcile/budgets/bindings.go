package budgets

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// bind has the ledger remember a pod that is bound and that there is nothing to
// record of yet, as it is now: what is made of its labels before its kubelet takes
// it moves its hours to nobody.
func (b *books) bind(s gpu.Sighting) {
	if _, recorded := b.ledger.Get(s.UID); recorded || s.UID == "" || s.Node.Name == "" {
		return
	}
	if !awaited(s) {
		b.ledger.Unbind(s.UID)
		return
	}
	r := b.recorder.recordOf(s)
	if err := b.ledger.Bind(ledger.Binding{UID: r.UID, Name: r.Name, Seen: r.Seen, Set: r.Set, Owner: r.Owner}); err != nil {
		b.doubts.add(s.Namespace, err.Error())
	}
}

// awaited says whether a bound pod that holds nothing yet may get an interval: once
// its kubelet takes it, or its node turns out to have what it asks for.
func awaited(s gpu.Sighting) bool {
	if s.Live.Phase == "Succeeded" || s.Live.Phase == "Failed" || !s.End.At.IsZero() {
		return false
	}
	return s.Scheduled.At.IsZero() || s.Capped || s.Incomplete
}

// unbound are the pods that the ledger remembers to be bound, and that are not there.
func (b *books) unbound(there func(uid string) bool) []string {
	var gone []string
	for bound := range b.ledger.Bindings() {
		if !there(bound.UID) {
			gone = append(gone, bound.UID)
		}
	}
	return gone
}

// unbind forgets bound pods that are gone.
func (b *books) unbind(there func(uid string) bool) {
	for _, uid := range b.unbound(there) {
		b.ledger.Unbind(uid)
	}
}

// trimBindings forgets the bound pods that are more than are remembered.
func (b *books) trimBindings() {
	if more := b.ledger.TrimBindings(); more > 0 {
		b.warnings = append(b.warnings, fmt.Sprintf("more than %d pods are bound to nodes whose kubelets have not taken them: of the %d that were seen first it is forgotten what labels they were bound with, and they are counted by those that they have when they are next seen. Delete pods that are bound to nodes that never run them",
			ledger.MostBindings, more))
	}
}
