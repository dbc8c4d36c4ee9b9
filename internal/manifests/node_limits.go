package manifests

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// nodes limits the accounts further than RBAC can: a policy for all changes of nodes, and one for
// each right. Expressions that cannot be evaluated reject the request.
func (l limits) nodes() []Object {
	accounts := []string{ReconcileAccount, TerraformAccount}
	updates := []admissionv1.NamedRuleWithOperations{ruleFor(core, []string{"nodes"}, admissionv1.Update)}
	var all []Object
	if l.Mark || l.Cordon {
		var spec, metadata []string
		if l.Cordon {
			spec = append(spec, "unschedulable")
		}
		if l.Mark {
			metadata = append(metadata, "annotations")
		}
		all = append(all, l.policy("nodes", "It holds the accounts to what the policies below are about: of a node, RBAC would let them change everything.",
			accounts, []admissionv1.NamedRuleWithOperations{ruleFor(core, []string{"nodes"}, admissionv1.Create, admissionv1.Update)}, nodeVariables(),
			must("request.operation == 'UPDATE' && "+same("spec", spec...)+" && "+sameMetadata(metadata...),
				"of a node, gpupool may change nothing but what its rights name"),
			must("variables.ours", "gpupool changes no node of another cloud"))...)
	}
	if l.Mark {
		all = append(all, l.marks(accounts, updates)...)
	}
	if l.Cordon {
		all = append(all, l.cordons(accounts, updates)...)
	}
	if l.Delete {
		const mark = "'" + kubecluster.NodePoolAnnotation + "'"
		all = append(all, l.policy("delete-nodes", "It limits the accounts to deleting Tencent Cloud nodes with a pool's mark whose kubelet does "+
			"not report.", accounts,
			[]admissionv1.NamedRuleWithOperations{ruleFor(core, []string{"nodes"}, admissionv1.Delete)}, nodeVariables(),
			must(mark+" in variables.before && variables.before["+mark+"] != ''", "gpupool deletes no node without a pool's mark"),
			must("variables.ours", "gpupool deletes no node of another cloud"),
			must("!has(oldObject.status.conditions) || oldObject.status.conditions.all(c, c.type != 'Ready' || c.status == 'Unknown')",
				"gpupool deletes no node whose kubelet reports"))...)
	}
	return all
}

// nodeVariables are a node's annotations and cordon, now and before, and whether it may be a
// Tencent Cloud instance.
func nodeVariables() []admissionv1.Variable {
	annotations := func(of string) string {
		return "has(" + of + ".metadata.annotations) ? " + of + ".metadata.annotations : {}"
	}
	cordoned := func(of string) string {
		return "has(" + of + ".spec.unschedulable) && " + of + ".spec.unschedulable"
	}
	return []admissionv1.Variable{
		{Name: "now", Expression: annotations("object")},
		{Name: "before", Expression: annotations("oldObject")},
		{Name: "closed", Expression: cordoned("object")},
		{Name: "wasClosed", Expression: cordoned("oldObject")},
		{Name: "ours", Expression: "!has(oldObject.spec.providerID) || oldObject.spec.providerID == '' || " +
			"oldObject.spec.providerID.startsWith('" + node.Cloud + "://')"},
	}
}

// marks lets the accounts add a pool's mark to a node without one, and remove it, as a pool does
// that detaches its instances. The name of a cordon's author can only change with the cordon, so
// that the accounts cannot claim another author's.
func (l limits) marks(accounts []string, updates []admissionv1.NamedRuleWithOperations) []Object {
	marks := strings.NewReplacer("POOL", "'"+kubecluster.NodePoolAnnotation+"'", "BY", "'"+kubecluster.NodeCordonAnnotation+"'")
	return l.policy("mark-nodes", "It limits the accounts to marking Tencent Cloud nodes as a pool's, to removing such marks, and to recording "+
		"who cordoned them.",
		accounts, updates, nodeVariables(),
		must(sameMap("variables.now", "variables.before", kubecluster.NodePoolAnnotation, kubecluster.NodeCordonAnnotation),
			"gpupool may only change its own annotations of a node"),
		must(marks.Replace("!(POOL in variables.now) || (POOL in variables.before ? variables.now[POOL] == variables.before[POOL] : variables.now[POOL] != "+
			"'')"),
			"gpupool marks no node with another mark"),
		must(marks.Replace("BY in variables.now ? BY in variables.before && variables.now[BY] == variables.before[BY] || variables.closed && "+
			"!variables.wasClosed : !(BY in variables.before) || !variables.closed"),
			"gpupool may only record a cordon that it makes with the same change"),
	)
}

// cordons lets the accounts cordon a node only in a pool's name, and uncordon it only if a pool
// cordoned it.
func (l limits) cordons(accounts []string, updates []admissionv1.NamedRuleWithOperations) []Object {
	by := "'" + kubecluster.NodeCordonAnnotation + "'"
	return l.policy("cordon-nodes", "It limits the accounts to cordoning Tencent Cloud nodes in a pool's name, and to undoing that.", accounts, updates,
		nodeVariables(),
		must("!variables.closed || variables.wasClosed || "+by+" in variables.now && variables.now["+by+"] != ''",
			"gpupool must record the pool when it cordons a node"),
		must("variables.closed || !variables.wasClosed || "+by+" in variables.before && !("+by+" in variables.now)", "gpupool uncordons only what it cordoned"),
	)
}

// nodeOfToken is the API server's field for a token that is bound to a pod or a node.
const nodeOfToken = "authentication.kubernetes.io/node-name"

// ofToken is true if the user's token is bound to the node.
func ofToken(name string) string {
	return "has(request.userInfo.extra) && '" + nodeOfToken + "' in request.userInfo.extra && " +
		"request.userInfo.extra['" + nodeOfToken + "'] == [" + name + "]"
}

// noticeWatch limits the agent of a node to the node of its token: there to one condition and one taint,
// and to deleting pods.
func (l limits) noticeWatch() []Object { return slices.Concat(l.noticeMarks(), l.noticePods()) }

func (l limits) noticeMarks() []Object {
	list := func(of, part, field string) string {
		return "has(" + of + "." + part + "." + field + ") ? " + of + "." + part + "." + field + " : []"
	}
	names := strings.NewReplacer("TAINT", "'"+kubecluster.NoticeTaint+"'", "CONDITION", "'"+kubecluster.NoticeCondition+"'",
		"REASON", "'"+kubecluster.NoticeReason+"'", "PATTERN", "'"+node.NoticePattern+"'")
	return l.policy("notice-watch", "It limits the agent of a node to the node of its token, and there to the condition and the taint of an "+
		"interruption notice.",
		[]string{NoticeAccount},
		[]admissionv1.NamedRuleWithOperations{
			ruleFor(core, []string{"nodes"}, admissionv1.Create, admissionv1.Update),
			ruleFor(core, []string{"nodes/status"}, admissionv1.Update),
		},
		[]admissionv1.Variable{
			{Name: "taints", Expression: list("object", "spec", "taints")},
			{Name: "hadTaints", Expression: list("oldObject", "spec", "taints")},
			{Name: "conditions", Expression: list("object", "status", "conditions")},
			{Name: "hadConditions", Expression: list("oldObject", "status", "conditions")},
		},
		must(ofToken("request.name"),
			"the agent may only change its own node, with a token of a pod that runs there"),
		must(same("spec", "taints")+" && "+same("status", "conditions")+" && "+sameMetadata(),
			"the agent may only change its condition and its taint"),
		must(names.Replace("variables.taints.filter(t, t.key != TAINT) == variables.hadTaints.filter(t, t.key != TAINT)"),
			"the agent may only change its own taint"),
		must(names.Replace("variables.taints.filter(t, t.key == TAINT).all(t, t.effect == 'NoSchedule' && "+
			"has(t.value) && t.value.matches('^[0-9]{8}T[0-9]{6}Z$'))"),
			"the agent's taint is NoSchedule, with the time of the notice"),
		must(names.Replace("variables.conditions.filter(c, c.type != CONDITION) == variables.hadConditions.filter(c, c.type != CONDITION)"),
			"the agent may only change its own condition"),
		must(names.Replace("variables.conditions.filter(c, c.type == CONDITION).size() < 2 && variables.conditions.filter(c, c.type == CONDITION).all(c, "+
			"c.status == 'True' && has(c.reason) && c.reason == REASON && has(c.message) && c.message.matches(PATTERN))"),
			"the agent sets at most one condition, with the time of the interruption"),
	)
}

// noticePods is no limit to the time of a notice: a policy cannot read the node.
func (l limits) noticePods() []Object {
	return l.policy("notice-watch-pods", "It limits the agent of a node to deleting pods of the node of its token, each by its UID and with "+
		"time to end.",
		[]string{NoticeAccount}, []admissionv1.NamedRuleWithOperations{ruleFor(core, []string{"pods"}, admissionv1.Delete)}, nil,
		must("has(oldObject.spec.nodeName) && "+ofToken("oldObject.spec.nodeName"),
			"the agent may only delete pods of its own node, with a token of a pod that runs there"),
		must("has(request.options.preconditions) && has(request.options.preconditions.uid)",
			"the agent must name the UID of a pod that it deletes"),
		must("request.options.gracePeriodSeconds > 0",
			"the agent must give a pod time to end"),
	)
}
