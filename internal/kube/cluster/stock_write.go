package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"k8s.io/client-go/util/retry"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// stockCreator is whose the fields of a new Deployment are, until the first application
// takes them over. An application creates as well, and would not tell what was there.
const stockCreator = "gpupool-create"

// StockFieldManagers are whose the fields are that stock pools write.
func StockFieldManagers() []string { return []string{stockCreator, stockpool.FieldManager} }

// CreateStock creates a Deployment where there is none of its name; else the error is
// stockpool.ErrChanged.
func (c *stockClient) CreateStock(ctx context.Context, of *appsv1.Deployment) (*appsv1.Deployment, error) {
	made, err := c.kube.AppsV1().Deployments(of.Namespace).Create(ctx, of, metav1.CreateOptions{FieldManager: stockCreator})
	if err != nil {
		return nil, stockError("create", stockObject("deployments", of), err)
	}
	return made, nil
}

// ApplyStock changes exactly this Deployment, by its UID, to the desired one, even if another process changed
// it. If live is another object by now, the error is stockpool.ErrChanged.
func (c *stockClient) ApplyStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
	if err := c.claim(ctx, live, wanted); err != nil {
		return nil, err
	}
	answer, err := c.applyStock(ctx, wanted, false)
	if err != nil {
		return nil, stockError("patch", stockObject("deployments", wanted), err)
	}
	return answer, nil
}

// ScaleStock scales exactly this Deployment, if no other process changed it since. A patch keeps the pool the
// manager of its replicas. A scale to 0 by the subresource leaves them without a manager, and the API server
// then does not record who scales it. A policy that refuses the patch, such as one about Deployments, does
// not refuse the subresource.
func (c *stockClient) ScaleStock(ctx context.Context, live *appsv1.Deployment, replicas int) error {
	client := c.kube.AppsV1().Deployments(live.Namespace)
	about := metav1.ObjectMeta{Namespace: live.Namespace, Name: live.Name, UID: live.UID, ResourceVersion: live.ResourceVersion}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": about.UID, "resourceVersion": about.ResourceVersion}, "spec": map[string]any{"replicas": replicas},
	})
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, live.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: stockpool.FieldManager})
	if err == nil || isAnother(err) {
		return stockError("patch", stockObject("deployments", live), err)
	}
	scale := &autoscalingv1.Scale{ObjectMeta: about, Spec: autoscalingv1.ScaleSpec{Replicas: int32(replicas)}} //nolint:gosec // of a valid declaration
	_, err = client.UpdateScale(ctx, live.Name, scale, metav1.UpdateOptions{FieldManager: stockpool.FieldManager})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%s: %w", stockObject("deployments", live), stockpool.ErrChanged)
	}
	return stockError("update", stockObject("deployments/scale", live), err)
}

// PreviewStock returns the result of ApplyStock, and changes nothing. If that is refused as invalid, which
// fields of others can cause, the result next to the error is live without those.
func (c *stockClient) PreviewStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
	answer, err := c.applyStock(ctx, wanted, true)
	if err == nil { // it has not claimed what others wrote
		return drift.Without(answer, drift.Extras(answer, wanted)), nil
	}
	if extra := drift.Extras(live, wanted); apierrors.IsInvalid(err) && !isAnother(err) && len(extra) > 0 {
		answer = drift.Without(live, extra)
	} else {
		answer = nil
	}
	return answer, stockError("patch", stockObject("deployments", wanted), err)
}

func (c *stockClient) applyStock(ctx context.Context, wanted *appsv1.Deployment, dryRun bool) (*appsv1.Deployment, error) {
	options := metav1.PatchOptions{FieldManager: stockpool.FieldManager, Force: new(true)}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	body, err := applied(wanted)
	if err != nil {
		return nil, err
	}
	return c.kube.AppsV1().Deployments(wanted.Namespace).Patch(ctx, wanted.Name, types.ApplyPatchType, body, options)
}

// claim transfers fields to gpupool's field manager: those of a new Deployment, and others' fields that
// declarations have arguments for. An apply removes an undeclared field only if no other manager has it. A
// missing label is added at once: policies identify the Deployment by it.
func (c *stockClient) claim(ctx context.Context, live, wanted *appsv1.Deployment) error {
	client, object, uid := c.kube.AppsV1().Deployments(live.Namespace), stockObject("deployments", live), live.UID
	err := retry.RetryOnConflict(writeTries, func() error {
		patch, err := claimed(live, wanted)
		if err != nil || patch == nil {
			return err
		}
		_, err = client.Patch(ctx, live.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: stockpool.FieldManager})
		if !apierrors.IsConflict(err) {
			return err
		}
		// Its controller writes its status all the time.
		now, again := client.Get(ctx, live.Name, metav1.GetOptions{})
		if again != nil {
			return again
		}
		if now.UID != uid {
			return fmt.Errorf("%s: %w", object, stockpool.ErrChanged)
		}
		live = now
		return err
	})
	return stockError("patch", object, err)
}

// claimed is the patch that claims fields; nil if there is nothing to claim.
func claimed(live, wanted *appsv1.Deployment) ([]byte, error) {
	upgraded := live.DeepCopy()
	if err := csaupgrade.UpgradeManagedFields(upgraded, sets.New(stockCreator), stockpool.FieldManager); err != nil {
		return nil, err
	}
	managed, changed, err := drift.Claim(upgraded, drift.Extras(live, wanted))
	if err != nil || !changed && equality.Semantic.DeepEqual(upgraded.ManagedFields, live.ManagedFields) {
		return nil, err
	}
	metadata := map[string]any{"resourceVersion": live.ResourceVersion, "managedFields": managed}
	if pool := wanted.Labels[stockpool.LabelPool]; live.Labels[stockpool.LabelPool] != pool {
		metadata["labels"] = map[string]string{stockpool.LabelPool: pool}
	}
	return json.Marshal(map[string]any{"metadata": metadata})
}

// DeleteStock has exactly this Deployment be deleted, and its pods before it. One that is
// gone, or another by now, is no error.
func (c *stockClient) DeleteStock(ctx context.Context, of *appsv1.Deployment) error {
	err := c.kube.AppsV1().Deployments(of.Namespace).Delete(ctx, of.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &of.UID}, PropagationPolicy: new(metav1.DeletePropagationForeground),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return kubeclient.Wrap("delete", stockObject("deployments", of), err)
}

// GuardStock has a PodDisruptionBudget be as wanted: live, or a new one where that is
// nil.
func (c *stockClient) GuardStock(ctx context.Context, live, wanted *policyv1.PodDisruptionBudget) error {
	object := stockObject("poddisruptionbudgets", wanted)
	client := c.kube.PolicyV1().PodDisruptionBudgets(wanted.Namespace)
	if live == nil {
		_, err := client.Create(ctx, wanted, metav1.CreateOptions{FieldManager: stockCreator})
		return stockError("create", object, err)
	}
	if live.Spec.MaxUnavailable != nil {
		if err := c.minimumAgain(ctx, live, wanted); err != nil {
			return err
		}
	}
	wanted = wanted.DeepCopy()
	wanted.UID = live.UID
	body, err := applied(wanted)
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, wanted.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: stockpool.FieldManager, Force: new(true)})
	return stockError("patch", object, err)
}

// minimumAgain replaces a foreign maximum of a PodDisruptionBudget by the minimum. It cannot have both, and
// an apply does not remove fields of other managers. It sends no resource version, as the controller writes
// the status all the time.
func (c *stockClient) minimumAgain(ctx context.Context, live, wanted *policyv1.PodDisruptionBudget) error {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": live.UID, "labels": wanted.Labels},
		"spec":     map[string]any{"maxUnavailable": nil, "minAvailable": wanted.Spec.MinAvailable},
	})
	if err != nil {
		return err
	}
	_, err = c.kube.PolicyV1().PodDisruptionBudgets(live.Namespace).Patch(ctx, live.Name, types.MergePatchType, body,
		metav1.PatchOptions{FieldManager: stockpool.FieldManager})
	return stockError("patch", stockObject("poddisruptionbudgets", live), err)
}

// UnguardStock deletes exactly this PodDisruptionBudget; one that is gone, or another by
// now, is no error.
func (c *stockClient) UnguardStock(ctx context.Context, of *policyv1.PodDisruptionBudget) error {
	err := c.kube.PolicyV1().PodDisruptionBudgets(of.Namespace).Delete(ctx, of.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &of.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return kubeclient.Wrap("delete", stockObject("poddisruptionbudgets", of), err)
}

// SpareStockPod has a scale-down end others before exactly this pod, or no longer. A pod
// that is gone is no error.
func (c *stockClient) SpareStockPod(ctx context.Context, namespace string, p stockpool.Pod, spare bool) error {
	var cost any
	if spare {
		cost = stockpool.SpareCost
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.UID, "annotations": map[string]any{corev1.PodDeletionCost: cost}}})
	if err != nil {
		return err
	}
	_, err = c.kube.CoreV1().Pods(namespace).Patch(ctx, p.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: stockpool.FieldManager})
	if apierrors.IsNotFound(err) || isAnother(err) {
		return nil
	}
	return kubeclient.Wrap("patch", "pods "+namespace+"/"+p.Name, err)
}

// stockError is the error of a call, or stockpool.ErrChanged where what it was for is
// another by now.
func stockError(verb, object string, err error) error {
	if err == nil {
		return nil
	}
	wrapped := kubeclient.Wrap(verb, object, err)
	if isAnother(err) {
		return fmt.Errorf("%w: %w", wrapped, stockpool.ErrChanged)
	}
	return wrapped
}

// isAnother reports whether an object is not the one of the call. The server answers a different UID as an
// attempt to change it.
func isAnother(err error) bool {
	var status apierrors.APIStatus
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return true
	}
	return apierrors.IsInvalid(err) && errors.As(err, &status) && status.Status().Details != nil &&
		slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool { return cause.Field == "metadata.uid" })
}

// applied is the configuration of an application: what an object says, and nothing of
// what it leaves out.
func applied(o runtime.Object) ([]byte, error) {
	all, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	delete(all, "status")
	pruned, _ := prune(all).(map[string]any)
	return json.Marshal(pruned)
}

// prune omits null and empty objects, which stand for unset fields of an object. Empty lists and texts are
// values.
func prune(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			if member = prune(member); member == nil {
				delete(v, key)
			} else {
				v[key] = member
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for n := range v {
			v[n] = prune(v[n])
		}
	}
	return value
}
