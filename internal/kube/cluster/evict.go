package cluster

import (
	"context"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// evictionTries limits the requests to evict a pod that changes meanwhile.
const evictionTries = 3

// Evict requests the eviction of exactly this pod, and of no later one of its name. A terminating pod gets a
// shorter grace period: the API server consults no disruption budget for it. See
// pkg/registry/core/pod/storage/eviction.go.
//
// The error is *budget.EvictionBlockedError if a disruption budget does not allow it now. It is that, too, if
// two of them or the cluster's own admission never do. It is nil if the pod is already deleted.
//
// A pod that waits for GPUs is evicted only while it waits, again without regard to disruption budgets. If a
// kubelet accepted it meanwhile, the eviction is blocked.
func (c *enforcer) Evict(ctx context.Context, e budget.Eviction) error {
	for range evictionTries {
		err := c.evictOnce(ctx, e)
		if !apierrors.IsConflict(err) {
			return c.evicted(e, err)
		}
		// The name is another pod's by now, or the pod changed while it was asked.
		live, getErr := c.kube.CoreV1().Pods(e.Namespace).Get(ctx, e.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(getErr), getErr == nil && string(live.UID) != e.UID:
			return nil
		case getErr != nil:
			return kubeclient.Wrap("get", "pods "+e.Namespace+"/"+e.Name, getErr)
		case e.Waiting == "":
			return c.evicted(e, err)
		case live.Status.StartTime != nil || live.Status.Phase != corev1.PodPending:
			return &budget.EvictionBlockedError{
				Pod: e.PodRef, Err: errors.New("it waited for GPUs, and the node " + live.Spec.NodeName + " started it meanwhile"),
			}
		}
		e.Waiting = live.ResourceVersion
	}
	return &budget.EvictionBlockedError{Pod: e.PodRef, Err: errors.New("another process keeps changing it")}
}

func (c *enforcer) evictOnce(ctx context.Context, e budget.Eviction) error {
	conditions := &metav1.Preconditions{UID: new(types.UID(e.UID))}
	if e.Waiting != "" {
		conditions.ResourceVersion = &e.Waiting
	}
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: e.Name, Namespace: e.Namespace},
		DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: new(max(1, e.Grace)), Preconditions: conditions},
	}
	// A blocked eviction is answered with "try again later", which client-go would
	// wait for. The next victim is better than waiting.
	return c.kube.CoreV1().RESTClient().Post().Namespace(e.Namespace).Resource("pods").Name(e.Name).
		SubResource("eviction").VersionedParams(&metav1.CreateOptions{FieldManager: fieldManager}, kubeclient.ParameterCodec).
		MaxRetries(0).Body(eviction).Do(ctx).Error()
}

// evicted interprets the response to an eviction.
func (c *enforcer) evicted(e budget.Eviction, err error) error {
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return nil
	case apierrors.IsTooManyRequests(err), kubeclient.Refused(err), guardedTwice(err):
		return &budget.EvictionBlockedError{Pod: e.PodRef, Err: err}
	}
	return kubeclient.Wrap("create", "pods/eviction "+e.Namespace+"/"+e.Name, err)
}

// guardedTwice reports whether several disruption budgets cover the pod. The API server answers that with a
// plain internal error (pkg/registry/core/pod/storage/eviction.go).
func guardedTwice(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && strings.Contains(err.Error(), "more than one PodDisruptionBudget")
}
