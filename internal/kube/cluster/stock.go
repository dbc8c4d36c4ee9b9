package cluster

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Stock observes what has the label of stock pools, in the whole cluster.
func (c *stockClient) Stock(ctx context.Context) (stockpool.Observations, error) {
	uid, err := c.UID(ctx)
	if err != nil {
		return stockpool.Observations{}, err
	}
	l := stockpool.Observations{
		ClusterUID: uid, Namespaces: map[string]map[string]string{}, Deployments: map[string]*appsv1.Deployment{},
		Guards: map[string]*policyv1.PodDisruptionBudget{}, Pods: map[string][]stockpool.Pod{},
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		there, err := c.readNamespaces(ctx)
		for _, n := range there {
			l.Namespaces[n.name] = n.labels
		}
		return err
	})
	group.Go(func() error {
		_, err := kubeclient.List(ctx, stocked(kubeclient.Collection{Client: c.kube.AppsV1().RESTClient(), Resource: "deployments", PageSize: 1000}),
			func(object []byte) (none struct{}, take bool, err error) {
				var of appsv1.Deployment
				err = of.Unmarshal(object)
				l.Deployments[of.Namespace+"/"+of.Name] = &of
				return none, false, err
			})
		return err
	})
	group.Go(func() error {
		_, err := kubeclient.List(ctx, stocked(kubeclient.Collection{Client: c.kube.PolicyV1().RESTClient(), Resource: "poddisruptionbudgets"}),
			func(object []byte) (none struct{}, take bool, err error) {
				var of policyv1.PodDisruptionBudget
				err = of.Unmarshal(object)
				l.Guards[of.Namespace+"/"+of.Name] = &of
				return none, false, err
			})
		return err
	})
	group.Go(func() error {
		_, err := kubeclient.List(ctx, stocked(kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "pods"}),
			func(object []byte) (none struct{}, take bool, err error) {
				var p corev1.Pod
				err = p.Unmarshal(object)
				if name := stockOf(&p); name != "" {
					l.Pods[p.Namespace+"/"+name] = append(l.Pods[p.Namespace+"/"+name], stockPod(&p))
				}
				return none, false, err
			})
		return err
	})
	if err := group.Wait(); err != nil {
		return stockpool.Observations{}, err
	}
	l.At = c.Now()
	return l, nil
}

func stocked(of kubeclient.Collection) kubeclient.Collection {
	of.Labels = stockpool.LabelPool
	return of
}

// StockOf observes again what has one pool's name, also if it is unmanaged.
func (c *stockClient) StockOf(ctx context.Context, namespace, name string) (stockpool.Observation, error) {
	var s stockpool.Observation
	uid, err := c.UID(ctx)
	if err != nil {
		return s, err
	}
	of, err := c.kube.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return stockpool.Observation{ClusterUID: uid, At: c.Now(), NamespaceMissing: true}, nil
	case err != nil:
		return s, kubeclient.Wrap("get", "namespaces "+namespace, err)
	}
	deployment, err := c.kube.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return s, kubeclient.Wrap("get", "deployments "+namespace+"/"+name, err)
	}
	if err == nil {
		s.Deployment = deployment
	}
	guard, err := c.kube.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return s, kubeclient.Wrap("get", "poddisruptionbudgets "+namespace+"/"+name, err)
	}
	if err == nil {
		s.Guard = guard
	}
	pods, err := c.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: stockpool.LabelPool + "=" + name})
	if err != nil {
		return s, kubeclient.Wrap("list", "pods in the namespace "+namespace, err)
	}
	for n := range pods.Items {
		if p := &pods.Items[n]; stockOf(p) == name {
			s.Pods = append(s.Pods, stockPod(p))
		}
	}
	s.ClusterUID, s.At, s.NamespaceLabels = uid, c.Now(), namespaceLabels(of)
	return s, nil
}

// stockOf names the stock pool that a pod is of: the one that it is labelled with, where
// the Deployment of exactly that name made it. Another Deployment's pods may bear the same
// labels, and its name may begin with the pool's.
func stockOf(p *corev1.Pod) string {
	name, hash := p.Labels[stockpool.LabelPool], p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	by := metav1.GetControllerOf(p)
	if name == "" || hash == "" || by == nil || by.Kind != "ReplicaSet" || by.Name != name+"-"+hash {
		return ""
	}
	if group, err := schema.ParseGroupVersion(by.APIVersion); err != nil || group.Group != appsv1.GroupName {
		return ""
	}
	return name
}

// stockPod is what stock pools ask of a pod.
func stockPod(p *corev1.Pod) stockpool.Pod {
	out := stockpool.Pod{
		Name: p.Name, UID: string(p.UID), Labels: p.Labels, Phase: string(p.Status.Phase), Ending: p.DeletionTimestamp != nil,
		Node: p.Spec.NodeName, DeletionCost: p.Annotations[corev1.PodDeletionCost],
	}
	out.PriorityClassName = p.Spec.PriorityClassName
	if p.Spec.Priority != nil {
		out.Priority = *p.Spec.Priority
	}
	if value, ok := p.Annotations[budget.ProtectedKey]; ok {
		out.Annotations = map[string]string{budget.ProtectedKey: value}
	}
	for _, condition := range p.Status.Conditions {
		switch {
		case condition.Type == corev1.PodReady:
			out.Ready = condition.Status == corev1.ConditionTrue
		case condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable:
			out.Unschedulable = condition.Message
		}
	}
	for _, container := range p.Status.ContainerStatuses {
		if waits := container.State.Waiting; waits != nil && waits.Reason != "ContainerCreating" {
			out.Waiting = waits.Reason
		}
	}
	return out
}

// stockObject names an object of a stock pool in errors.
func stockObject(resource string, o metav1.Object) string {
	return fmt.Sprintf("%s %s/%s", resource, o.GetNamespace(), o.GetName())
}
