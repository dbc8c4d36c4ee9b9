package manifests

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
)

// limits restrict the accounts further than RBAC can. Expressions that cannot be evaluated reject
// the request.
type limits struct{ Options }

// all returns the policies of all subjects, each with its binding.
func (l limits) all() []Object {
	return slices.Concat(l.events(), l.enforcement(), l.nodes(), l.stockPools(), l.bootstrapTokens())
}

// enforcement limits the accounts to the needs of enforcement. Of a Job or a CronJob, which have no scale
// of their own, they may only change spec.suspend. They pause and evict nothing in excluded namespaces, and
// no eviction kills a pod without a grace period.
func (l limits) enforcement() []Object {
	if !l.allows(budget.Pause) {
		return nil
	}
	return l.policy("limits", "It limits the accounts to suspending Jobs and CronJobs, which RBAC would let them change entirely. It excludes the namespaces "+
		"of the system and of gpupool.",
		[]string{ReconcileAccount, TerraformAccount},
		[]admissionv1.NamedRuleWithOperations{
			ruleFor(batch, []string{"jobs", "cronjobs"}, admissionv1.Create, admissionv1.Update),
			ruleFor(apps, []string{"deployments/scale", "statefulsets/scale"}, admissionv1.Update),
			ruleFor(core, []string{"pods/eviction"}, admissionv1.Create),
		}, nil,
		must(l.outsideSystem(), "gpupool pauses and evicts nothing in this namespace"),
		must("!(request.resource.resource in ['jobs', 'cronjobs']) || request.operation == 'UPDATE' && "+suspendOnly(),
			"gpupool may only change spec.suspend of a Job or a CronJob"),
		must("request.subResource != 'eviction' || !has(dyn(object).deleteOptions) || !has(dyn(object).deleteOptions.gracePeriodSeconds) || "+
			"dyn(object).deleteOptions.gracePeriodSeconds >= 1",
			"gpupool evicts no pod without a grace period"),
	)
}

// events limits the accounts to Events that gpupool reports. With RBAC only, they could rewrite all
// Events, and block the deletion of namespaces by finalizers.
func (l limits) events() []Object {
	by := func(of string) string {
		return "has(" + of + ".source) && has(" + of + ".source.component) && " + of + ".source.component == '" + kubecluster.EventSource + "'"
	}
	return l.policy("events", "It limits the accounts to Events that gpupool reports: RBAC would let them change any.",
		[]string{ReconcileAccount, TerraformAccount},
		[]admissionv1.NamedRuleWithOperations{ruleFor(core, []string{"events"}, admissionv1.Create, admissionv1.Update)}, nil,
		must(by("object")+" && (request.operation == 'CREATE' || "+by("oldObject")+")", "gpupool may only create and update its own Events"),
		must("request.operation == 'CREATE' ? !has(object.metadata.finalizers) && !has(object.metadata.ownerReferences) : "+sameMetadata(),
			"gpupool may not change labels, owners or finalizers of an Event"),
	)
}

// outsideSystem is true in all namespaces but those of the system and of gpupool. The label of
// the store's and the runs' namespaces excludes other installations, too.
func (l limits) outsideSystem() string {
	const label = "'app.kubernetes.io/name'"
	return "!(request.namespace in " + kubecluster.CELTexts(l.excludedNamespaces()...) + ")" +
		" && !(has(namespaceObject.metadata.labels) && " + label + " in namespaceObject.metadata.labels && namespaceObject.metadata.labels[" + label +
		"] == '" + appName + "')"
}

func (l limits) policy(name, why string, accounts []string, rules []admissionv1.NamedRuleWithOperations, variables []admissionv1.Variable,
	validations ...admissionv1.Validation) []Object {
	const version = "admissionregistration.k8s.io/v1"
	about := metav1.ObjectMeta{Name: l.Namespace + "-" + name, Labels: labels()}
	fail, exact := admissionv1.Fail, admissionv1.Equivalent
	usernames := make([]string, len(accounts))
	for n, account := range accounts {
		usernames[n] = "system:serviceaccount:" + l.runNamespace() + ":" + account // as the API server calls it
	}
	return []Object{
		{why, &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta: kindOf(version, "ValidatingAdmissionPolicy"), ObjectMeta: about,
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				FailurePolicy:    &fail,
				MatchConstraints: &admissionv1.MatchResources{MatchPolicy: &exact, ResourceRules: rules},
				MatchConditions: []admissionv1.MatchCondition{{
					Name: "by-gpupool", Expression: "request.userInfo.username in " + kubecluster.CELTexts(usernames...),
				}},
				Variables:   variables,
				Validations: validations,
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

// must returns a validation that rejects a request with a message unless an expression is true.
func must(expression, message string) admissionv1.Validation {
	forbidden := metav1.StatusReasonForbidden
	return admissionv1.Validation{Expression: expression, Reason: &forbidden, Message: message}
}

func ruleFor(group string, resources []string, operations ...admissionv1.OperationType) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: operations,
		Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: resources},
	}}
}

// suspendOnly is true if only spec.suspend was changed, apart from what the API server writes at
// each change.
func suspendOnly() string { return same("spec", "suspend") + " && " + sameMetadata() }

// sameMetadata is true if only these parts of the metadata were changed, apart from what the API
// server writes at each change.
func sameMetadata(but ...string) string {
	return same("metadata", append([]string{"generation", "managedFields", "resourceVersion"}, but...)...)
}

// same is true if a part of an object is unchanged, except for some fields. It compares existing
// fields, and so includes fields of later versions.
func same(part string, but ...string) string {
	return sameMap("dyn(object."+part+")", "dyn(oldObject."+part+")", but...)
}

func sameMap(now, before string, but ...string) string {
	list := kubecluster.CELTexts(but...)
	return now + ".all(k, k in " + list + " || k in " + before + " && " + now + "[k] == " + before + "[k])" +
		" && " + before + ".all(k, k in " + list + " || k in " + now + ")"
}
