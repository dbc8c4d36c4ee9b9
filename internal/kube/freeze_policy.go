package kube

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// FreezePolicyName is the name of the one policy that all freezes bind to.
const FreezePolicyName = "gpupool-freeze"

const (
	annotationPolicy   = "gpupool/policy"   // on the policy: its revision
	annotationBudget   = "gpupool/budget"   // on a binding: the budget's name
	annotationSelector = "gpupool/selector" // on a binding: the budget's selector
	annotationCounted  = "gpupool/counted"  // on a binding: more resources that count
	annotationIgnored  = "gpupool/ignored"  // on a binding: resources that don't count
	policyRevision     = "2"
)

// frozenResources are the resources that count as GPUs wherever no budget says
// otherwise, as a regular expression (RE2, as CEL has it).
const frozenResources = `^(nvidia\.com/(gpu(\.shared)?|mig-.+)` +
	`|amd\.com/(gpu(_[pv]f)?|[sdtqc]px_nps[0-9])` +
	`|gpu\.intel\.com/(i915|xe)` +
	`|tke\.cloud\.tencent\.com/qgpu-(core|memory)|tencent\.com/vcuda-core` +
	`|volcano\.sh/vgpu-number)$`

// frozenClasses are the resources that stand for devices of a DeviceClass which
// are GPUs by its name.
const frozenClasses = `^deviceclass\.resource\.kubernetes\.io/.*gpu.*$`

// FreezePolicy is the policy that keeps new GPU pods out. It does nothing until
// something binds to it: a freeze is a binding, which says whose pods are kept
// out, and is its own parameter, so that the refusal names the budget.
//
// An error while the policy is evaluated lets the pod in (failurePolicy Ignore):
// a budget is a matter of cost, not of security, and a mistake here must never
// stop workloads that it was not asked about.
func FreezePolicy() *admissionv1.ValidatingAdmissionPolicy {
	ignore, equivalent, forbidden := admissionv1.Ignore, admissionv1.Equivalent, metav1.StatusReasonForbidden
	return &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        FreezePolicyName,
			Labels:      map[string]string{"app.kubernetes.io/name": "gpupool"},
			Annotations: map[string]string{annotationPolicy: policyRevision},
		},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &ignore,
			ParamKind:     &admissionv1.ParamKind{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
			MatchConstraints: &admissionv1.MatchResources{
				MatchPolicy:       &equivalent,
				NamespaceSelector: &metav1.LabelSelector{},
				ObjectSelector:    &metav1.LabelSelector{},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			MatchConditions: []admissionv1.MatchCondition{
				{Name: "not-protected", Expression: notProtected("object")},
				{Name: "not-a-system-namespace", Expression: "!(request.namespace in " + texts(budget.SystemNamespaces()) + ")"},
				{Name: "not-a-reservation", Expression: "!(request.namespace in " + texts(gpu.ReservationNamespaces()) + ")"},
			},
			Variables: []admissionv1.Variable{
				{Name: "containers", Expression: "object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])"},
				{Name: "counted", Expression: names(annotationCounted)},
				{Name: "ignored", Expression: names(annotationIgnored)},
				// Whether claims count: what their devices are can't be told from the pod.
				{Name: "devices", Expression: "!" + texts(gpu.Drivers()) + ".all(d, d in variables.ignored) || variables.counted.exists(d, d.contains('.') && !d.contains('/'))"},
				{Name: "asks", Expression: "variables.containers.exists(c, has(c.resources) && (" + asks("limits") + " || " + asks("requests") + "))"},
				{Name: "claims", Expression: "variables.devices && has(object.spec.resourceClaims) && size(object.spec.resourceClaims) > 0"},
				{Name: "shares", Expression: "!('gpu-fraction' in variables.ignored) && has(object.metadata.annotations) && ('gpu-fraction' in object.metadata.annotations || 'gpu-memory' in object.metadata.annotations)"},
				// Match conditions don't know the namespace's object, validations do.
				{Name: "spared", Expression: "!(" + notProtected("namespaceObject") + ")"},
				{Name: "budget", Expression: "has(params.metadata.annotations) && '" + annotationBudget + "' in params.metadata.annotations" +
					" ? params.metadata.annotations['" + annotationBudget + "'] : params.metadata.name"},
			},
			Validations: []admissionv1.Validation{{
				Expression:        "variables.spared || !(variables.asks || variables.claims || variables.shares)",
				Reason:            &forbidden,
				Message:           "the GPU-hours of a budget that covers this pod are used up",
				MessageExpression: "'the GPU-hours of the budget ' + variables.budget + ' are used up: it admits no new pods with GPUs until its usage is below its limit again'",
			}},
		},
	}
}

// notProtected is true of an object with neither the annotation nor the label
// that protects it.
func notProtected(object string) string {
	marked := func(field string) string {
		all := object + ".metadata." + field
		return "has(" + all + ") && '" + budget.ProtectedKey + "' in " + all + " && " + all + "['" + budget.ProtectedKey + "'] != 'false'"
	}
	return "!(" + marked("annotations") + ") && !(" + marked("labels") + ")"
}

// names are the names in an annotation of the binding.
func names(annotation string) string {
	return "has(params.metadata.annotations) && '" + annotation + "' in params.metadata.annotations ? params.metadata.annotations['" + annotation + "'].split(',') : []"
}

// texts is a list of texts as CEL has it.
func texts(list []string) string { return "['" + strings.Join(list, "', '") + "']" }

// matches is true of a resource r that matches a pattern.
func matches(pattern string) string {
	return "r.matches('" + strings.ReplaceAll(pattern, `\`, `\\`) + "')"
}

// asks is true of a container whose requests or limits name more than zero of a
// resource that counts.
func asks(field string) string {
	quantities := "c.resources." + field
	return "has(" + quantities + ") && " + quantities + ".exists(r, (" + matches(frozenResources) + " && !(r in variables.ignored)" +
		" || " + matches(frozenClasses) + " && variables.devices || r in variables.counted) && string(" + quantities + "[r]) != '0')"
}
