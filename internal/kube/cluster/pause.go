package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// Workload observes a workload. The error is *budget.NotPausedError if it
// is gone, or of a kind that can't be paused.
func (c *enforcer) Workload(ctx context.Context, w budget.Workload) (budget.WorkloadState, error) {
	o, err := c.find(ctx, w)
	if err != nil {
		return budget.WorkloadState{}, err
	}
	w.UID = string(o.GetUID())
	return budget.WorkloadState{
		Workload: w, ResourceVersion: o.GetResourceVersion(), Replicas: o.replicas(),
		Labels: o.template().Labels, PriorityClassName: o.template().Spec.PriorityClassName,
		Stopped: o.stopped(), PauseObstacle: pauseObstacle(o),
	}, nil
}

// Autoscaler returns which autoscaler scales a workload, or nothing. The controller of autoscalers leaves a
// workload alone that has no replicas, unless minReplicas is 0. One that another object controls, as KEDA's
// ScaledObject does, is scaled from zero by that.
func (c *enforcer) Autoscaler(ctx context.Context, w budget.Workload) (budget.Autoscaler, error) {
	if w.Kind == "Job" {
		return budget.Autoscaler{}, nil
	}
	list, err := c.kube.AutoscalingV2().HorizontalPodAutoscalers(w.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return budget.Autoscaler{}, kubeclient.Wrap("list", "horizontalpodautoscalers in "+w.Namespace, err)
	}
	for _, h := range list.Items {
		if t := h.Spec.ScaleTargetRef; t.Kind == w.Kind && t.Name == w.Name {
			fromZero := h.Spec.MinReplicas != nil && *h.Spec.MinReplicas == 0 || metav1.GetControllerOfNoCopy(&h) != nil
			return budget.Autoscaler{Name: h.Name, FromZero: fromZero}, nil
		}
	}
	return budget.Autoscaler{}, nil
}

// Pause suspends a Job, or scales a Deployment or StatefulSet to zero, if it is
// still as it was seen. Else the error is budget.ErrWorkloadChanged.
func (c *enforcer) Pause(ctx context.Context, seen budget.WorkloadState) error {
	return c.turn(ctx, seen, true, 0)
}

// Resume undoes a pause, if the workload is still as it was seen: a Job goes on,
// and anything else gets so many replicas.
func (c *enforcer) Resume(ctx context.Context, seen budget.WorkloadState, replicas int32) error {
	return c.turn(ctx, seen, false, replicas)
}

// turn stops or starts exactly the observed workload by the smallest change: the scale subresource if it has
// replicas, or one field of a Job.
func (c *enforcer) turn(ctx context.Context, seen budget.WorkloadState, stop bool, replicas int32) error {
	resource, _ := resourceOf(seen.Workload)
	object := fmt.Sprintf("%s/scale %s/%s", resource, seen.Namespace, seen.Name)
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: seen.Namespace, Name: seen.Name, UID: types.UID(seen.UID), ResourceVersion: seen.ResourceVersion},
		Spec:       autoscalingv1.ScaleSpec{Replicas: replicas},
	}
	options := metav1.UpdateOptions{FieldManager: fieldManager}
	verb, err := "update", error(nil)
	switch resource {
	case "jobs":
		verb, object = "patch", fmt.Sprintf("jobs %s/%s", seen.Namespace, seen.Name)
		err = c.suspend(ctx, seen, stop)
	case "deployments":
		_, err = c.kube.AppsV1().Deployments(seen.Namespace).UpdateScale(ctx, seen.Name, scale, options)
	case "statefulsets":
		_, err = c.kube.AppsV1().StatefulSets(seen.Namespace).UpdateScale(ctx, seen.Name, scale, options)
	default:
		return notPaused(seen.Workload, "gpupool pauses no "+seen.Kind)
	}
	switch {
	case apierrors.IsNotFound(err):
		return gone(seen.Workload)
	case apierrors.IsConflict(err):
		return budget.ErrWorkloadChanged
	case kubeclient.Refused(err):
		return notPaused(seen.Workload, "the cluster refuses the change: "+err.Error())
	}
	return kubeclient.Wrap(verb, object, err)
}

// suspend patches one field of a Job. The resource version in a patch is its
// condition, and no two objects have the same one.
func (c *enforcer) suspend(ctx context.Context, seen budget.WorkloadState, stop bool) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]string{"resourceVersion": seen.ResourceVersion},
		"spec":     map[string]bool{"suspend": stop},
	})
	if err != nil {
		return err
	}
	_, err = c.kube.BatchV1().Jobs(seen.Namespace).Patch(ctx, seen.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

func notPaused(w budget.Workload, reason string) *budget.NotPausedError {
	return &budget.NotPausedError{Workload: w, Reason: reason}
}

func gone(w budget.Workload) *budget.NotPausedError {
	return &budget.NotPausedError{Workload: w, Reason: "it is gone", Gone: true}
}
