package manifests

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
)

// limits hold the accounts to less than RBAC can say: of a Job, which has no scale
// of its own, they may change spec.suspend alone, and they pause and evict nothing
// in the namespaces that enforcement never touches. What can't be evaluated is
// refused.
func (o Options) limits() []Object {
	if !o.allows(budget.Pause) {
		return nil
	}
	const version = "admissionregistration.k8s.io/v1"
	about := metav1.ObjectMeta{Name: o.Namespace + "-limits", Labels: labels()}
	fail, exact, forbidden := admissionv1.Fail, admissionv1.Equivalent, metav1.StatusReasonForbidden
	return []Object{
		{"It holds the accounts to suspending Jobs, of which RBAC would let them change everything, and to namespaces other than the system's and these two.", &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta: kindOf(version, "ValidatingAdmissionPolicy"), ObjectMeta: about,
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: &fail,
				MatchConstraints: &admissionv1.MatchResources{MatchPolicy: &exact, ResourceRules: []admissionv1.NamedRuleWithOperations{
					concerning(batch, "v1", []string{"jobs"}, admissionv1.Create, admissionv1.Update),
					concerning(apps, "v1", []string{"deployments/scale", "statefulsets/scale"}, admissionv1.Update),
					concerning(core, "v1", []string{"pods/eviction"}, admissionv1.Create),
				}},
				MatchConditions: []admissionv1.MatchCondition{{
					Name: "by-gpupool", Expression: "request.userInfo.username in " + kubecluster.CELTexts(o.username(ReconcileAccount), o.username(TerraformAccount)),
				}},
				Validations: []admissionv1.Validation{
					{
						Expression: "!(request.namespace in " + kubecluster.CELTexts(append(budget.SystemNamespaces(), o.Namespace, o.runNamespace())...) + ")",
						Reason:     &forbidden, Message: "gpupool pauses and evicts nothing in this namespace",
					},
					{
						Expression: "request.resource.resource != 'jobs' || request.operation == 'UPDATE' && " + suspendAlone(),
						Reason:     &forbidden, Message: "of a Job, gpupool may change spec.suspend alone",
					},
				},
			},
		}},
		{"", &admissionv1.ValidatingAdmissionPolicyBinding{
			TypeMeta: kindOf(version, "ValidatingAdmissionPolicyBinding"), ObjectMeta: about,
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: about.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			},
		}},
	}
}

func concerning(group, version string, resources []string, operations ...admissionv1.OperationType) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: operations,
		Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources},
	}}
}

// username is what the API server calls an account.
func (o Options) username(account string) string {
	return "system:serviceaccount:" + o.runNamespace() + ":" + account
}

// suspendAlone is true where nothing of an object was changed but spec.suspend,
// and what the API server itself writes at each change. It goes by what is there,
// and so holds for fields that later versions of Jobs will have.
func suspendAlone() string {
	same := func(part string, but ...string) string {
		now, before := "dyn(object."+part+")", "dyn(oldObject."+part+")"
		list := kubecluster.CELTexts(but...)
		return now + ".all(k, k in " + list + " || k in " + before + " && " + now + "[k] == " + before + "[k])" +
			" && " + before + ".all(k, k in " + list + " || k in " + now + ")"
	}
	return same("spec", "suspend") + " && " + same("metadata", "generation", "managedFields", "resourceVersion")
}
