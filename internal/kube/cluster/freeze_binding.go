package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// The labels and annotations of a slot that is a freeze.
const (
	LabelBudgetUID = "gpupool/budget-uid"  // whose it is
	labelSlot      = "gpupool/freeze-slot" // its number, by which it is its own parameter

	annotationBudget     = "gpupool/budget"                // the budget's name
	annotationSelector   = "gpupool/selector"              // the budget's selector
	annotationCounted    = "gpupool/counted"               // more resources that count
	annotationIgnored    = "gpupool/ignored"               // resources that don't count
	annotationProtection = "gpupool/honors-pod-protection" // whether pods can be protected
	annotationRecovers   = "gpupool/recovers-at"           // about when it ends by itself; empty where that is not known
)

func labelsOf(f budget.FreezeRule, n int) map[string]string {
	return map[string]string{LabelBudgetUID: f.BudgetUID, labelSlot: slotNumber(n)}
}

func annotationsOf(f budget.FreezeRule, selector string) map[string]string {
	return map[string]string{
		annotationBudget:     f.Budget,
		annotationSelector:   selector,
		annotationCounted:    strings.Join(slices.Sorted(slices.Values(f.Resources)), ","),
		annotationIgnored:    strings.Join(slices.Sorted(slices.Values(f.Ignored)), ","),
		annotationProtection: strconv.FormatBool(!f.IgnorePodProtection),
		annotationRecovers:   recoversText(f.RecoversAt),
	}
}

// recoversText is a moment as the refusal of a pod has it.
func recoversText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// freezeOf is the freeze that a slot is, as far as it is listed.
func freezeOf(slot *admissionv1.ValidatingAdmissionPolicyBinding) budget.FreezeRule {
	f := budget.FreezeRule{Budget: slot.Annotations[annotationBudget], BudgetUID: slot.Labels[LabelBudgetUID]}
	// If an annotation was edited, the freeze is listed nevertheless: it is in force, and has to be lifted
	// later.
	_ = json.Unmarshal([]byte(slot.Annotations[annotationSelector]), &f.Selector)
	f.RecoversAt, _ = time.Parse(time.RFC3339, slot.Annotations[annotationRecovers])
	return f
}

// fill makes a slot a budget's freeze.
func fill(slot *admissionv1.ValidatingAdmissionPolicyBinding, n int, f budget.FreezeRule) error {
	selector, err := json.Marshal(f.Selector)
	if err != nil {
		return fmt.Errorf("the selector of the budget %s: %w", f.Budget, err)
	}
	slot.Labels = merged(slot.Labels, labelsOf(f, n))
	slot.Annotations = merged(slot.Annotations, annotationsOf(f, string(selector)))
	equivalent := admissionv1.Equivalent
	slot.Spec = slotSpec(n)
	slot.Spec.MatchResources = &admissionv1.MatchResources{
		MatchPolicy:       &equivalent,
		NamespaceSelector: namespaceSelector(f),
		ObjectSelector:    objectSelector(f.Selector),
	}
	return nil
}

// empty makes a slot match nothing and belong to no budget.
func empty(slot *admissionv1.ValidatingAdmissionPolicyBinding, n int) {
	for key := range labelsOf(budget.FreezeRule{}, n) {
		delete(slot.Labels, key)
	}
	for key := range annotationsOf(budget.FreezeRule{}, "") {
		delete(slot.Annotations, key)
	}
	slot.Spec = slotSpec(n)
	slot.Spec.MatchResources = matchNothing()
}

// slotSpec is the part of a slot that is the same whether it is taken or not.
func slotSpec(n int) admissionv1.ValidatingAdmissionPolicyBindingSpec {
	allow := admissionv1.AllowAction
	return admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: FreezePolicyName,
		ParamRef: &admissionv1.ParamRef{
			Selector:                &metav1.LabelSelector{MatchLabels: map[string]string{labelSlot: slotNumber(n)}},
			ParameterNotFoundAction: &allow,
		},
		ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}
}

// nothing matches no object: it asks for a label to be there, and not to be.
func matchNothing() *admissionv1.MatchResources {
	equivalent := admissionv1.Equivalent
	return &admissionv1.MatchResources{
		MatchPolicy:       &equivalent,
		NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: labelSlot, Operator: metav1.LabelSelectorOpExists}, {Key: labelSlot, Operator: metav1.LabelSelectorOpDoesNotExist},
		}},
	}
}

// namespaceSelector selects the budget's namespaces, by name and by label, less
// those that are protected.
func namespaceSelector(f budget.FreezeRule) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: maps.Clone(f.Selector.NamespaceLabels)}
	if names := f.Selector.Namespaces; len(names) > 0 {
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: slices.Sorted(slices.Values(names)),
		})
	}
	protected := slices.Compact(slices.Sorted(slices.Values(append(budget.SystemNamespaces(), f.ProtectedNamespaces...))))
	s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: protected,
	})
	return s
}

// objectSelector selects the budget's pods by their labels.
func objectSelector(s budget.Selector) *metav1.LabelSelector {
	out := &metav1.LabelSelector{MatchLabels: maps.Clone(s.MatchLabels)}
	for _, e := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: e.Key, Operator: metav1.LabelSelectorOperator(e.Operator), Values: slices.Clone(e.Values),
		})
	}
	return out
}

// merged are the labels or annotations that there are, and more.
func merged(have, more map[string]string) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, more)
	return out
}
