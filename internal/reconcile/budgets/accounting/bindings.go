package accounting

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// bind has the ledger record a pod that is bound and that there is nothing to record of
// yet, as it is now: what is made of its labels before its kubelet takes it moves its
// hours to nobody.
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
		b.doubts.add(p.Namespace, err.Error())
	}
}

// awaited says whether a bound pod that holds nothing yet may get an interval: once
// its kubelet takes it, or its node turns out to have what it asks for.
func awaited(p gpu.Pod) bool {
	if p.Mirror || p.Phase == "Succeeded" || p.Phase == "Failed" || !p.End.Open() {
		return false
	}
	return p.Scheduled.At == 0 || p.Capped || p.Incomplete
}

// unbound are the pods that the ledger has as bound, and that are not there.
func (b *Books) unbound(there func(uid string) bool) []string {
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
	for _, uid := range b.unbound(there) {
		b.documents.ledger.Unbind(uid)
	}
}

// trimBindings forgets the bound pods that are more than the ledger keeps.
func (b *Books) trimBindings() {
	if more := b.documents.ledger.TrimBindings(); more > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("more than %d pods are bound to nodes whose kubelets have not taken them: of the %d that were seen "+
			"first it is forgotten what labels they were bound with, and they are counted by those that they have when they are next seen. Delete pods "+
			"that are bound to nodes that never run them",
			ledger.MostBindings, more))
	}
}
