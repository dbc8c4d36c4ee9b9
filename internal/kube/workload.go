package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// workload is an object that can be paused.
type workload interface {
	metav1.Object
	paused() bool
	template() map[string]string // the labels of its template of pods
	pause()
	resume() error
}

// kind is how to reach the objects of one kind of workload.
type kind struct {
	apiVersion, kind, resource string

	get    func(ctx context.Context, namespace, name string) (workload, error)
	list   func(ctx context.Context, o metav1.ListOptions) ([]workload, error)
	update func(ctx context.Context, w workload) error
}

func (c *Cluster) kindOf(w budget.Workload) (kind, bool) {
	for _, k := range c.kinds() {
		if k.kind == w.Kind && k.apiVersion == w.APIVersion {
			return k, true
		}
	}
	return kind{}, false
}

// client is what the API's typed clients have in common.
type client[O, L any] interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (O, error)
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Update(ctx context.Context, object O, o metav1.UpdateOptions) (O, error)
}

// kinds are the kinds of workloads that can be paused.
func (c *Cluster) kinds() []kind {
	apps, batch := c.kube.AppsV1(), c.kube.BatchV1()
	return []kind{
		kindFor("batch/v1", "Job", "jobs", func(namespace string) client[*batchv1.Job, *batchv1.JobList] { return batch.Jobs(namespace) },
			func(l *batchv1.JobList) []batchv1.Job { return l.Items },
			func(j *batchv1.Job) workload { return job{j} }, func(w workload) *batchv1.Job { return w.(job).Job }),
		kindFor("apps/v1", "Deployment", "deployments", func(namespace string) client[*appsv1.Deployment, *appsv1.DeploymentList] {
			return apps.Deployments(namespace)
		}, func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items },
			func(d *appsv1.Deployment) workload { return deployment{d} }, func(w workload) *appsv1.Deployment { return w.(deployment).Deployment }),
		kindFor("apps/v1", "StatefulSet", "statefulsets", func(namespace string) client[*appsv1.StatefulSet, *appsv1.StatefulSetList] {
			return apps.StatefulSets(namespace)
		}, func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items },
			func(s *appsv1.StatefulSet) workload { return statefulSet{s} }, func(w workload) *appsv1.StatefulSet { return w.(statefulSet).StatefulSet }),
	}
}

func kindFor[T any, L metav1.ListInterface](apiVersion, name, resource string, in func(namespace string) client[*T, L],
	items func(L) []T, wrap func(*T) workload, unwrap func(workload) *T) kind {
	return kind{
		apiVersion: apiVersion, kind: name, resource: resource,
		get: func(ctx context.Context, namespace, name string) (workload, error) {
			o, err := in(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return wrap(o), nil
		},
		list: func(ctx context.Context, o metav1.ListOptions) (out []workload, err error) {
			for {
				l, err := in(metav1.NamespaceAll).List(ctx, o)
				if err != nil {
					return nil, err
				}
				for _, item := range items(l) {
					out = append(out, wrap(&item))
				}
				if o.Continue = l.GetContinue(); o.Continue == "" {
					return out, nil
				}
			}
		},
		update: func(ctx context.Context, w workload) error {
			_, err := in(w.GetNamespace()).Update(ctx, unwrap(w), metav1.UpdateOptions{FieldManager: FieldManager})
			return err
		},
	}
}

type job struct{ *batchv1.Job }

func (j job) template() map[string]string { return j.Spec.Template.Labels }

func (j job) paused() bool { return j.Spec.Suspend != nil && *j.Spec.Suspend }
func (j job) pause()       { j.Spec.Suspend = new(true) }
func (j job) resume() error {
	j.Spec.Suspend = new(false)
	return nil
}

type deployment struct{ *appsv1.Deployment }

func (d deployment) template() map[string]string { return d.Spec.Template.Labels }

func (d deployment) paused() bool { return stopped(d.Spec.Replicas) }
func (d deployment) pause()       { d.Spec.Replicas = scaleDown(d.Deployment, d.Spec.Replicas) }
func (d deployment) resume() (err error) {
	d.Spec.Replicas, err = scaleUp(d.Deployment, d.Spec.Replicas)
	return err
}

type statefulSet struct{ *appsv1.StatefulSet }

func (s statefulSet) template() map[string]string { return s.Spec.Template.Labels }

func (s statefulSet) paused() bool { return stopped(s.Spec.Replicas) }
func (s statefulSet) pause()       { s.Spec.Replicas = scaleDown(s.StatefulSet, s.Spec.Replicas) }
func (s statefulSet) resume() (err error) {
	s.Spec.Replicas, err = scaleUp(s.StatefulSet, s.Spec.Replicas)
	return err
}

func stopped(replicas *int32) bool { return replicas != nil && *replicas == 0 }

// scaleDown notes the previous size, one where none is given.
func scaleDown(o metav1.Object, replicas *int32) *int32 {
	before := int32(1)
	if replicas != nil {
		before = *replicas
	}
	o.SetAnnotations(merged(o.GetAnnotations(), map[string]string{AnnotationReplicas: strconv.Itoa(int(before))}))
	return new(int32(0))
}

// scaleUp is the size that was noted.
func scaleUp(o metav1.Object, replicas *int32) (*int32, error) {
	text := o.GetAnnotations()[AnnotationReplicas]
	before, err := strconv.ParseInt(text, 10, 32)
	if err != nil || before < 0 {
		return replicas, fmt.Errorf("its annotation %s is %q, which is no count of replicas: scale it by hand", AnnotationReplicas, clip(text, 40))
	}
	return new(int32(before)), nil
}

// driven says who else drives a workload, or nothing.
func driven(o workload, kind string) string {
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind != "CronJob" {
		return "the " + owner.Kind + " " + owner.Name + " controls it, and would undo it"
	}
	if s, ok := o.(statefulSet); ok && deletesVolumes(s) {
		return "its persistentVolumeClaimRetentionPolicy.whenScaled is Delete: scaled to zero, it would lose its volumes"
	}
	field := "f:replicas"
	if kind == "Job" {
		field = "f:suspend"
		if j := o.(job); j.Spec.ManagedBy != nil && *j.Spec.ManagedBy != batchv1.JobControllerName {
			return "the controller " + *j.Spec.ManagedBy + " manages it"
		}
		if queue := o.GetLabels()["kueue.x-k8s.io/queue-name"]; queue != "" {
			return "Kueue suspends and starts it (queue " + queue + ")"
		}
	}
	for _, entry := range o.GetManagedFields() {
		// A controller that declares the field, or scales, would put it back.
		// People who once created or scaled the workload would not.
		drives := entry.Operation == metav1.ManagedFieldsOperationApply || entry.Subresource == "scale"
		if !drives || entry.Manager == FieldManager || strings.HasPrefix(entry.Manager, "kubectl") || !owns(entry, field) {
			continue
		}
		return fmt.Sprintf("the field manager %q sets %s, and would undo it", entry.Manager, "spec."+field[2:])
	}
	return ""
}

// deletesVolumes says that a StatefulSet's claims are deleted with the pods that
// it is scaled down by.
func deletesVolumes(s statefulSet) bool {
	policy := s.Spec.PersistentVolumeClaimRetentionPolicy
	return policy != nil && policy.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// owns says whether an entry of the managed fields has a field of the spec.
func owns(entry metav1.ManagedFieldsEntry, field string) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	var fields struct {
		Spec map[string]json.RawMessage `json:"f:spec"`
	}
	if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	_, has := fields.Spec[field]
	return has
}

// autoscaled names the autoscaler of a workload, or nothing. KEDA's are
// HorizontalPodAutoscalers as well.
func (c *Cluster) autoscaled(ctx context.Context, w budget.Workload) (string, error) {
	if w.Kind == "Job" {
		return "", nil
	}
	list, err := c.kube.AutoscalingV2().HorizontalPodAutoscalers(w.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", Wrap("list", "horizontalpodautoscalers in "+w.Namespace, err)
	}
	for _, h := range list.Items {
		if t := h.Spec.ScaleTargetRef; t.Kind == w.Kind && t.Name == w.Name {
			return "the HorizontalPodAutoscaler " + h.Name + " scales it, and would undo it", nil
		}
	}
	return "", nil
}
