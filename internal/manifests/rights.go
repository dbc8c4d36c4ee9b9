package manifests

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

const rbac = "rbac.authorization.k8s.io/v1"

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

func named(r rbacv1.PolicyRule, names ...string) rbacv1.PolicyRule {
	r.ResourceNames = names
	return r
}

// StoreRules are the rights of the store in its namespace. The names of its objects are not known
// in advance, and RBAC has no prefixes.
func StoreRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "secrets", "get", "list", "create", "update", "delete"),    // declarations and journals
		rule(core, "configmaps", "get", "list", "create", "update", "delete"), // status, ledger, history, tombstones
		rule(coordination, "leases", "get", "create", "update", "delete"),     // locks
	}
}

// DeclareRules are the rights to declare a budget.
func DeclareRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		named(rule(core, "namespaces", "get"), "kube-system"), // whose uid is the cluster's identity
	}
}

// ObserveRules are the rights to count GPU-hours.
func ObserveRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "namespaces", "get", "list", "watch"),
		rule(core, "nodes", "list", "watch"),
		rule(core, "pods", "list", "watch"),
		rule(core, "events", "list"), // for unobserved ends of pods
		rule(scheduling, "priorityclasses", "list"),
		rule(devices, "resourceslices", "list"),
		rule(devices, "resourceclaims", "list", "watch"),
	}
}

// LiftRules are the rights to observe enforcement up to an action, to lift it, and to report
// it. They are needed when usage falls, and when a budget is destroyed.
//
// They allow reading all bindings. RBAC cannot limit a list to some of them, and they contain
// only names and selectors.
func LiftRules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{rule(admission, "validatingadmissionpolicybindings", "list")}
	if o.allows(budget.Freeze) {
		rules = append(rules,
			named(rule(admission, "validatingadmissionpolicybindings", "update"), kubecluster.FreezeSlotNames()...),
			reportRule())
	}
	if o.allows(budget.Pause) {
		rules = append(rules,
			rule(apps, "deployments", "get", "list"), // list: what an older gpupool paused
			rule(apps, "deployments/scale", "update"),
			rule(apps, "statefulsets", "get", "list"),
			rule(apps, "statefulsets/scale", "update"),
			rule(batch, "jobs", "get", "list", "patch"), // patch: only of spec.suspend: see limits.enforcement
			rule(batch, "cronjobs", "get", "patch"))     // the same
	}
	return rules
}

// reportRule is for Events; a repeated one increments its count.
func reportRule() rbacv1.PolicyRule { return rule(core, "events", "create", "get", "update") }

// EnforceRules are the additional rights to enforce, up to an action.
func EnforceRules(o Options) []rbacv1.PolicyRule {
	rules := []rbacv1.PolicyRule{reportRule()}
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

// NodeRules are the rights to change nodes, depending on flags. A policy limits them further: see
// limits.nodes.
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

// DrainRules are the additional rights of an apply or a destroy of pools with nodes. These observe
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

// NoticeRules are the rights of a node's agent. It is limited to its own node.
func NoticeRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "nodes", "get", "patch"),
		rule(core, "nodes/status", "patch"),
		rule(core, "pods", "list", "delete"),
	}
}

type grants struct{ Options }

func (g grants) all() []Object {
	all := slices.Concat(
		g.byRole(in(g.Namespace, storeRole), "To use the store. Secrets: declarations may hold user data.", StoreRules(), ReconcileAccount, TerraformAccount),
		g.everywhere("declare", "To identify the cluster.", DeclareRules(), TerraformAccount),
		g.everywhere("observe", "To count GPU-hours.", ObserveRules(), ReconcileAccount),
		g.everywhere("lift", "To observe what budgets enforced, and to lift it.", LiftRules(g.Options), ReconcileAccount, TerraformAccount),
		g.everywhere("enforce", "To enforce budgets, up to "+string(g.Enforcement)+".", EnforceRules(g.Options), ReconcileAccount))
	if rules := NodeRules(g.Options); len(rules) > 0 {
		all = append(all, g.everywhere("nodes", "To mark, cordon and delete nodes of pools, which the policies above limit.", rules, ReconcileAccount,
			TerraformAccount)...)
	}
	if rules := DrainRules(g.Options); len(rules) > 0 {
		all = append(all, g.everywhere("drain", "To observe nodes and their pods, and to drain: terraform apply terminates instances, and "+
			"destroy all of them.",
			rules, TerraformAccount)...)
	}
	return slices.Concat(all, g.stockPools(), g.bootstrapTokens(), g.api())
}

// everywhere grants rights in the whole cluster: budgets select pods of any namespace.
func (g grants) everywhere(name, why string, rules []rbacv1.PolicyRule, accounts ...string) []Object {
	about := metav1.ObjectMeta{Name: g.Namespace + "-" + name, Labels: labels()}
	return []Object{
		{why, &rbacv1.ClusterRole{TypeMeta: kindOf(rbac, "ClusterRole"), ObjectMeta: about, Rules: rules}},
		{"", &rbacv1.ClusterRoleBinding{
			TypeMeta: kindOf(rbac, "ClusterRoleBinding"), ObjectMeta: about,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: about.Name},
			Subjects: g.subjects(accounts),
		}},
	}
}

func (g grants) inNamespace(namespace, name, why string, rules []rbacv1.PolicyRule, accounts ...string) []Object {
	return g.byRole(in(namespace, g.Namespace+"-"+name), why, rules, accounts...)
}

func (g grants) byRole(about metav1.ObjectMeta, why string, rules []rbacv1.PolicyRule, accounts ...string) []Object {
	return []Object{
		{why, &rbacv1.Role{TypeMeta: kindOf(rbac, "Role"), ObjectMeta: about, Rules: rules}},
		{"", &rbacv1.RoleBinding{
			TypeMeta: kindOf(rbac, "RoleBinding"), ObjectMeta: about,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: about.Name},
			Subjects: g.subjects(accounts),
		}},
	}
}

func (g grants) subjects(accounts []string) []rbacv1.Subject {
	subjects := make([]rbacv1.Subject, len(accounts))
	for n, account := range accounts {
		subjects[n] = rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: g.runNamespace()}
	}
	return subjects
}

// stockPools grants both accounts the rights for stock pools. They may observe all namespaces,
// since a run observes all at once, and change those of stock pools.
func (g grants) stockPools() []Object {
	if !g.Stock.Pools {
		return nil
	}
	all := slices.Concat(
		g.everywhere("stock-look", "To observe stock pools.", StockObserveRules(), ReconcileAccount, TerraformAccount),
		g.everywhere("stock-list", "To observe all stock pools at once.", StockListRules(), ReconcileAccount),
	)
	const name, why = "stock-pools", "To manage Deployments of stock pools, which the policies above limit."
	if len(g.Stock.Namespaces) == 0 {
		return append(all, g.everywhere(name, why, StockRules(), ReconcileAccount, TerraformAccount)...)
	}
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(g.Stock.Namespaces))) {
		all = append(all, g.inNamespace(namespace, name, why, StockRules(), ReconcileAccount, TerraformAccount)...)
	}
	return all
}

// bootstrapTokens lets both accounts create and delete bootstrap tokens.
func (g grants) bootstrapTokens() []Object {
	if len(g.BootstrapGroups) == 0 {
		return nil
	}
	return g.inNamespace(kubecluster.TokenNamespace, "bootstrap-tokens",
		"To create and delete the bootstrap tokens of launches, which the policy above limits. No account may read one.",
		TokenRules(), ReconcileAccount, TerraformAccount)
}
