package cluster

import (
	"context"
	"errors"
	"math"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Owners returns the workloads that would be paused for pods, by the pods' UIDs. The owner reference of a pod
// is not proof, as everyone who can create pods can write it. The workload must have the referenced UID,
// select the pod, and request GPUs in its own pod template.
func (c *enforcer) Owners(ctx context.Context, pods []budget.Pod, rules gpu.Rules) (map[string]budget.Ownership, error) {
	table, err := rules.Table()
	if err != nil {
		return nil, err
	}
	known := &owners{cluster: c, table: table, found: map[budget.Workload]found{}, autoscalers: map[string][]autoscalingv2.HorizontalPodAutoscaler{}}
	out := make(map[string]budget.Ownership, len(pods))
	for _, p := range pods {
		if p.Owner == nil {
			continue
		}
		of, err := known.of(ctx, p)
		if err != nil {
			return nil, err
		}
		out[p.UID] = of
	}
	return out, nil
}

// owners are the workloads that were looked up, each once.
type owners struct {
	cluster *enforcer
	table   *gpu.Table
	found   map[budget.Workload]found // by what a pod names
	// autoscalers are by namespace.
	autoscalers map[string][]autoscalingv2.HorizontalPodAutoscaler
}

// found is the verified owner of a pod.
type found struct {
	// selectors are those of the workload and of what stands between it and the
	// pod: all of them have to match.
	selectors []labels.Selector
	ownership budget.Ownership
}

func (o *owners) of(ctx context.Context, p budget.Pod) (budget.Ownership, error) {
	named := p.Controller()
	f, known := o.found[named]
	if !known {
		var err error
		f, err = o.find(ctx, named)
		var not *budget.NotPausedError
		if errors.As(err, &not) {
			f.ownership = budget.Ownership{Reason: reason.OwnerNotPaused(not.Because())}
		} else if err != nil {
			return f.ownership, err
		}
		o.found[named] = f
	}
	if !f.ownership.Reason.IsZero() {
		return f.ownership, nil
	}
	for _, s := range f.selectors {
		if p.Set == nil || !s.Matches(p.Set.Labels) {
			return budget.Ownership{Reason: reason.OwnerNotSelects(reason.Workload(named.String()))}, nil
		}
	}
	return f.ownership, nil
}

// find finds what a pod names as its owner.
func (o *owners) find(ctx context.Context, named budget.Workload) (f found, err error) {
	w := named
	switch {
	case w.APIVersion == "apps/v1" && w.Kind == "ReplicaSet":
		var selector labels.Selector
		if w, selector, err = o.cluster.deploymentOf(ctx, w); err != nil {
			return f, err
		}
		f.selectors = append(f.selectors, selector)
	case w.APIVersion == "apps/v1" && w.Kind == "Deployment":
		// A Deployment makes ReplicaSets, and these make pods.
		return f, notPaused(w, reason.DeploymentOwnsPod())
	}
	object, err := o.cluster.find(ctx, w)
	if err != nil {
		return f, err
	}
	selector, err := metav1.LabelSelectorAsSelector(object.selector())
	if err != nil {
		return f, notPaused(w, reason.SelectorUnread(reason.Failure(err)))
	}
	f.selectors = append(f.selectors, selector)
	if !o.table.MayHold(&corev1.Pod{ObjectMeta: object.template().ObjectMeta, Spec: object.template().Spec}) {
		return f, notPaused(w, reason.NoGPUsRequested())
	}
	obstacle := pauseObstacle(object)
	if obstacle.IsZero() {
		obstacle = o.scaledFromZero(ctx, w)
	}
	f.ownership = budget.Ownership{
		Workload: w, Labels: object.template().Labels, Stopped: object.stopped(), ToleratesDisruption: toleratesDisruption(object),
		Obstacle: obstacle, FailuresLeft: failuresLeft(object),
	}
	if j, isJob := object.(job); isJob {
		f.ownership.CronJob, err = o.cronJobOf(ctx, j)
	}
	return f, err
}

// cronJobOf returns the CronJob that started a Job, or nil. A role without the right to read it is an obstacle.
func (o *owners) cronJobOf(ctx context.Context, j job) (*budget.Ownership, error) {
	owner := gpu.ControllerOf(j)
	if owner == nil {
		return nil, nil
	}
	w := budget.Workload{Namespace: j.Namespace, Owner: *owner}
	if !w.IsCronJob() {
		return nil, nil
	}
	object, err := o.cluster.find(ctx, w)
	var not *budget.NotPausedError
	switch {
	case errors.As(err, &not):
		return nil, nil
	case apierrors.IsForbidden(err):
		return &budget.Ownership{Workload: w, Obstacle: reason.CronJobForbidden(reason.Failure(err))}, nil
	case err != nil:
		return nil, err
	}
	c, template := object.(cronJob), object.template()
	if !c.starts(j) || !o.table.MayHold(&corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}) {
		return nil, nil
	}
	return &budget.Ownership{Workload: w, Labels: template.Labels, Stopped: c.stopped(), Obstacle: pauseObstacle(c)}, nil
}

// scaledFromZero returns which autoscaler would undo a pause of a workload, or zero. Autoscalers that cannot be
// listed are an error of the pause, which looks again.
func (o *owners) scaledFromZero(ctx context.Context, w budget.Workload) reason.Reason {
	if !scalable(w) {
		return reason.Reason{}
	}
	list, known := o.autoscalers[w.Namespace]
	if !known {
		list, _ = o.cluster.autoscalers(ctx, w.Namespace)
		o.autoscalers[w.Namespace] = list
	}
	return scaledBy(list, w).Obstacle()
}

// deploymentOf is the Deployment of a ReplicaSet, and what the latter selects.
func (c *enforcer) deploymentOf(ctx context.Context, w budget.Workload) (budget.Workload, labels.Selector, error) {
	rs, err := c.kube.AppsV1().ReplicaSets(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && string(rs.UID) != w.UID {
		return w, nil, gone(w)
	}
	if err != nil {
		return w, nil, kubeclient.Wrap("get", "replicasets "+w.Namespace+"/"+w.Name, err)
	}
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	if err != nil {
		return w, nil, notPaused(w, reason.SelectorUnread(reason.Failure(err)))
	}
	owner := gpu.ControllerOf(rs)
	if owner == nil || owner.Kind != "Deployment" || owner.APIVersion != "apps/v1" || owner.UID == "" {
		return w, nil, notPaused(w, reason.UncontrolledSet())
	}
	return budget.Workload{Namespace: w.Namespace, Owner: *owner}, selector, nil
}

// toleratesDisruption reports whether the end of a pod by a disruption is not a failure of its
// workload. For a Job it is one, unless its pod failure policy ignores it.
func toleratesDisruption(o workload) bool {
	j, isJob := o.(job)
	return !isJob || onDisruption(j) == batchv1.PodFailurePolicyActionIgnore
}

// onDisruption returns what the pod failure policy of a Job does about an evicted pod. Without one, the pod
// counts as a failure.
func onDisruption(j job) batchv1.PodFailurePolicyAction {
	if j.Spec.PodFailurePolicy != nil {
		for _, rule := range j.Spec.PodFailurePolicy.Rules {
			for _, pattern := range rule.OnPodConditions {
				if pattern.Type == corev1.DisruptionTarget && pattern.Status == corev1.ConditionTrue {
					return rule.Action
				}
			}
		}
	}
	return batchv1.PodFailurePolicyActionCount
}

// failuresLeft returns how many pods of a Job can still fail. Of an indexed Job with a limit for each index, the
// failures of an index are unknown, unless none is allowed.
func failuresLeft(o workload) int {
	j, isJob := o.(job)
	if !isJob || onDisruption(j) == batchv1.PodFailurePolicyActionFailJob {
		return 0
	}
	if perIndex := j.Spec.BackoffLimitPerIndex; perIndex != nil {
		if *perIndex == 0 {
			return 0
		}
		return math.MaxInt32
	}
	limit, failed := 6, int(j.Status.Failed) // the default, which the API server fills in
	if j.Spec.BackoffLimit != nil {
		limit = int(*j.Spec.BackoffLimit)
	}
	if of := j.Status.UncountedTerminatedPods; of != nil {
		failed += len(of.Failed)
	}
	return max(0, limit-failed)
}
