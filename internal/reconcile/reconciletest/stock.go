package reconciletest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// stock are the Deployments of the cluster in memory, whose controller is done at once.
type stock struct {
	made        int
	deployments map[string]*appsv1.Deployment     // by namespace and name
	applied     map[string]corev1.PodTemplateSpec // last, by the pools
	guards      map[string]*policyv1.PodDisruptionBudget
	pods        map[string][]stockpool.Pod
	missing     map[string]bool // namespaces
}

// Deployment is the one by a name, to be changed by a test; nil where there is none.
func (c *Cluster) Deployment(key string) *appsv1.Deployment { return c.stock.deployments[key] }

// StockPods are the pods of a Deployment, to be changed by a test.
func (c *Cluster) StockPods(key string) []stockpool.Pod { return c.stock.pods[key] }

// Guarded says whether a Deployment has a PodDisruptionBudget.
func (c *Cluster) Guarded(key string) bool { return c.stock.guards[key] != nil }

// Put is what somebody else does: a Deployment is made, changed, or, where it is nil,
// deleted.
func (c *Cluster) Put(key string, of *appsv1.Deployment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of != nil && of.UID == "" {
		of.UID = c.stock.uid()
	}
	c.put(key, of)
}

// LeaveStockPods has these be the pods that are left of a Deployment that is gone.
func (c *Cluster) LeaveStockPods(key string, pods ...stockpool.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stock.pods[key] = pods
}

// LoseNamespace has the cluster lack a namespace.
func (c *Cluster) LoseNamespace(name string) { c.stock.missing = map[string]bool{name: true} }

func (s *stock) uid() types.UID {
	s.made++
	return types.UID(fmt.Sprintf("00000000-0000-4000-9000-%012d", s.made))
}

// put keeps a Deployment, and does what its controller would; c.mu must be held.
func (c *Cluster) put(key string, of *appsv1.Deployment) {
	s := &c.stock
	if s.deployments == nil {
		s.deployments, s.guards, s.pods = map[string]*appsv1.Deployment{}, map[string]*policyv1.PodDisruptionBudget{}, map[string][]stockpool.Pod{}
		s.applied = map[string]corev1.PodTemplateSpec{}
	}
	if of == nil {
		delete(s.deployments, key)
		delete(s.guards, key)
		delete(s.pods, key)
		return
	}
	s.deployments[key] = of
	pods, wanted := s.pods[key], int(*of.Spec.Replicas)
	for len(pods) < wanted {
		s.made++
		pods = append(pods, stockpool.Pod{
			Name: fmt.Sprintf("%s-%d", of.Name, s.made), UID: string(s.uid()), Phase: "Running", Ready: true, Node: "node-1",
			Labels: maps.Clone(of.Spec.Template.Labels),
		})
	}
	for len(pods) > wanted {
		n := len(pods) - 1
		for i, p := range pods {
			if p.DeletionCost == "" {
				n = i
			}
		}
		pods = slices.Delete(pods, n, n+1)
	}
	s.pods[key] = pods
	of.Status = appsv1.DeploymentStatus{
		ObservedGeneration: of.Generation, Replicas: int32(wanted), UpdatedReplicas: int32(wanted), ReadyReplicas: int32(wanted),
	} //nolint:gosec // few
}

// Stock are all stock pools.
func (c *Cluster) Stock(context.Context) (stockpool.Look, error) {
	if err := c.call("Stock"); err != nil {
		return stockpool.Look{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := stockpool.Look{
		ClusterUID: c.ClusterUID, At: c.now, Namespaces: map[string]map[string]string{"ml": {"kind": "research"}, "web": nil},
		Deployments: map[string]*appsv1.Deployment{}, Guards: maps.Clone(c.stock.guards), Pods: map[string][]stockpool.Pod{},
	}
	maps.DeleteFunc(l.Namespaces, func(name string, _ map[string]string) bool { return c.stock.missing[name] })
	for key, of := range c.stock.deployments {
		if of.Labels[stockpool.LabelPool] != "" {
			l.Deployments[key] = of.DeepCopy()
		}
	}
	for key, pods := range c.stock.pods {
		l.Pods[key] = slices.Clone(pods)
	}
	return l, nil
}

// Namespaces are the cluster's.
func (c *Cluster) Namespaces(context.Context) (map[string]map[string]string, error) {
	return map[string]map[string]string{"ml": {"kind": "research"}, "web": nil}, c.call("Namespaces")
}

// PriorityClasses are the cluster's.
func (c *Cluster) PriorityClasses(context.Context) (map[string]int32, error) {
	return c.classes, c.call("PriorityClasses")
}

// StockOf is one stock pool.
func (c *Cluster) StockOf(_ context.Context, namespace, name string) (stockpool.Seen, error) {
	if err := c.call("StockOf"); err != nil {
		return stockpool.Seen{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := namespace + "/" + name
	s := stockpool.Seen{
		ClusterUID: c.ClusterUID, At: c.now, NamespaceMissing: c.stock.missing[namespace], Guard: c.stock.guards[key], Pods: slices.Clone(c.stock.pods[key]),
	}
	if of := c.stock.deployments[key]; of != nil {
		s.Deployment = of.DeepCopy()
	}
	return s, nil
}

// CreateStock makes a Deployment.
func (c *Cluster) CreateStock(_ context.Context, of *appsv1.Deployment) (*appsv1.Deployment, error) {
	made, key := of.DeepCopy(), of.Namespace+"/"+of.Name
	err := c.act("CreateStock", key, func() error {
		if c.stock.deployments[key] != nil {
			return stockpool.ErrChanged
		}
		made.UID = c.stock.uid()
		c.put(key, made)
		return nil
	})
	return made.DeepCopy(), err
}

// ApplyStock changes a Deployment.
func (c *Cluster) ApplyStock(_ context.Context, live, wanted *appsv1.Deployment) (answer *appsv1.Deployment, err error) {
	key := wanted.Namespace + "/" + wanted.Name
	err = c.act("ApplyStock", key, func() (err error) {
		if answer, err = c.applied(live, wanted); err == nil {
			c.stock.applied[key] = wanted.Spec.Template
			c.put(key, answer.DeepCopy())
		}
		return err
	})
	return answer, err
}

// PreviewStock says how ApplyStock would change a Deployment.
func (c *Cluster) PreviewStock(_ context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
	if err := c.call("PreviewStock"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.applied(live, wanted)
}

// applied is what an application makes of a Deployment.
func (c *Cluster) applied(live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
	key := wanted.Namespace + "/" + wanted.Name
	now := c.stock.deployments[key]
	if now == nil || now.UID != live.UID {
		return nil, stockpool.ErrChanged
	}
	answer := now.DeepCopy()
	answer.Labels, answer.Spec.Replicas = wanted.Labels, wanted.Spec.Replicas
	answer.Spec.Template = merged(now.Spec.Template, c.stock.applied[key], wanted.Spec.Template)
	answer.Annotations = nil
	answer.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: stockpool.FieldManager, Operation: metav1.ManagedFieldsOperationApply, Time: &metav1.Time{Time: c.now},
	}}
	return answer, nil
}

// merged is what an application makes of a template: as wanted, with the labels, limits,
// claims and containers that others added since the last.
func merged(now, last, wanted corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	out := *wanted.DeepCopy()
	for key, value := range now.Labels {
		if _, ours := last.Labels[key]; !ours && out.Labels[key] == "" {
			out.Labels[key] = value
		}
	}
	out.Spec.ResourceClaims = now.Spec.ResourceClaims
	out.Spec.InitContainers = now.Spec.InitContainers
	for n, c := range now.Spec.Containers {
		if n >= len(out.Spec.Containers) {
			out.Spec.Containers = append(out.Spec.Containers, c)
			continue
		}
		var ours corev1.ResourceList
		if n < len(last.Spec.Containers) {
			ours = last.Spec.Containers[n].Resources.Limits
		}
		for name, amount := range c.Resources.Limits {
			_, applied := ours[name]
			if _, there := out.Spec.Containers[n].Resources.Limits[name]; !applied && !there {
				out.Spec.Containers[n].Resources.Limits[name] = amount
			}
		}
	}
	return out
}

// DeleteStock deletes a Deployment.
func (c *Cluster) DeleteStock(_ context.Context, of *appsv1.Deployment) error {
	key := of.Namespace + "/" + of.Name
	return c.act("DeleteStock", key, func() error {
		if now := c.stock.deployments[key]; now != nil && now.UID == of.UID {
			c.put(key, nil)
		}
		return nil
	})
}

// GuardStock makes or changes a PodDisruptionBudget.
func (c *Cluster) GuardStock(_ context.Context, _, wanted *policyv1.PodDisruptionBudget) error {
	key := wanted.Namespace + "/" + wanted.Name
	return c.act("GuardStock", key, func() error { c.stock.guards[key] = wanted; return nil })
}

// UnguardStock deletes a PodDisruptionBudget.
func (c *Cluster) UnguardStock(_ context.Context, of *policyv1.PodDisruptionBudget) error {
	key := of.Namespace + "/" + of.Name
	return c.act("UnguardStock", key, func() error { delete(c.stock.guards, key); return nil })
}

// SpareStockPod marks a pod.
func (c *Cluster) SpareStockPod(_ context.Context, _ string, p stockpool.Pod, spare bool) error {
	return c.act("SpareStockPod", p.Name, func() error {
		for _, pods := range c.stock.pods {
			for n := range pods {
				if pods[n].UID == p.UID {
					pods[n].DeletionCost = map[bool]string{true: stockpool.SpareCost}[spare]
				}
			}
		}
		return nil
	})
}
