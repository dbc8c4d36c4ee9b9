package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

const bindings = "validatingadmissionpolicybindings"

// MissingPolicyError says that freezes can have no effect, since the cluster
// lacks the policy that they bind to, or has one of another revision.
type MissingPolicyError struct{ Found string }

// Because names the policy.
func (e *MissingPolicyError) Because() reason.Reason {
	if e.Found != "" {
		return reason.FreezePolicyOther(FreezePolicyName, reason.Word(e.Found), reason.Word(policyRevision))
	}
	return reason.FreezePolicyMissing(FreezePolicyName)
}

// Error is Because as text.
func (e *MissingPolicyError) Error() string { return e.Because().String() }

// ErrorClass is the class in the words of a report: the cluster must be prepared.
func (e *MissingPolicyError) ErrorClass() errorclass.Class { return errorclass.Configuration }

// Freezes lists the budgets whose freeze is in force, and who last wrote a slot without one.
func (c *enforcer) Freezes(ctx context.Context) (list []budget.FreezeRule, last budget.SlotWrite, err error) {
	have, _, err := c.freezeSlots(ctx, "")
	if err != nil {
		return nil, last, err
	}
	list = make([]budget.FreezeRule, 0, len(have))
	for _, n := range slices.Sorted(maps.Keys(have)) {
		if have[n].Labels[LabelBudgetUID] != "" {
			list = append(list, freezeOf(have[n]))
			continue
		}
		for _, entry := range have[n].ManagedFields {
			if entry.Manager != fieldManager && entry.Time != nil && entry.Time.After(last.At) {
				last = budget.SlotWrite{Manager: entry.Manager, At: entry.Time.Time}
			}
		}
	}
	return list, last, nil
}

// contended limits the search for a slot that no other process takes meanwhile.
var contended = wait.Backoff{Steps: 12, Duration: 10 * time.Millisecond, Factor: 1.5, Jitter: 0.5}

// FreezePolicy returns why a freeze would fail: *MissingPolicyError if the cluster lacks the policy, or another
// error if that cannot be read.
func (c *enforcer) FreezePolicy(ctx context.Context) error {
	policy, err := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, FreezePolicyName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return &MissingPolicyError{}
	case err != nil:
		return kubeclient.Wrap("get", "validatingadmissionpolicies "+FreezePolicyName, err)
	case policy.Annotations[annotationPolicy] != policyRevision:
		return &MissingPolicyError{Found: "“" + policy.Annotations[annotationPolicy] + "”"}
	}
	return nil
}

// Freeze keeps new GPU pods out; again with the same is nothing new. The error
// is *MissingPolicyError if the cluster lacks the policy, and
// *NoFreezeSlotError if it has no free slot.
func (c *enforcer) Freeze(ctx context.Context, f budget.FreezeRule) error {
	if err := c.FreezePolicy(ctx); err != nil {
		return err
	}
	return wrapSlot(retry.RetryOnConflict(contended, func() error { return c.take(ctx, f) }))
}

// Unfreeze lifts a budget's freeze; lifting what is not in force is no error. The error
// is *UnrecognizedFreezeError if an older gpupool froze it.
func (c *enforcer) Unfreeze(ctx context.Context, budgetUID string) error {
	selector := LabelBudgetUID + "=" + budgetUID
	var left []admissionv1.ValidatingAdmissionPolicyBinding
	err := wrapSlot(retry.RetryOnConflict(contended, func() (err error) {
		left, err = c.emptySlots(ctx, selector)
		return err
	}))
	if err == nil && len(left) > 0 {
		err = &UnrecognizedFreezeError{Name: left[0].Name}
	}
	return err
}

// emptySlots has the slots that a selector selects match nothing, and returns the other
// bindings that it selects.
func (c *enforcer) emptySlots(ctx context.Context, selector string) (others []admissionv1.ValidatingAdmissionPolicyBinding, err error) {
	taken, others, err := c.freezeSlots(ctx, selector)
	if err != nil {
		return nil, err
	}
	for n, slot := range taken {
		empty(slot, n)
		if _, err := c.writeSlot(ctx, slot); err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return others, nil
}

// wrapSlot names the call of an error that has no name yet.
func wrapSlot(err error) error {
	var named *kubeclient.Error
	var none *NoFreezeSlotError
	if errors.As(err, &named) || errors.As(err, &none) {
		return err
	}
	return kubeclient.Wrap("update", bindings, err)
}
