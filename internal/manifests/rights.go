package manifests

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
)

// The API groups of the rules.
const (
	core         = ""
	admission    = "admissionregistration.k8s.io"
	apps         = "apps"
	autoscaling  = "autoscaling"
	batch        = "batch"
	coordination = "coordination.k8s.io"
	devices      = "resource.k8s.io"
	policies     = "policy"
	scheduling   = "scheduling.k8s.io"
)

// rule grants verbs on a resource.
func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// named limits a rule to some objects.
func named(r rbacv1.PolicyRule, names ...string) rbacv1.PolicyRule {
	r.ResourceNames = names
	return r
}

// StoreRules are what the store needs in its namespace. The names of its objects
// are not known beforehand, and RBAC knows no prefixes.
func StoreRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "secrets", "get", "list", "create", "update", "delete"),    // declarations and journals
		rule(core, "configmaps", "get", "list", "create", "update", "delete"), // status, ledger, history, tombstones
		rule(coordination, "leases", "get", "create", "update", "delete"),     // locks
	}
}

// DeclareRules are what declaring a budget needs of the cluster.
func DeclareRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		named(rule(core, "namespaces", "get"), "kube-system"), // whose uid is the cluster's identity
	}
}

// ObserveRules are what counting GPU-hours needs of the cluster.
func ObserveRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "namespaces", "get", "list", "watch"),
		rule(core, "nodes", "list", "watch"),
		rule(core, "pods", "list", "watch"),
		rule(core, "events", "list"), // when pods ended that nobody saw end
		rule(scheduling, "priorityclasses", "list"),
		rule(devices, "resourceslices", "list"),
		rule(devices, "resourceclaims", "list", "watch"),
	}
}

// LiftRules are what is needed to see what is in force, to lift what an
// enforcement up to this one can have brought about, and to tell of it: when
// usage falls, and when a budget is destroyed.
//
// Bindings are read whosever they are: RBAC can't limit a list to some of them,
// and they hold nothing but names and selectors.
func LiftRules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{rule(admission, "validatingadmissionpolicybindings", "list")}
	if o.allows(budget.Freeze) {
		rules = append(rules,
			named(rule(admission, "validatingadmissionpolicybindings", "update"), kubecluster.FreezeSlotNames()...),
			tellingRule())
	}
	if o.allows(budget.Pause) {
		rules = append(rules,
			rule(apps, "deployments", "get"),
			rule(apps, "deployments/scale", "update"),
			rule(apps, "statefulsets", "get"),
			rule(apps, "statefulsets/scale", "update"),
			rule(batch, "jobs", "get", "patch")) // of spec.suspend alone: see limits
	}
	return rules
}

// tellingRule is for Events; one that is there already counts up.
func tellingRule() rbacv1.PolicyRule { return rule(core, "events", "create", "get", "update") }

// EnforceRules are what else is needed to carry enforcement out, up to an action.
func EnforceRules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{tellingRule()}
	if o.allows(budget.Freeze) {
		rules = append(rules,
			named(rule(admission, "validatingadmissionpolicies", "get"), kubecluster.FreezePolicyName))
	}
	if o.allows(budget.Pause) {
		rules = append(rules,
			rule(apps, "replicasets", "get"), // between a pod and its Deployment
			rule(autoscaling, "horizontalpodautoscalers", "list"))
	}
	if o.allows(budget.Evict) {
		rules = append(rules,
			rule(core, "pods", "get"), // whether the pod is still the same one
			rule(core, "pods/eviction", "create"))
	}
	return rules
}

// NodeRules are what is needed to change nodes, as far as flags say. What exactly may be
// changed is limited further: see nodeLimits.
func NodeRules(o Options) []rbacv1.PolicyRule {
	var verbs []string
	if o.Mark || o.Cordon {
		verbs = append(verbs, "get", "patch")
	}
	if o.Delete {
		verbs = append(verbs, "delete")
	}
	if len(verbs) == 0 {
		return nil
	}
	return []rbacv1.PolicyRule{rule(core, "nodes", verbs...)}
}

// DrainRules are what else an apply or a destroy of pools with nodes needs, which look at
// nodes, count pods with GPUs, and drain. A run has these rights already.
func DrainRules(o Options) []rbacv1.PolicyRule {
	if !o.Nodes.any() && len(o.BootstrapGroups) == 0 {
		return nil
	}
	rules := []rbacv1.PolicyRule{
		rule(core, "nodes", "list"),
		rule(core, "pods", "list"),
		rule(devices, "resourceslices", "list"),
		rule(devices, "resourceclaims", "list"),
	}
	if o.Cordon {
		rules = append(rules, rule(core, "namespaces", "list"), // whether they protect their pods
			rule(core, "pods", "get"), rule(core, "pods/eviction", "create"))
	}
	return rules
}

// NoticeRules are what the agent of a node needs. It is held to its own node.
func NoticeRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "nodes", "get", "patch"),
		rule(core, "nodes/status", "patch"),
	}
}
