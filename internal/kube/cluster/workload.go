package cluster

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// workload is an object that can be paused.
type workload interface {
	metav1.Object
	stopped() bool
	replicas() int32 // one where none is given; of a Job or a CronJob, none
	selector() *metav1.LabelSelector
	template() *corev1.PodTemplateSpec
}

// resources are the kinds of workloads that can be paused.
var resources = map[string]string{
	"batch/v1/Job": "jobs", "batch/v1/CronJob": "cronjobs", "apps/v1/Deployment": "deployments", "apps/v1/StatefulSet": "statefulsets",
}

// resourceOf is the resource of a workload; false if it can't be paused.
func resourceOf(w budget.Workload) (string, bool) {
	resource, known := resources[w.APIVersion+"/"+w.Kind]
	return resource, known
}

// find reads a workload. The error is *budget.NotPausedError if it is gone,
// or of a kind that can't be paused.
func (c *enforcer) find(ctx context.Context, w budget.Workload) (workload, error) {
	var object runtime.Object
	var err error
	resource, _ := resourceOf(w)
	switch resource {
	case "jobs":
		object, err = c.kube.BatchV1().Jobs(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	case "cronjobs":
		object, err = c.kube.BatchV1().CronJobs(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	case "deployments":
		object, err = c.kube.AppsV1().Deployments(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	case "statefulsets":
		object, err = c.kube.AppsV1().StatefulSets(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	default:
		return nil, notPaused(w, neverPaused(w.Kind))
	}
	o := workloadOf(object)
	switch {
	case apierrors.IsNotFound(err), err == nil && w.UID != "" && string(o.GetUID()) != w.UID:
		return nil, gone(w)
	case err != nil:
		return nil, kubeclient.Wrap("get", fmt.Sprintf("%s %s/%s", resource, w.Namespace, w.Name), err)
	}
	return o, nil
}

// neverPaused returns why a kind of workload cannot be paused, and what stops one.
func neverPaused(kind string) reason.Reason {
	if kind == "DaemonSet" {
		return reason.DaemonSetNotPaused()
	}
	return reason.OperatedNotPaused(reason.Word(kind))
}

// workloadOf is a Job, CronJob, Deployment or StatefulSet.
func workloadOf(o runtime.Object) workload {
	switch of := o.(type) {
	case *batchv1.Job:
		return job{of}
	case *batchv1.CronJob:
		return cronJob{of}
	case *appsv1.Deployment:
		return deployment{of}
	case *appsv1.StatefulSet:
		return statefulSet{of}
	}
	return nil
}

type job struct{ *batchv1.Job }

func (j job) stopped() bool                     { return j.Spec.Suspend != nil && *j.Spec.Suspend }
func (j job) replicas() int32                   { return 0 }
func (j job) selector() *metav1.LabelSelector   { return j.Spec.Selector }
func (j job) template() *corev1.PodTemplateSpec { return &j.Spec.Template }

type cronJob struct{ *batchv1.CronJob }

func (c cronJob) stopped() bool                     { return c.Spec.Suspend != nil && *c.Spec.Suspend }
func (c cronJob) replicas() int32                   { return 0 }
func (c cronJob) selector() *metav1.LabelSelector   { return nil } // it has Jobs, not pods
func (c cronJob) template() *corev1.PodTemplateSpec { return &c.Spec.JobTemplate.Spec.Template }

// starts reports whether the CronJob started a Job that is not finished. The owner reference of the Job is no
// proof: everyone who can create Jobs can write it.
func (c cronJob) starts(j job) bool {
	return slices.ContainsFunc(c.Status.Active, func(of corev1.ObjectReference) bool { return of.UID == j.UID })
}

// concurrent reports whether a workload is a CronJob that may run several Jobs at once.
func concurrent(o workload) bool {
	c, isCronJob := o.(cronJob)
	return isCronJob && c.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent && c.Spec.ConcurrencyPolicy != batchv1.ReplaceConcurrent
}

type deployment struct{ *appsv1.Deployment }

func (d deployment) stopped() bool                     { return d.replicas() == 0 }
func (d deployment) replicas() int32                   { return replicaCount(d.Spec.Replicas) }
func (d deployment) selector() *metav1.LabelSelector   { return d.Spec.Selector }
func (d deployment) template() *corev1.PodTemplateSpec { return &d.Spec.Template }

type statefulSet struct{ *appsv1.StatefulSet }

func (s statefulSet) stopped() bool                     { return s.replicas() == 0 }
func (s statefulSet) replicas() int32                   { return replicaCount(s.Spec.Replicas) }
func (s statefulSet) selector() *metav1.LabelSelector   { return s.Spec.Selector }
func (s statefulSet) template() *corev1.PodTemplateSpec { return &s.Spec.Template }

func replicaCount(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// pauseObstacle returns why a workload must not be paused, such as a controller that
// starts and stops it; zero if it may be paused. A field manager is none: it sets the size once, for example
// with each upgrade of a Helm release.
func pauseObstacle(o workload) reason.Reason {
	if owner := gpu.ControllerOf(o); owner != nil && owner.Kind != "CronJob" {
		return reason.ControlledBy(reason.Word(owner.Kind), reason.NewValue(owner.Name))
	}
	if s, ok := o.(statefulSet); ok && deletesVolumes(s) {
		return reason.VolumesDeleted()
	}
	if j, ok := o.(job); ok {
		if j.Spec.ManagedBy != nil && *j.Spec.ManagedBy != batchv1.JobControllerName {
			return reason.ManagedBy(reason.NewValue(*j.Spec.ManagedBy))
		}
		if queue := o.GetLabels()["kueue.x-k8s.io/queue-name"]; queue != "" {
			return reason.QueuedByKueue(reason.NewValue(queue))
		}
	}
	return reason.Reason{}
}

// deletesVolumes reports whether a StatefulSet's claims are deleted with the pods that
// it is scaled down by.
func deletesVolumes(s statefulSet) bool {
	policy := s.Spec.PersistentVolumeClaimRetentionPolicy
	return policy != nil && policy.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}
