package cluster

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// FreezePolicyName is the name of the one policy that all freezes bind to.
const FreezePolicyName = "gpupool-freeze"

// The revision of the policy, in an annotation of it. It changes with what a freeze depends on, so that the
// cluster must apply the policy again. The text of the message is not part of that.
const (
	annotationPolicy = "gpupool/policy"
	policyRevision   = "4"
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

// FreezePolicy is the policy that blocks new GPU pods. It does nothing until a slot is taken. The slot
// selects the pods, and is its own parameter, so that the refusal names the budget.
//
// An unbound pod can request GPUs after its creation: a fraction is an annotation, and a label adds it to a
// budget. So updates are checked until it is bound. An admitted pod stays admitted: an update that changes
// neither its request nor its budget is never refused.
//
// An expression that cannot be evaluated refuses the pod (failurePolicy Fail). Otherwise a pod that causes a
// failure would be admitted. That affects only pods that a freeze selects: for others nothing is evaluated,
// and system namespaces are excluded before.
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
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			MatchConditions: []admissionv1.MatchCondition{{
				Name: "has-no-node-yet", Expression: "request.operation != 'UPDATE' || !has(oldObject.spec.nodeName) || oldObject.spec.nodeName == ''",
			}},
			Variables: freezeVariables(),
			Validations: []admissionv1.Validation{{
				Expression: "variables.left || variables.spared || !(variables.crowded || variables.claims || variables.shares || variables.asks) || " +
					"variables.waited",
				Reason:  &forbidden,
				Message: "the GPU-hours of a budget that covers this pod are used up",
				MessageExpression: "'the GPU-hours of the budget ' + variables.budget + ' are used up: it admits no new pods with GPUs until its usage is " +
					"below its limit again' + variables.recovers + " +
					"(request.operation == 'UPDATE' ? ', nor may a pod that waits come to ask for GPUs, or come under the budget with them' : '') + " +
					fmt.Sprintf("(variables.crowded ? ', and none at all with more than %d containers, or more than %d resources in one of them' : '')",
						mostContainers, mostNamed),
			}},
		},
	}
}
