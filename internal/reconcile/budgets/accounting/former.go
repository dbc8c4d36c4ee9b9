package accounting

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// selectByNamespace reports whether any budget selects by the labels of namespaces.
func selectByNamespace(budgets []budget.Declaration) bool {
	return slices.ContainsFunc(budgets, func(d budget.Declaration) bool { return len(d.Selector.NamespaceLabels) > 0 })
}

// missNamespaces warns of pods that no run observed and whose namespace is gone with its labels. Budgets that
// select by these do not count them.
func (b *Books) missNamespaces(told gpu.Replay) {
	if !b.byNamespace {
		return
	}
	for _, s := range told.Ended {
		labels, gone := told.Former[s.UID]
		_, known := b.documents.ledger.Get(s.UID)
		_, bound := b.documents.ledger.Binding(s.UID)
		if !gone || labels != nil || known || bound {
			continue
		}
		pod := reason.Word(s.Namespace + "/" + s.Name)
		doubt := reason.NamespaceForgotten(pod)
		if told.FormerMissing != "" {
			doubt = reason.NamespaceGone(pod, reason.NewForeign(told.FormerMissing))
		}
		b.doubts.add(s.Namespace, doubt)
	}
}
