package kube

import (
	"context"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// Evict asks for the eviction of exactly this pod, and no later one of its name. It
// shortens the end of a pod that ends already, for which the API server consults
// no disruption budget (pkg/registry/core/pod/storage/eviction.go).
// The error is *reconcile.EvictionBlockedError where a disruption budget does not
// allow it now, or two of them or the cluster's own admission never do, and nil
// where the pod is gone already.
func (c *Cluster) Evict(ctx context.Context, e reconcile.Eviction) error {
	p, uid := e.PodRef, types.UID(e.UID)
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace},
		DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: new(max(1, e.Grace)), Preconditions: &metav1.Preconditions{UID: &uid}},
	}
	// A blocked eviction is answered with "try again later", which client-go would
	// wait for. The next victim is better than waiting.
	err := c.kube.CoreV1().RESTClient().Post().Namespace(p.Namespace).Resource("pods").Name(p.Name).
		SubResource("eviction").VersionedParams(&metav1.CreateOptions{FieldManager: FieldManager}, scheme.ParameterCodec).
		MaxRetries(0).Body(eviction).Do(ctx).Error()
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return nil
	case apierrors.IsTooManyRequests(err), refusedByAdmission(err), guardedTwice(err):
		return &reconcile.EvictionBlockedError{Pod: p, Err: err}
	case apierrors.IsConflict(err):
		// The name is another pod's by now, or the pod changed while it was asked.
		live, getErr := c.kube.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(getErr), getErr == nil && live.UID != uid:
			return nil
		case getErr != nil:
			return Wrap("get", "pods "+p.Namespace+"/"+p.Name, getErr)
		}
	}
	return Wrap("create", "pods/eviction "+p.Namespace+"/"+p.Name, err)
}

// guardedTwice says that several disruption budgets cover the pod, which the API
// server answers with a plain internal error (pkg/registry/core/pod/storage,
// eviction.go).
func guardedTwice(err error) bool {
	return answered(err) && strings.Contains(err.Error(), "more than one PodDisruptionBudget")
}
