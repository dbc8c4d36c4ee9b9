package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
		Stopped: o.stopped(), PauseObstacle: pauseObstacle(o), CreatedAt: o.GetCreationTimestamp().Time, Concurrent: concurrent(o),
	}, nil
}

// scalable reports whether a workload has a number of replicas.
func scalable(w budget.Workload) bool { return w.Kind != "Job" && w.Kind != "CronJob" }

// Autoscaler returns which autoscaler scales a workload, or nothing.
func (c *enforcer) Autoscaler(ctx context.Context, w budget.Workload) (budget.Autoscaler, error) {
	if !scalable(w) {
		return budget.Autoscaler{}, nil
	}
	list, err := c.autoscalers(ctx, w.Namespace)
	return scaledBy(list, w), err
}

func (c *enforcer) autoscalers(ctx context.Context, namespace string) ([]autoscalingv2.HorizontalPodAutoscaler, error) {
	list, err := c.kube.AutoscalingV2().HorizontalPodAutoscalers(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, kubeclient.Wrap("list", "horizontalpodautoscalers in "+namespace, err)
	}
	return list.Items, nil
}

// scaledBy returns which autoscaler of its namespace scales a workload. The controller of autoscalers leaves a
// workload without replicas as it is, unless minReplicas is 0. One that another object controls, as KEDA's
// ScaledObject does, is scaled from zero by that.
func scaledBy(list []autoscalingv2.HorizontalPodAutoscaler, w budget.Workload) budget.Autoscaler {
	for _, h := range list {
		if t := h.Spec.ScaleTargetRef; t.Kind == w.Kind && t.Name == w.Name {
			fromZero := h.Spec.MinReplicas != nil && *h.Spec.MinReplicas == 0 || metav1.GetControllerOfNoCopy(&h) != nil
			return budget.Autoscaler{Name: h.Name, FromZero: fromZero}
		}
	}
	return budget.Autoscaler{}
}

// Pause suspends a Job or a CronJob, or scales a Deployment or StatefulSet to zero, if it is
// still as it was seen. Else the error is budget.ErrWorkloadChanged.
func (c *enforcer) Pause(ctx context.Context, seen budget.WorkloadState) error {
	return c.turn(ctx, seen, true, 0)
}

// Resume undoes a pause, if the workload is still as it was seen: a Job goes on,
// and anything else gets so many replicas.
func (c *enforcer) Resume(ctx context.Context, seen budget.WorkloadState, replicas int32) error {
	return c.turn(ctx, seen, false, replicas)
}

// turn stops or starts exactly the observed workload by the smallest change. That is the scale subresource if it
// has replicas, or one field of a Job or a CronJob.
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
	case "jobs", "cronjobs":
		verb, object = "patch", fmt.Sprintf("%s %s/%s", resource, seen.Namespace, seen.Name)
		err = c.suspend(ctx, resource, seen, stop)
	case "deployments":
		_, err = c.kube.AppsV1().Deployments(seen.Namespace).UpdateScale(ctx, seen.Name, scale, options)
	case "statefulsets":
		_, err = c.kube.AppsV1().StatefulSets(seen.Namespace).UpdateScale(ctx, seen.Name, scale, options)
	default:
		return notPaused(seen.Workload, reason.KindNotPaused(reason.Word(seen.Kind)))
	}
	switch {
	case apierrors.IsNotFound(err):
		return gone(seen.Workload)
	case apierrors.IsConflict(err):
		return budget.ErrWorkloadChanged
	case kubeclient.Refused(err):
		return notPaused(seen.Workload, reason.ChangeRefused(budget.Answer(err.Error())))
	}
	return kubeclient.Wrap(verb, object, err)
}

// suspend patches one field of a Job or a CronJob. The resource version in a patch is its
// condition, and no two objects have the same one.
func (c *enforcer) suspend(ctx context.Context, resource string, seen budget.WorkloadState, stop bool) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]string{"resourceVersion": seen.ResourceVersion},
		"spec":     map[string]bool{"suspend": stop},
	})
	if err != nil {
		return err
	}
	return c.kube.BatchV1().RESTClient().Patch(types.MergePatchType).Namespace(seen.Namespace).Resource(resource).Name(seen.Name).
		VersionedParams(&metav1.PatchOptions{FieldManager: fieldManager}, kubeclient.ParameterCodec).Body(patch).Do(ctx).Error()
}

func notPaused(w budget.Workload, why reason.Reason) *budget.NotPausedError {
	return &budget.NotPausedError{Workload: w, Why: why}
}

func gone(w budget.Workload) *budget.NotPausedError {
	return &budget.NotPausedError{Workload: w, Why: reason.WorkloadGone(), Gone: true}
}
