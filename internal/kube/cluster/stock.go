package cluster

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
	pods := map[types.NamespacedName][]claimedPod{}
	group, listing := errgroup.WithContext(ctx)
	group.Go(func() error {
		there, err := c.readNamespaces(listing)
		for _, n := range there {
			l.Namespaces[n.name] = n.labels
		}
		return err
	})
	group.Go(func() error {
		_, err := kubeclient.List(listing, stocked(kubeclient.Collection{Client: c.kube.AppsV1().RESTClient(), Resource: "deployments", PageSize: 1000}),
			func(object []byte) (none struct{}, take bool, err error) {
				var of appsv1.Deployment
				err = of.Unmarshal(object)
				l.Deployments[of.Namespace+"/"+of.Name] = &of
				return none, false, err
			})
		return err
	})
	group.Go(func() error {
		_, err := kubeclient.List(listing, stocked(kubeclient.Collection{Client: c.kube.PolicyV1().RESTClient(), Resource: "poddisruptionbudgets"}),
			func(object []byte) (none struct{}, take bool, err error) {
				var of policyv1.PodDisruptionBudget
				err = of.Unmarshal(object)
				l.Guards[of.Namespace+"/"+of.Name] = &of
				return none, false, err
			})
		return err
	})
	group.Go(func() error {
		_, err := kubeclient.List(listing, stocked(kubeclient.Collection{Client: c.kube.CoreV1().RESTClient(), Resource: "pods"}),
			func(object []byte) (none struct{}, take bool, err error) {
				var p corev1.Pod
				err = p.Unmarshal(object)
				if claimed, name := claimOf(&p); name != "" {
					pool := types.NamespacedName{Namespace: p.Namespace, Name: name}
					pods[pool] = append(pods[pool], claimed)
				}
				return none, false, err
			})
		return err
	})
	if err := group.Wait(); err != nil {
		return stockpool.Observations{}, err
	}
	if err := c.sortPods(ctx, l, pods); err != nil {
		return stockpool.Observations{}, err
	}
	l.At = c.Now()
	return l, nil
}

// sortPods gives each pool the pods that are its own. ReplicaSets are listed only if some
// pool has more than its Deployment counts, or others, and then once for all.
func (c *stockClient) sortPods(ctx context.Context, l stockpool.Observations, pods map[types.NamespacedName][]claimedPod) (err error) {
	var sets map[types.UID]replicaSet
	for pool, claimed := range pods {
		of := l.Deployments[pool.String()]
		if sets == nil && asksForSets(of, claimed) {
			if sets, err = c.replicaSets(ctx, metav1.NamespaceAll, stockpool.LabelPool); err != nil {
				return err
			}
		}
		l.Pods[pool.String()] = ownPods(pool.Name, of, claimed, sets)
	}
	return nil
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
	var claimed []claimedPod
	for n := range pods.Items {
		if p, of := claimOf(&pods.Items[n]); of == name {
			claimed = append(claimed, p)
		}
	}
	var sets map[types.UID]replicaSet
	if asksForSets(s.Deployment, claimed) {
		if sets, err = c.replicaSets(ctx, namespace, stockpool.LabelPool+"="+name); err != nil {
			return s, err
		}
	}
	s.Pods = ownPods(name, s.Deployment, claimed, sets)
	s.ClusterUID, s.At, s.NamespaceLabels = uid, c.Now(), namespaceLabels(of)
	return s, nil
}

// stockPod returns the fields of a pod that stock pools need.
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
			out.Waiting = waitingFor(container.Image, *waits)
		}
	}
	return out
}

// ofPod matches what a message of the kubelet says of one pod, which other pods of the same template do not share.
var ofPod = regexp.MustCompile(` ?(?:restarting failed container=\S+ )?pod=\S+`)

// waitingFor returns the kubelet's reason and message why a container does not run, with its image.
func waitingFor(image string, waits corev1.ContainerStateWaiting) string {
	message := strings.TrimSpace(ofPod.ReplaceAllString(waits.Message, ""))
	text := waits.Reason
	if message != "" {
		text += ": " + message
	}
	if image != "" && !strings.Contains(message, image) {
		text += " (image " + image + ")"
	}
	return text
}

// stockObject names an object of a stock pool in errors.
func stockObject(resource string, o metav1.Object) string {
	return fmt.Sprintf("%s %s/%s", resource, o.GetNamespace(), o.GetName())
}
