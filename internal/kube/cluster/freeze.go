package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
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
func (c *Cluster) Freezes(ctx context.Context) ([]budget.FreezeRule, error) {
	taken, err := c.freezeSlots(ctx, metav1.ListOptions{LabelSelector: LabelBudgetUID})
	if err != nil {
		return nil, err
	}
	out := make([]budget.FreezeRule, 0, len(taken))
	for _, n := range slices.Sorted(maps.Keys(taken)) {
		b := taken[n]
		f := budget.FreezeRule{Budget: b.Annotations[annotationBudget], BudgetUID: b.Labels[LabelBudgetUID]}
		// Where someone rewrote the annotation the freeze is listed all the same:
		// it is in force, and has to be lifted one day.
		_ = json.Unmarshal([]byte(b.Annotations[annotationSelector]), &f.Selector)
		out = append(out, f)
	}
	return out, nil
}

// contended is how often a slot is sought that nobody else takes meanwhile.
var contended = wait.Backoff{Steps: 12, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5}

// Freeze keeps new GPU pods out; again with the same is nothing new. The error
// is *MissingPolicyError where the cluster lacks the policy, and
// *NoFreezeSlotError where it has no free slot.
func (c *Cluster) Freeze(ctx context.Context, f budget.FreezeRule) error {
	policy, err := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, FreezePolicyName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return &MissingPolicyError{}
	case err != nil:
		return kubeclient.Wrap("get", "validatingadmissionpolicies "+FreezePolicyName, err)
	case policy.Annotations[annotationPolicy] != policyRevision:
		return &MissingPolicyError{Found: "“" + policy.Annotations[annotationPolicy] + "”"}
	}
	return wrapSlot(retry.RetryOnConflict(contended, func() error { return c.take(ctx, f) }))
}

// Unfreeze lifts a budget's freeze; lifting what is not in force is no error.
func (c *Cluster) Unfreeze(ctx context.Context, budgetUID string) error {
	return wrapSlot(retry.RetryOnConflict(contended, func() error {
		taken, err := c.freezeSlots(ctx, metav1.ListOptions{LabelSelector: LabelBudgetUID + "=" + budgetUID})
		if err != nil {
			return err
		}
		for n, slot := range taken {
			empty(slot, n)
			if _, err := c.writeSlot(ctx, slot); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		return nil
	}))
}

// wrapSlot names the call of an error that nobody named yet.
func wrapSlot(err error) error {
	var named *kubeclient.Error
	var none *NoFreezeSlotError
	if errors.As(err, &named) || errors.As(err, &none) {
		return err
	}
	return kubeclient.Wrap("update", bindings, err)
}

// fill has a slot be a budget's freeze.
func fill(slot *admissionv1.ValidatingAdmissionPolicyBinding, n int, f budget.FreezeRule) error {
	selector, err := json.Marshal(f.Selector)
	if err != nil {
		return fmt.Errorf("the selector of the budget %s: %w", f.Budget, err)
	}
	slot.Labels = merged(slot.Labels, map[string]string{LabelBudgetUID: f.BudgetUID, labelSlot: slotNumber(n)})
	slot.Annotations = merged(slot.Annotations, map[string]string{
		annotationBudget:     f.Budget,
		annotationSelector:   string(selector),
		annotationCounted:    strings.Join(slices.Sorted(slices.Values(f.Resources)), ","),
		annotationIgnored:    strings.Join(slices.Sorted(slices.Values(f.Ignored)), ","),
		annotationProtection: strconv.FormatBool(!f.IgnorePodProtection),
	})
	equivalent := admissionv1.Equivalent
	slot.Spec = slotSpec(n)
	slot.Spec.MatchResources = &admissionv1.MatchResources{
		MatchPolicy:       &equivalent,
		NamespaceSelector: namespaceSelector(f),
		ObjectSelector:    objectSelector(f.Selector),
	}
	return nil
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

func merged(have, more map[string]string) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, more)
	return out
}
