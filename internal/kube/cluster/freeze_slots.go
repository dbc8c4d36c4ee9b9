package cluster

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// mostFreezes is the largest number of slots in a cluster.
const mostFreezes = 64

// FreezeSlotNames are the names of the bindings that freezes are made of. The
// account of a run may change these, and may create or delete none.
func FreezeSlotNames() []string {
	names := make([]string, mostFreezes)
	for n := range names {
		names[n] = FreezePolicyName + "-" + slotNumber(n)
	}
	return names
}

// slotNumber is the label of a slot, and the end of its name.
func slotNumber(n int) string { return fmt.Sprintf("%02d", n+1) }

// FreezeSlots are bindings that bind the freeze policy to nothing. The parameter of
// each is the binding that has its number as a label. None has it until a run takes
// the slot: it puts that label on the slot itself.
//
// They hold nothing that a run changes, so they can be applied again, by server or
// client, while they are in use. The count is between 1 and 64: so many budgets can be
// frozen at once.
func FreezeSlots(count int) []*admissionv1.ValidatingAdmissionPolicyBinding {
	slots := make([]*admissionv1.ValidatingAdmissionPolicyBinding, count)
	for n, name := range FreezeSlotNames()[:count] {
		slots[n] = &admissionv1.ValidatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app.kubernetes.io/name": "gpupool"}},
			Spec:       slotSpec(n),
		}
	}
	return slots
}

// NoFreezeSlotError says that a budget cannot be frozen, since all slots are
// taken, or the cluster has none.
type NoFreezeSlotError struct{ Slots int }

// Because says which slots the cluster has.
func (e *NoFreezeSlotError) Because() reason.Reason {
	if e.Slots == 0 {
		names := FreezeSlotNames()
		return reason.FreezeSlotsMissing(reason.Word(names[0]), reason.Word(names[len(names)-1]))
	}
	return reason.FreezeSlotsTaken(reason.Count(e.Slots), LabelBudgetUID)
}

// Error is Because as text.
func (e *NoFreezeSlotError) Error() string { return e.Because().String() }

// ErrorClass is the class in the words of a report: something else has to change.
func (e *NoFreezeSlotError) ErrorClass() errorclass.Class { return errorclass.Configuration }

// slots are the slots that the cluster has, by their number.
type slots map[int]*admissionv1.ValidatingAdmissionPolicyBinding

// freezeSlots lists the slots that the cluster has, and the other bindings, of those that
// a selector selects; empty for all.
func (c *enforcer) freezeSlots(ctx context.Context, selector string) (found slots, others []admissionv1.ValidatingAdmissionPolicyBinding, err error) {
	list, err := c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{LabelSelector: selector})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil // a cluster too old to have policies has no freeze
	}
	if err != nil {
		return nil, nil, kubeclient.Wrap("list", bindings, err)
	}
	found = slots{}
	names := FreezeSlotNames()
	for i := range list.Items {
		b := &list.Items[i]
		if n := slices.Index(names, b.Name); n >= 0 && b.Spec.PolicyName == FreezePolicyName {
			found[n] = b
		} else {
			others = append(others, *b)
		}
	}
	return found, others, nil
}

// of is the slot that a budget has, or else may take. Budgets begin their search
// at different places, so that many at once seldom want the same.
func (s slots) of(budgetUID string) (n int, found bool) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(budgetUID))
	begin, free := int(h.Sum32()%mostFreezes), -1
	for i := range mostFreezes {
		n := (begin + i) % mostFreezes
		b, there := s[n]
		switch {
		case !there:
		case b.Labels[LabelBudgetUID] == budgetUID:
			return n, true
		case b.Labels[LabelBudgetUID] == "" && free < 0:
			free = n
		}
	}
	return free, free >= 0
}

// take writes a freeze into a budget's slot, or into a free one. If another process wrote the slot meanwhile,
// the error is a conflict.
func (c *enforcer) take(ctx context.Context, f budget.FreezeRule) error {
	have, _, err := c.freezeSlots(ctx, "")
	if err != nil {
		return err
	}
	n, found := have.of(f.BudgetUID)
	if !found {
		return &NoFreezeSlotError{Slots: len(have)}
	}
	if have[n].Labels[LabelBudgetUID] == "" {
		if err := c.closeSlots(ctx, have); err != nil {
			return err
		}
		if err := c.waitUntilKnown(ctx, have[n]); err != nil {
			return err
		}
	}
	slot := have[n].DeepCopy()
	if err := fill(slot, n, f); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(slot, have[n]) {
		return nil
	}
	_, err = c.writeSlot(ctx, slot)
	return err
}

// closeSlots makes slots that never were taken select nothing: as they are applied,
// they select everything.
func (c *enforcer) closeSlots(ctx context.Context, have slots) error {
	for n, b := range have {
		if b.Spec.MatchResources != nil || b.Labels[LabelBudgetUID] != "" {
			continue
		}
		closed := b.DeepCopy()
		empty(closed, n)
		now, err := c.writeSlot(ctx, closed)
		if err != nil {
			return err
		}
		have[n] = now
	}
	return nil
}

// waitUntilKnown waits until every API server knows the last change of a free slot. A server knows the label
// that takes a slot a moment before the new selectors. Until then it uses the old ones, which must select
// nothing.
func (c *enforcer) waitUntilKnown(ctx context.Context, slot *admissionv1.ValidatingAdmissionPolicyBinding) error {
	var changed time.Time
	for _, entry := range slot.ManagedFields {
		if entry.Time != nil && entry.Time.After(changed) {
			changed = entry.Time.Time
		}
	}
	known := time.NewTimer(changed.Add(budget.FreezeLag).Sub(c.Now()))
	defer known.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-known.C:
		return nil
	}
}

// writeSlot writes a slot if no other process wrote it since it was read.
func (c *enforcer) writeSlot(ctx context.Context, slot *admissionv1.ValidatingAdmissionPolicyBinding) (*admissionv1.ValidatingAdmissionPolicyBinding, error) {
	return c.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Update(ctx, slot, metav1.UpdateOptions{FieldManager: fieldManager})
}
