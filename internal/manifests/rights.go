package manifests

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
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
	scheduling   = "scheduling.k8s.io"
)

// rule grants verbs on a resource.
func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// named limits a rule to one object.
func named(name string, r rbacv1.PolicyRule) rbacv1.PolicyRule {
	r.ResourceNames = []string{name}
	return r
}

// StoreRules are what the store needs in its namespace. The names of its objects
// are not known beforehand, and RBAC knows no prefixes.
func StoreRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "secrets", "get", "list", "create", "update", "delete"),    // declarations and journals
		rule(core, "configmaps", "get", "list", "create", "update", "delete"), // status, ledger, tombstones
		rule(coordination, "leases", "get", "create", "update", "delete"),     // locks
	}
}

// DeclareRules are what declaring a budget needs of the cluster.
func DeclareRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		named("kube-system", rule(core, "namespaces", "get")), // whose uid is the cluster's identity
	}
}

// ObserveRules are what counting GPU-hours needs of the cluster.
func ObserveRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "namespaces", "get", "list"),
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
func LiftRules(o Options) []rbacv1.PolicyRule {
	freezes, workloads := []string{"list"}, []string{"list"}
	if o.allows(budget.Freeze) {
		freezes = append(freezes, "delete")
	}
	if o.allows(budget.Pause) {
		workloads = append(workloads, "get", "update")
	}
	rules := []rbacv1.PolicyRule{
		rule(admission, "validatingadmissionpolicybindings", freezes...),
		rule(apps, "deployments", workloads...),
		rule(apps, "statefulsets", workloads...),
		rule(batch, "jobs", workloads...),
	}
	if o.allows(budget.Freeze) {
		rules = append(rules, tellingRule())
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
			named(kube.FreezePolicyName, rule(admission, "validatingadmissionpolicies", "get")),
			rule(admission, "validatingadmissionpolicybindings", "get", "create", "update"))
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
