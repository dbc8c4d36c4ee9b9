package budget

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// ProtectedKey is the annotation or label of a pod, or the label of its namespace,
// that keeps enforcement away; "false" does not.
const ProtectedKey = "gpupool/protected"

// Protects reports whether a mark by ProtectedKey keeps enforcement and drains away.
func Protects(value string, there bool) bool { return there && value != "false" }

// systemPriority is where the priority of what a cluster itself needs begins:
// system-cluster-critical (k8s.io/kubernetes pkg/apis/scheduling).
const systemPriority = 2_000_000_000

// SystemNamespaces are never touched by enforcement.
func SystemNamespaces() []string { return []string{"kube-system", "kube-public", "kube-node-lease"} }

// Spares returns why enforcement does not touch a pod; zero if it does. Classes are the values of the cluster's
// priority classes.
func (d Declaration) Spares(p Pod, storeNamespace string, classes map[string]int32) reason.Reason {
	e := d.Enforce
	marked := func(of ledger.Labels) bool { return Protects(of.Lookup(ProtectedKey)) }
	annotation, annotated := p.Annotations[ProtectedKey]
	honored := e.HonorsPods()
	switch {
	case slices.Contains(SystemNamespaces(), p.Namespace), p.Namespace == storeNamespace:
		return reason.InSystemNamespace()
	case slices.Contains(e.ProtectedNamespaces, p.Namespace):
		return reason.InProtectedNamespace()
	case honored && Protects(annotation, annotated):
		return reason.Annotated(ProtectedKey)
	case honored && p.Set != nil && marked(p.Set.Labels):
		return reason.Labeled(ProtectedKey)
	case p.Set != nil && marked(p.Set.NamespaceLabels):
		return reason.InLabeledNamespace(ProtectedKey)
	case p.Priority >= systemPriority:
		return reason.SystemPriority()
	}
	if e.ProtectedPriorityClass == "" {
		return reason.Reason{}
	}
	if p.PriorityClassName == e.ProtectedPriorityClass {
		return reason.ProtectedClass()
	}
	least, known := classes[e.ProtectedPriorityClass]
	switch {
	case !known:
		return reason.ClassMissing(reason.Word(e.ProtectedPriorityClass))
	case p.Priority >= least:
		return reason.PriorityNotBelow(reason.Count(p.Priority), reason.Word(e.ProtectedPriorityClass))
	}
	return reason.Reason{}
}

// Stops reports whether the budget wants a workload stopped now that respects budgets by itself, as stock
// pools do. The status must be fresh. The set identifies its pods, which have no priority class. A workload
// that enforcement does not touch is not stopped.
func (d Declaration) Stops(s Status, set *ledger.LabelSet, storeNamespace string, now time.Time) bool {
	switch {
	case d.Enforce.Action != Pause, !s.Usage.Exceeded(), s.Unknown != nil, !s.Withheld.IsZero():
		return false
	case s.EnforceAt == nil || now.Before(*s.EnforceAt) && s.At.Before(*s.EnforceAt):
		return false // what was due as it was judged is due, though the clock read now is rounded down
	}
	d.Enforce.ProtectedPriorityClass = ""
	return d.Spares(Pod{Pod: gpu.Pod{Namespace: set.Namespace}, Set: set}, storeNamespace, nil).IsZero()
}
