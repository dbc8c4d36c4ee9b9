package manifests

import (
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

var stockNames = strings.NewReplacer(
	"LABEL", "'"+stockpool.LabelPool+"'",
	"COST", "'"+corev1.PodDeletionCost+"'",
	"SPARED", "'"+stockpool.SpareCost+"'",
	"MANAGERS", kubecluster.CELTexts(kubecluster.StockFieldManagers()...),
)

// wroteSpec is true if a field manager of stock pools wrote fields of an object's spec other
// than its replicas.
const wroteSpec = "has(oldObject.metadata.managedFields) && oldObject.metadata.managedFields.exists(m, has(m.manager) && m.manager in MANAGERS" +
	" && (!has(m.subresource) || m.subresource == '') && has(m.fieldsV1) && 'f:spec' in dyn(m.fieldsV1) && dyn(m.fieldsV1)['f:spec'].exists(f, f != " +
	"'f:replicas'))"

// ownersOfNew is true if a new object has no finalizer and no owner; a disruption budget may have
// the Deployment of its own name. The accounts could not remove them again.
const ownersOfNew = "!has(object.metadata.finalizers) && (!has(object.metadata.ownerReferences) || request.resource.resource == 'poddisruptionbudgets'" +
	" && object.metadata.ownerReferences.all(o, o.kind == 'Deployment' && o.apiVersion == 'apps/v1' && o.name == object.metadata.name))"

// stockPools limits the accounts to stock pools. Expressions that cannot be evaluated reject the
// request.
//
// A Deployment belongs to a stock pool if it has the label with its own name, before and after.
// These accounts cannot add that label: a user who can change a Deployment adds it to hand the
// Deployment over. A Deployment that lost the label is recognized by the field manager of its
// fields, so that this drift is reverted too. Those fields must include more than its replicas, and
// not come from a subresource: these accounts may scale other Deployments, under any field
// manager's name.
func (l limits) stockPools() []Object {
	if !l.Stock.Pools {
		return nil
	}
	accounts := []string{ReconcileAccount, TerraformAccount}
	elsewhere := must(l.outsideSystem(), "gpupool keeps no stock pools in this namespace")
	labeled := func(of string) string {
		return stockNames.Replace("has(" + of + ".metadata.labels) && LABEL in " + of + ".metadata.labels && " + of + ".metadata.labels[LABEL] == " + of +
			".metadata.name")
	}
	all := l.policy("stock-pools", "It limits the accounts to Deployments and disruption budgets of stock pools: RBAC would let them change any.", accounts,
		[]admissionv1.NamedRuleWithOperations{
			ruleFor(apps, []string{"deployments"}, admissionv1.Create, admissionv1.Update, admissionv1.Delete),
			ruleFor(policies, []string{"poddisruptionbudgets"}, admissionv1.Create, admissionv1.Update, admissionv1.Delete),
		},
		[]admissionv1.Variable{
			{Name: "labeled", Expression: labeled("object")},
			{Name: "wasLabeled", Expression: labeled("oldObject")},
			{Name: "made", Expression: stockNames.Replace(wroteSpec)},
		},
		elsewhere,
		must("request.operation == 'DELETE' || variables.labeled", "gpupool only manages Deployments and disruption budgets "+
			"with the label "+stockpool.LabelPool+" and their own name as its value"),
		must("request.operation == 'CREATE' || variables.wasLabeled || variables.made",
			"gpupool does not change foreign Deployments and disruption budgets. To let a stock pool take a Deployment over, label it first: "+
				"kubectl label deployment NAME "+stockpool.LabelPool+"=NAME"),
		must("request.operation != 'UPDATE' || "+sameMetadata("labels", "annotations"), "gpupool changes neither owners nor finalizers"),
		must("request.operation != 'CREATE' || "+ownersOfNew, "gpupool creates no Deployment or disruption budget with finalizers or foreign "+
			"owners"),
	)
	annotations := func(of string) string {
		return "has(" + of + ".metadata.annotations) ? " + of + ".metadata.annotations : {}"
	}
	return append(all, l.policy("stock-pods", "It limits the accounts to the deletion order of stock pods: RBAC would let them change all of a "+
		"pod.", accounts,
		[]admissionv1.NamedRuleWithOperations{ruleFor(core, []string{"pods"}, admissionv1.Create, admissionv1.Update, admissionv1.Delete)},
		[]admissionv1.Variable{
			{Name: "now", Expression: annotations("object")},
			{Name: "before", Expression: annotations("oldObject")},
		},
		elsewhere,
		must(stockNames.Replace("request.operation == 'UPDATE' && has(oldObject.metadata.labels) && LABEL in oldObject.metadata.labels"),
			"gpupool changes no pod but those of stock pools"),
		must("request.operation == 'UPDATE' && "+same("spec")+" && "+sameMetadata("annotations")+" && "+sameMap("variables.now", "variables.before",
			corev1.PodDeletionCost),
			"gpupool may only change the annotation "+corev1.PodDeletionCost+" of a pod"),
		must(stockNames.Replace("!(COST in variables.now) || variables.now[COST] == SPARED"), "gpupool may only lower a pod's place in the "+
			"deletion order"),
	)...)
}
