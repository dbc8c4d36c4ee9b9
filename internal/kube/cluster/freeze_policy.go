package cluster

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// FreezePolicyName is the name of the one policy that all freezes bind to.
const FreezePolicyName = "gpupool-freeze"

// The revision of the policy, in an annotation of it.
const (
	annotationPolicy = "gpupool/policy"
	policyRevision   = "3"
)

// frozenResources are the resources that count as GPUs wherever no budget says
// otherwise.
var frozenResources = []string{
	"nvidia.com/gpu", "nvidia.com/gpu.shared",
	"amd.com/gpu", "amd.com/gpu_pf", "amd.com/gpu_vf",
	"gpu.intel.com/i915", "gpu.intel.com/xe",
	"tke.cloud.tencent.com/qgpu-core", "tke.cloud.tencent.com/qgpu-memory", "tencent.com/vcuda-core",
	"volcano.sh/vgpu-number",
}

// frozenPrefixes begin the names of more such resources: slices of NVIDIA's GPUs,
// and partitions of AMD's.
var frozenPrefixes = []string{
	"nvidia.com/mig-", "amd.com/spx_nps", "amd.com/dpx_nps", "amd.com/tpx_nps", "amd.com/qpx_nps", "amd.com/cpx_nps",
}

// frozenClasses begins the names of resources that stand for devices of a
// DeviceClass. Those are GPUs that have gpu in the class's name.
const frozenClasses = "deviceclass.resource.kubernetes.io/"

// The most that a pod may have while it is frozen. With more it is refused unread:
// the API server spends a limited effort on a policy, and no pod may use that up.
const (
	mostContainers = 64
	mostNamed      = 32 // resources in one container
)

// FreezePolicy is the policy that keeps new GPU pods out. It does nothing until
// a slot is taken. The slot says whose pods are kept out, and is its own parameter,
// so that the refusal names the budget.
//
// What can't be evaluated is refused (failurePolicy Fail): else whoever makes it
// fail gets in. That touches only pods that a freeze selects: for others nothing is
// evaluated, and namespaces of the system are left out before.
func FreezePolicy() *admissionv1.ValidatingAdmissionPolicy {
	fail, equivalent, forbidden := admissionv1.Fail, admissionv1.Equivalent, metav1.StatusReasonForbidden
	return &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        FreezePolicyName,
			Labels:      map[string]string{"app.kubernetes.io/name": "gpupool"},
			Annotations: map[string]string{annotationPolicy: policyRevision},
		},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			ParamKind:     &admissionv1.ParamKind{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
			MatchConstraints: &admissionv1.MatchResources{
				MatchPolicy: &equivalent,
				NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
					Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn,
					Values: slices.Concat(budget.SystemNamespaces(), gpu.ReservationNamespaces()),
				}}},
				ObjectSelector: &metav1.LabelSelector{},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			Variables: freezeVariables(),
			Validations: []admissionv1.Validation{{
				Expression: "variables.spared || !(variables.crowded || variables.claims || variables.shares || variables.asks)",
				Reason:     &forbidden,
				Message:    "the GPU-hours of a budget that covers this pod are used up",
				MessageExpression: "'the GPU-hours of the budget ' + variables.budget + ' are used up: it admits no new pods with GPUs until its usage is below its limit again' + " +
					fmt.Sprintf("(variables.crowded ? ', and none at all with more than %d containers, or more than %d resources in one of them' : '')", mostContainers, mostNamed),
			}},
		},
	}
}

// freezeVariables are evaluated where the validation comes to them, and in the
// order in which it does.
func freezeVariables() []admissionv1.Variable {
	named := func(field string) string {
		return fmt.Sprintf("has(c.resources.%[1]s) && size(c.resources.%[1]s) > %[2]d", field, mostNamed)
	}
	return []admissionv1.Variable{
		{Name: "count", Expression: "size(object.spec.containers) + (has(object.spec.initContainers) ? size(object.spec.initContainers) : 0)"},
		{Name: "containers", Expression: "object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])"},
		{Name: "crowded", Expression: fmt.Sprintf("variables.count > %d || variables.containers.exists(c, has(c.resources) && (%s || %s))",
			mostContainers, named("limits"), named("requests"))},
		{Name: "counted", Expression: names(annotationCounted)},
		{Name: "ignored", Expression: names(annotationIgnored)},
		{Name: "exact", Expression: CELTexts(frozenResources...) + ".filter(n, !(n in variables.ignored)) + variables.counted"},
		// Whether claims count: what their devices are can't be told from the pod.
		{Name: "devices", Expression: "!" + CELTexts(gpu.Drivers()...) + ".all(d, d in variables.ignored) || variables.counted.exists(d, d.contains('.') && !d.contains('/'))"},
		{Name: "claims", Expression: "variables.devices && has(object.spec.resourceClaims) && size(object.spec.resourceClaims) > 0"},
		{Name: "shares", Expression: "!('gpu-fraction' in variables.ignored) && has(object.metadata.annotations) && ('gpu-fraction' in object.metadata.annotations || 'gpu-memory' in object.metadata.annotations)"},
		{Name: "asks", Expression: "variables.containers.exists(c, has(c.resources) && (" + asks("c.resources", "limits") + " || " + asks("c.resources", "requests") + "))" +
			" || " + asks("object.spec", "overhead")},
		{Name: "honoured", Expression: "!(" + marked("params", "annotations", annotationProtection) + ") || params.metadata.annotations['" + annotationProtection + "'] != 'false'"},
		{Name: "spared", Expression: isProtected("namespaceObject") + " || variables.honoured && (" + isProtected("object") + ")"},
		{Name: "budget", Expression: marked("params", "annotations", annotationBudget) + " ? params.metadata.annotations['" + annotationBudget + "'] : params.metadata.name"},
	}
}

// marked is true of an object that has a label or annotation of this name.
func marked(object, field, key string) string {
	all := object + ".metadata." + field
	return "has(" + all + ") && '" + key + "' in " + all
}

// isProtected is true of an object with the annotation or label that protects it.
func isProtected(object string) string {
	by := func(field string) string {
		return marked(object, field, budget.ProtectedKey) + " && " + object + ".metadata." + field + "['" + budget.ProtectedKey + "'] != 'false'"
	}
	return "(" + by("annotations") + " || " + by("labels") + ")"
}

// names are the names in an annotation of the slot.
func names(annotation string) string {
	list := "params.metadata.annotations['" + annotation + "']"
	return marked("params", "annotations", annotation) + " && " + list + " != '' ? " + list + ".split(',') : []"
}

// CELTexts is a list of texts as CEL has it. None may have a quote in it.
func CELTexts(list ...string) string { return "['" + strings.Join(list, "', '") + "']" }

// asks is true of quantities that name more than zero of a resource that counts.
// Known names are looked up, however many there are; only what is known by its
// beginning is sought.
func asks(object, field string) string {
	quantities := object + "." + field
	var begins []string
	for _, prefix := range frozenPrefixes {
		begins = append(begins, "r.startsWith('"+prefix+"')")
	}
	return "has(" + quantities + ") && (" +
		"variables.exact.exists(n, n in " + quantities + " && string(" + quantities + "[n]) != '0')" +
		" || " + quantities + ".exists(r, (" + strings.Join(begins, " || ") + " || variables.devices && r.startsWith('" + frozenClasses + "') && r.contains('gpu'))" +
		" && string(" + quantities + "[r]) != '0' && !(r in variables.ignored)))"
}
