package budget

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
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

// protection says why enforcement must leave a pod alone; empty where it need not.
func (s Situation) protection(p Pod) string {
	e := s.Declaration.Enforce
	marked := func(of ledger.Labels) bool { return Protects(of.Lookup(ProtectedKey)) }
	annotation, annotated := p.Annotations[ProtectedKey]
	honoured := e.HonoursPods()
	switch {
	case slices.Contains(SystemNamespaces(), p.Namespace), p.Namespace == s.StoreNamespace:
		return "its namespace is the system's"
	case slices.Contains(e.ProtectedNamespaces, p.Namespace):
		return "its namespace is protected"
	case honoured && Protects(annotation, annotated):
		return "it is annotated with " + ProtectedKey
	case honoured && p.Set != nil && marked(p.Set.Labels):
		return "it is labelled with " + ProtectedKey
	case p.Set != nil && marked(p.Set.NamespaceLabels):
		return "its namespace is labelled with " + ProtectedKey
	case p.Priority >= systemPriority:
		return "its priority is the system's"
	}
	if e.ProtectedPriorityClass == "" {
		return ""
	}
	if p.PriorityClassName == e.ProtectedPriorityClass {
		return "its priority class is protected"
	}
	least, known := s.PriorityClasses[e.ProtectedPriorityClass]
	switch {
	case !known:
		return fmt.Sprintf("the cluster has no priority class %q to compare it with", e.ProtectedPriorityClass)
	case p.Priority >= least:
		return fmt.Sprintf("its priority %d is not below that of %s", p.Priority, e.ProtectedPriorityClass)
	}
	return ""
}
