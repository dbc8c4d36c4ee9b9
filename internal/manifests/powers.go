package manifests

import (
	"fmt"
	"strings"
)

// Power is how some of the rights can be abused with a printed account, for example by a
// compromised run.
type Power struct {
	Verbs     []string
	Resources []string
	Where     string
	Remains   string // possible abuse
	Never     string // what a test tries, and the cluster refuses
}

// Where rights hold.
const (
	inStore    = "the store's namespace"
	everywhere = "everywhere"
	whereStock = "in the namespaces of `--stock-namespaces`, or in all but those of the system and of gpupool"
)

// Powers returns all rights of the manifests with all options. A test tries the abuse in Never with
// each account, and is refused.
func Powers() []Power {
	return []Power{
		{
			[]string{"get", "list", "create", "update", "delete"}, []string{"secrets"}, inStore,
			"to read the user data in declarations of pools. To change declarations, and so to launch instances with other user data, to " +
				"terminate instances, or to evict pods",
			"Secrets of other namespaces, including Tencent Cloud credentials; tokens of service accounts: this namespace only has `default`, " +
				"without rights",
		},
		{
			[]string{"create", "delete"}, []string{"secrets"}, "with `--bootstrap-groups`, bootstrap tokens of `kube-system` with a pool's mark",
			"to create bootstrap tokens of the declared groups, valid for at most a day, and to join machines with them as nodes of any name. " +
				"Pods are scheduled there, and a node reads the Secrets and ConfigMaps of its pods. To delete the tokens of launches, whose " +
				"instances then do not join",
			"to read or list any; other groups, types and names; a token without an expiry within a day; to delete foreign tokens",
		},
		{
			[]string{"get", "list", "create", "update", "delete"}, []string{"configmaps"}, inStore,
			"to rewrite statuses and the ledger, and so to change which budgets are exceeded; to rewrite pauses, and so to resume workloads at " +
				"another size",
			"ConfigMaps of other namespaces",
		},
		{
			[]string{"get", "create", "update", "delete"}, []string{"leases"}, inStore,
			"to block runs, or to let two run at once", "Leases of other namespaces, which nodes and controllers need",
		},
		{
			[]string{"get", "list", "watch"}, []string{"namespaces"}, everywhere + "; for Terraform only `kube-system`, with `--stock-pools` any " +
				"by name, and with `--cordon-nodes` the list",
			"to read names and labels", "to change or create a namespace",
		},
		{
			[]string{"list", "watch"}, []string{"nodes"}, everywhere, "to read them", "to reach a kubelet",
		},
		{
			[]string{"get", "patch"}, []string{"nodes"}, "with `--mark-nodes` and `--cordon-nodes` all Tencent Cloud nodes, or nodes without a " +
				"provider ID; with `--notice-watch`, for an agent, its own node",
			"to read any node by name; to mark unmarked nodes as a pool's; to cordon nodes in a pool's name, and to undo that. As an agent, to " +
				"keep new pods off its own node by the taint `gpupool/reclaim`",
			"to undo or claim a foreign cordon; to change a mark; nodes of another cloud; labels, other annotations, taints, addresses, owners. " +
				"As an agent, any other node, and everything without a token of a pod on that node",
		},
		{
			[]string{"patch"}, []string{"nodes/status"}, "with `--notice-watch`, for an agent, its own node",
			"to announce the interruption of its own instance, so that a replacement is launched, within `maximum`, and the node is drained",
			"other conditions, capacity, addresses; any other node",
		},
		{
			[]string{"delete"}, []string{"nodes"}, "with `--delete-nodes`, nodes with a pool's mark whose kubelet does not report",
			"to mark nodes and delete them: their pods then start elsewhere without respect for disruption budgets, until the kubelet registers " +
				"the node again", "nodes without the mark, Ready nodes, and nodes of another cloud",
		},
		{
			[]string{"get", "list", "watch"}, []string{"pods"}, everywhere + ", for an agent of `--notice-watch` `list`",
			"to read all pods, including the values in their `env` (but no referenced Secret)",
			"to create, change or delete pods, enter them, or read their logs",
		},
		{
			[]string{"delete"}, []string{"pods"}, "with `--notice-watch`, for an agent, pods of its own node",
			"to delete the pods of its own node at any time, also protected ones, and without regard to disruption budgets",
			"pods of other nodes, and everything without a token of a pod on that node. To delete them without time to end, by name only, or all at once",
		},
		{
			[]string{"patch"}, []string{"pods"}, "with `--stock-pools`, pods with the label `gpupool/stock-pool`, " + whereStock,
			"to make scale-downs delete other pods first", "every other annotation, labels, owners, the rest of a pod; a cost that deletes a pod " +
				"sooner; pods without the label",
		},
		{
			[]string{"get", "list", "create", "update"}, []string{"events"}, everywhere,
			"to read Events, and to forge Events of gpupool", "to delete Events; to create or change Events of another source; finalizers and " +
				"owners",
		},
		{
			[]string{"list"}, []string{"priorityclasses", "resourceslices"}, everywhere, "to read them", "to change them",
		},
		{
			[]string{"list", "watch"}, []string{"resourceclaims"}, everywhere, "to read them", "to change a claim, or allocate devices to it",
		},
		{
			[]string{"list", "update"}, []string{"validatingadmissionpolicybindings"}, "`list` " + everywhere + ", `update` the slots of freezes",
			"to lift freezes, and lose slots; to reject requests by binding other policies of the cluster to them. No policy can limit this " +
				"right: policies do not apply to their bindings",
			"to create a binding, delete one, or change one that is not a slot: foreign rejections stay",
		},
		{
			[]string{"get"}, []string{"validatingadmissionpolicies"}, "`gpupool-freeze`", "to read it", "to change it, or any other policy",
		},
		{
			[]string{"get"}, []string{"deployments", "statefulsets", "replicasets"}, everywhere,
			"to read them by name, including the values in their pods' `env`", "to change or delete them: their images, service accounts, labels",
		},
		{
			[]string{"list"}, []string{"deployments", "statefulsets", "jobs"}, everywhere,
			"to read them, including the values in their pods' `env`; a run looks for those that an older gpupool left paused", "to change or delete them all",
		},
		{
			[]string{"list"}, []string{"replicasets"}, everywhere + ", with `--stock-pools`", "to read them, as by name", "to change or delete them all",
		},
		{
			[]string{"create", "patch", "delete"}, []string{"deployments"},
			"with `--stock-pools`, those of stock pools: the label `gpupool/stock-pool` is their name, or they have fields of a former one. Only " + whereStock,
			"**to run any pods there**: any image and node, with any service account and Secret of the namespace, within its pod security " +
				"level. No policy can know which of them a declared stock pool needs. Name the namespaces with `--stock-namespaces`, " +
				"and enforce pod security there. Keep accounts with rights and foreign Secrets out of them",
			"Deployments without that label, including those that these accounts scaled; to add or remove the label; owners and finalizers, also " +
				"at creation; excluded namespaces",
		},
		{
			[]string{"get", "list"}, []string{"poddisruptionbudgets"}, everywhere + ", with `--stock-pools`", "to read them", "to change or delete them",
		},
		{
			[]string{"create", "patch", "delete"}, []string{"poddisruptionbudgets"}, "with `--stock-pools`, as for Deployments",
			"to protect any pods there from eviction, and so to block node drains",
			"foreign disruption budgets; excluded namespaces",
		},
		{
			[]string{"update"}, []string{"deployments/scale", "statefulsets/scale"},
			everywhere + " but in the system's namespaces, and those of gpupool, also of another installation",
			"to start fewer or more of the same pods, or none. A StatefulSet that deletes its volumes when it is scaled down loses them",
			"the namespaces that are left out; anything but the count",
		},
		{
			[]string{"get", "patch"}, []string{"jobs", "cronjobs"}, everywhere + "; `patch` as for scales",
			"to read Jobs and CronJobs by name; to suspend and resume them, which ends the pods of Jobs",
			"to change anything but `spec.suspend`, create Jobs or CronJobs, or delete them",
		},
		{
			[]string{"list"}, []string{"horizontalpodautoscalers"}, everywhere, "to read them", "to change them",
		},
		{
			[]string{"create"}, []string{"tokenreviews", "subjectaccessreviews"}, everywhere + ", with `--api`",
			"to learn whether a token is valid, and what any user may do", "to get a token, or to do what another user may",
		},
		{
			[]string{"create"}, []string{"pods/eviction"}, everywhere + " but in the system's namespaces, and those of gpupool, also of another installation",
			"to evict any pod that its disruption budget lets go, and any that waits or is ending already, with a grace period of its choosing",
			"the namespaces that are left out; running pods that a disruption budget keeps; to kill a pod without a grace period",
		},
	}
}

// PowersTable returns the table of the documentation.
func PowersTable() string {
	var out strings.Builder
	out.WriteString("| right | where | what it can be abused for | what is refused |\n|---|---|---|---|\n")
	for _, p := range Powers() {
		resources := "`" + strings.Join(p.Resources, "`, `") + "`"
		fmt.Fprintf(&out, "| %s %s | %s | %s | %s |\n", strings.Join(p.Verbs, ", "), resources, p.Where, p.Remains, p.Never)
	}
	return out.String()
}
