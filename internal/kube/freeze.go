package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

const bindings = "validatingadmissionpolicybindings"

// MissingPolicyError says that freezes can have no effect, since the cluster
// lacks the policy that they bind to, or has one of another revision.
type MissingPolicyError struct{ Found string }

// Error says what to do.
func (e *MissingPolicyError) Error() string {
	state := "is not in the cluster"
	if e.Found != "" {
		state = fmt.Sprintf("is of revision %s, and this gpupool's is %s", e.Found, policyRevision)
	}
	return "the ValidatingAdmissionPolicy " + FreezePolicyName + " " + state + ": apply what `gpupool manifests` prints"
}

// ErrorClass is the class in the words of a report: the cluster must be prepared.
func (e *MissingPolicyError) ErrorClass() string { return "configuration" }

// Freezes lists the budgets whose freeze is in force.
func (c *Cluster) Freezes(ctx context.Context) ([]reconcile.Freeze, error) {
	list, err := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{LabelSelector: LabelBudgetUID})
	if apierrors.IsNotFound(err) {
		return nil, nil // a cluster too old to have policies has no freeze
	}
	if err != nil {
		return nil, Wrap("list", bindings, err)
	}
	out := make([]reconcile.Freeze, 0, len(list.Items))
	for _, b := range list.Items {
		if b.Spec.PolicyName != FreezePolicyName {
			continue
		}
		f := reconcile.Freeze{Budget: b.Annotations[annotationBudget], BudgetUID: b.Labels[LabelBudgetUID]}
		// Where someone rewrote the annotation the freeze is listed all the same:
		// it is in force, and has to be lifted one day.
		_ = json.Unmarshal([]byte(b.Annotations[annotationSelector]), &f.Selector)
		out = append(out, f)
	}
	return out, nil
}

// Freeze keeps new GPU pods out; again with the same is nothing new. The error
// is *MissingPolicyError where the cluster lacks the policy.
func (c *Cluster) Freeze(ctx context.Context, f reconcile.Freeze) error {
	policy, err := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, FreezePolicyName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return &MissingPolicyError{}
	case err != nil:
		return Wrap("get", "validatingadmissionpolicies "+FreezePolicyName, err)
	case policy.Annotations[annotationPolicy] != policyRevision:
		return &MissingPolicyError{Found: "“" + policy.Annotations[annotationPolicy] + "”"}
	}
	want, err := binding(f)
	if err != nil {
		return err
	}
	client := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	have, err := client.Get(ctx, want.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = client.Create(ctx, want, metav1.CreateOptions{FieldManager: FieldManager})
		if apierrors.IsAlreadyExists(err) { // someone was faster, with the same name
			err = nil
		}
		return Wrap("create", bindings+" "+want.Name, err)
	case err != nil:
		return Wrap("get", bindings+" "+want.Name, err)
	}
	same := equality.Semantic.DeepEqual(have.Spec, want.Spec) && have.Labels[LabelBudgetUID] == f.BudgetUID
	for key, value := range want.Annotations {
		same = same && have.Annotations[key] == value
	}
	if same {
		return nil
	}
	have.Spec = want.Spec
	have.Labels, have.Annotations = merged(have.Labels, want.Labels), merged(have.Annotations, want.Annotations)
	_, err = client.Update(ctx, have, metav1.UpdateOptions{FieldManager: FieldManager})
	return Wrap("update", bindings+" "+want.Name, err)
}

// Unfreeze lifts a budget's freeze; lifting what is not in force is no error.
func (c *Cluster) Unfreeze(ctx context.Context, budgetUID string) error {
	client := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: LabelBudgetUID + "=" + budgetUID})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return Wrap("list", bindings, err)
	}
	for _, b := range list.Items {
		if b.Spec.PolicyName != FreezePolicyName {
			continue
		}
		err := client.Delete(ctx, b.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &b.UID}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return Wrap("delete", bindings+" "+b.Name, err)
		}
	}
	return nil
}

// binding is the freeze as the API has it.
func binding(f reconcile.Freeze) (*admissionv1.ValidatingAdmissionPolicyBinding, error) {
	selector, err := json.Marshal(f.Selector)
	if err != nil {
		return nil, fmt.Errorf("the selector of the budget %s: %w", f.Budget, err)
	}
	name := freezeName(f)
	allow, equivalent := admissionv1.AllowAction, admissionv1.Equivalent
	b := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{
			Name:   name,
			Labels: map[string]string{LabelBudgetUID: f.BudgetUID, "app.kubernetes.io/managed-by": "gpupool"},
			Annotations: map[string]string{
				annotationBudget:   f.Budget,
				annotationSelector: string(selector),
				annotationCounted:  strings.Join(slices.Sorted(slices.Values(f.Resources)), ","),
				annotationIgnored:  strings.Join(slices.Sorted(slices.Values(f.Ignored)), ","),
			},
		},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: FreezePolicyName,
			// Gone again, or not seen yet by an API server: the pod is let in.
			ParamRef:          &admissionv1.ParamRef{Name: name, ParameterNotFoundAction: &allow},
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{
				MatchPolicy:       &equivalent,
				NamespaceSelector: namespaceSelector(f),
				ObjectSelector:    objectSelector(f.Selector),
			},
		},
	}
	return b, nil
}

// freezeName names the binding after its budget, and no later budget of the name.
func freezeName(f reconcile.Freeze) string {
	uid := strings.ToLower(f.BudgetUID)
	return "gpupool-" + f.Budget + "-" + uid[:min(len(uid), 8)]
}

// namespaceSelector selects the budget's namespaces, by name and by label, less
// those that are protected.
func namespaceSelector(f reconcile.Freeze) *metav1.LabelSelector {
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

func merged(have, more map[string]string) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, more)
	return out
}
