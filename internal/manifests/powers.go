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
	whereStock = "in the namespaces of `--stock-namespaces`, or in all but the system's, and those of gpupool"
)

// Powers returns all rights of the manifests with all options. A test tries the abuse in Never with
// each account, and is refused.
func Powers() []Power {
	return []Power{
		{
			[]string{"get", "list", "create", "update", "delete"}, []string{"secrets"}, inStore,
			"to read the user data in declarations of pools; to declare pools and budgets, change and delete them, so that the next run launches machines " +
				"with other user data, ends some, or evicts pods",
			"Secrets of other namespaces, the credentials of the cloud included; tokens of service accounts: there is none in this namespace but " +
				"`default`, which may do nothing",
		},
		{
			[]string{"create", "delete"}, []string{"secrets"}, "with `--bootstrap-groups`, bootstrap tokens of `kube-system` that bear a pool's mark",
			"to make bootstrap tokens of the declared groups, each valid for a day at most, and with one join machines as nodes under any name: pods are " +
				"scheduled there, and a node reads the Secrets and ConfigMaps of its pods; to delete the tokens of launches, whose machines then don't join",
			"to read or list any; other groups, types and names; a token that does not expire, or not within a day; to delete tokens that others made",
		},
		{
			[]string{"get", "list", "create", "update", "delete"}, []string{"configmaps"}, inStore,
			"to rewrite statuses and the ledger, and so to have budgets be exceeded or not; to rewrite what is paused, and so to have runs resume " +
				"workloads at another size",
			"ConfigMaps of other namespaces",
		},
		{
			[]string{"get", "create", "update", "delete"}, []string{"leases"}, inStore,
			"to hold up runs, or have two act at once", "leases of other namespaces, by which nodes and controllers live",
		},
		{
			[]string{"get", "list", "watch"}, []string{"namespaces"}, everywhere + "; for Terraform `kube-system` alone, with `--stock-pools` any by name, " +
				"and with `--cordon-nodes` the list",
			"to read names and labels", "to change or create a namespace",
		},
		{
			[]string{"list", "watch"}, []string{"nodes"}, everywhere, "to read them", "to reach a kubelet",
		},
		{
			[]string{"get", "patch"}, []string{"nodes"}, "with `--mark-nodes` and `--cordon-nodes` all nodes of this cloud, or without a provider id; with " +
				"`--notice-watch`, for an agent, its own node",
			"to read any node by name; to mark nodes as a pool's that are none's, and to cordon nodes in a pool's name and undo that; as an agent, to keep " +
				"new pods off its own node by the taint `gpupool/reclaim`",
			"to uncordon what somebody else cordoned, or claim it; to change or take a mark; nodes of another cloud; labels, other annotations, taints, " +
				"addresses, owners; as an agent, any other node, and all of it without a token of a pod on that node",
		},
		{
			[]string{"patch"}, []string{"nodes/status"}, "with `--notice-watch`, for an agent, its own node",
			"to say that its own instance is taken back, so that a replacement is launched, within `maximum`, and the node drained",
			"other conditions, capacity, addresses; any other node",
		},
		{
			[]string{"delete"}, []string{"nodes"}, "with `--delete-nodes`, those that bear a pool's mark and whose kubelet does not report",
			"to mark nodes and delete them: their pods are then started elsewhere without regard to disruption budgets, until the kubelet registers " +
				"the node again", "nodes without the mark, Ready ones, and those of another cloud, whatever they bear",
		},
		{
			[]string{"get", "list", "watch"}, []string{"pods"}, everywhere,
			"to read all pods, with the values that stand in their `env` (a Secret that is referred to is not shown)",
			"to create, change or delete pods, enter them, or read their logs",
		},
		{
			[]string{"patch"}, []string{"pods"}, "with `--stock-pools`, those that bear the label `gpupool/stock-pool`, " + whereStock,
			"to have scale-downs end other pods first", "every other annotation, labels, owners, the rest of a pod; a cost that ends a pod sooner; pods " +
				"without the label",
		},
		{
			[]string{"get", "list", "create", "update"}, []string{"events"}, everywhere,
			"to read Events, and to make up some in gpupool's name", "to delete Events; to create or rewrite any that name another source; " +
				"finalizers and owners",
		},
		{
			[]string{"list"}, []string{"priorityclasses", "resourceslices"}, everywhere, "to read them", "to change them",
		},
		{
			[]string{"list", "watch"}, []string{"resourceclaims"}, everywhere, "to read them", "to change a claim, or give it devices",
		},
		{
			[]string{"list", "update"}, []string{"validatingadmissionpolicybindings"}, "`list` " + everywhere + ", `update` the 64 slots",
			"to lift freezes, and lose slots; to refuse requests that some policy of the cluster was not meant for, by binding it to more of them (no " +
				"policy can hold this right, since policies don't apply to their bindings)",
			"to create a binding, delete one, or change one that is no slot: whatever others forbid stays forbidden",
		},
		{
			[]string{"get"}, []string{"validatingadmissionpolicies"}, "`gpupool-freeze`", "to read it", "to change it, or any other policy",
		},
		{
			[]string{"get"}, []string{"deployments", "statefulsets", "replicasets"}, everywhere,
			"to read them by name, with the values that stand in their pods' `env`", "to change or delete them: their images, service accounts, labels",
		},
		{
			[]string{"list"}, []string{"deployments", "statefulsets", "jobs"}, everywhere,
			"to read them, as by name; a run seeks those that an older gpupool left paused", "to change or delete them all",
		},
		{
			[]string{"list"}, []string{"replicasets"}, everywhere + ", with `--stock-pools`", "to read them, as by name", "to change or delete them all",
		},
		{
			[]string{"create", "patch", "delete"}, []string{"deployments"},
			"with `--stock-pools`, those that bear the label `gpupool/stock-pool` with their own name, or had fields written by a stock " +
				"pool before, " + whereStock,
			"**to run any pods there**: any image, command and node, with any service account and any Secret of the namespace, as far as its pod security " +
				"lets them. Which of them a declared stock pool asks for, no policy can know: name the namespaces by `--stock-namespaces`, have pod " +
				"security enforced there, and keep accounts with rights and Secrets of others out of them",
			"Deployments without that label, also those that these accounts scaled; to give it to them, or to take it away; owners and finalizers, on " +
				"creation too; the namespaces that are left out",
		},
		{
			[]string{"get", "list"}, []string{"poddisruptionbudgets"}, everywhere + ", with `--stock-pools`", "to read them", "to change or delete them",
		},
		{
			[]string{"create", "patch", "delete"}, []string{"poddisruptionbudgets"}, "with `--stock-pools`, as for Deployments",
			"to keep any pods there from being evicted, and so nodes from being drained",
			"disruption budgets of others, which keep what they keep; the namespaces that are left out",
		},
		{
			[]string{"update"}, []string{"deployments/scale", "statefulsets/scale"},
			everywhere + " but in the system's namespaces, and those of gpupool, also of another installation",
			"to start fewer or more of the same pods, or none. A StatefulSet that deletes its volumes when it is scaled down loses them",
			"the namespaces that are left out; anything but the count",
		},
		{
			[]string{"get", "patch"}, []string{"jobs"}, everywhere + "; `patch` as for scales",
			"to read Jobs by name; to suspend and resume them, which ends their pods", "to change anything but `spec.suspend`, create Jobs or delete them",
		},
		{
			[]string{"list"}, []string{"horizontalpodautoscalers"}, everywhere, "to read them", "to change them",
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
