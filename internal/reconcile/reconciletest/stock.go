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

// stockAPI has the calls of stock pools.
type stockAPI struct{ *view }

// stock are the Deployments of the cluster in memory, whose controller acts instantly.
type stock struct {
	made        int
	deployments map[string]*appsv1.Deployment     // by namespace and name
	applied     map[string]corev1.PodTemplateSpec // last, by the pools
	guards      map[string]*policyv1.PodDisruptionBudget
	pods        map[string][]stockpool.Pod
	missing     map[string]bool // namespaces
}

// Deployment is the one by a name, to be changed by a test; nil where there is none.
func (c *state) Deployment(key string) *appsv1.Deployment { return c.stock.deployments[key] }

// StockPods are the pods of a Deployment, to be changed by a test.
func (c *state) StockPods(key string) []stockpool.Pod { return c.stock.pods[key] }

// Guarded reports whether a Deployment has a PodDisruptionBudget.
func (c *state) Guarded(key string) bool { return c.stock.guards[key] != nil }

// Put creates, changes or, if it is nil, deletes a Deployment, as another client does.
func (c *state) Put(key string, of *appsv1.Deployment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of != nil && of.UID == "" {
		of.UID = c.stock.uid()
	}
	c.put(key, of)
}

// LeaveStockPods has these be the pods that are left of a Deployment that is gone.
func (c *state) LeaveStockPods(key string, pods ...stockpool.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stock.pods[key] = pods
}

func (c *state) LoseNamespace(name string) { c.stock.missing = map[string]bool{name: true} }

func (s *stock) uid() types.UID {
	s.made++
	return types.UID(fmt.Sprintf("00000000-0000-4000-9000-%012d", s.made))
}

// put keeps a Deployment, and does what its controller would; c.mu must be held.
func (c *state) put(key string, of *appsv1.Deployment) {
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

func (c stockAPI) Stock(ctx context.Context) (stockpool.Observations, error) {
	return read(ctx, c.view, "Stock", func() (stockpool.Observations, error) {
		l := stockpool.Observations{
			ClusterUID: c.ClusterUID, At: c.now, Namespaces: namespaces(),
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
	})
}

func (c stockAPI) StockOf(ctx context.Context, namespace, name string) (stockpool.Observation, error) {
	return read(ctx, c.view, "StockOf", func() (stockpool.Observation, error) {
		key := namespace + "/" + name
		return stockpool.Observation{
			ClusterUID: c.ClusterUID, At: c.now, NamespaceMissing: c.stock.missing[namespace], Guard: c.stock.guards[key],
			Pods: slices.Clone(c.stock.pods[key]), Deployment: c.stock.deployments[key].DeepCopy(),
		}, nil
	})
}

func (c stockAPI) CreateStock(ctx context.Context, of *appsv1.Deployment) (*appsv1.Deployment, error) {
	return read(ctx, c.view, "CreateStock", func() (*appsv1.Deployment, error) {
		made, key := of.DeepCopy(), of.Namespace+"/"+of.Name
		if c.stock.deployments[key] != nil {
			return nil, stockpool.ErrChanged
		}
		c.Acts = append(c.Acts, "CreateStock "+key)
		made.UID = c.stock.uid()
		c.put(key, made)
		return made.DeepCopy(), nil
	}, of)
}

func (c stockAPI) ScaleStock(ctx context.Context, live *appsv1.Deployment, replicas int) error {
	key := live.Namespace + "/" + live.Name
	return c.act(ctx, "ScaleStock", key, func() error {
		now := c.stock.deployments[key].DeepCopy()
		if now == nil || now.UID != live.UID || *now.Spec.Replicas != *live.Spec.Replicas {
			return stockpool.ErrChanged
		}
		*now.Spec.Replicas = int32(replicas) //nolint:gosec // few
		now.ManagedFields = append(now.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: stockpool.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale", Time: &metav1.Time{Time: c.now},
		})
		c.put(key, now)
		return nil
	}, live, replicas)
}

func (c stockAPI) ApplyStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
	return read(ctx, c.view, "ApplyStock", func() (*appsv1.Deployment, error) {
		key := wanted.Namespace + "/" + wanted.Name
		answer, err := c.applied(live, wanted)
		if err == nil {
			c.Acts = append(c.Acts, "ApplyStock "+key)
			c.stock.applied[key] = wanted.Spec.Template
			c.put(key, answer.DeepCopy())
		}
		return answer, err
	}, live, wanted)
}

func (c stockAPI) PreviewStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
	return read(ctx, c.view, "PreviewStock", func() (*appsv1.Deployment, error) { return c.applied(live, wanted) }, live, wanted)
}

func (c stockAPI) applied(live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
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

func (c stockAPI) DeleteStock(ctx context.Context, of *appsv1.Deployment) error {
	key := of.Namespace + "/" + of.Name
	return c.act(ctx, "DeleteStock", key, func() error {
		if now := c.stock.deployments[key]; now != nil && now.UID == of.UID {
			c.put(key, nil)
		}
		return nil
	}, of)
}

func (c stockAPI) GuardStock(ctx context.Context, _, wanted *policyv1.PodDisruptionBudget) error {
	key := wanted.Namespace + "/" + wanted.Name
	return c.act(ctx, "GuardStock", key, func() error { c.stock.guards[key] = wanted; return nil })
}

func (c stockAPI) UnguardStock(ctx context.Context, of *policyv1.PodDisruptionBudget) error {
	key := of.Namespace + "/" + of.Name
	return c.act(ctx, "UnguardStock", key, func() error { delete(c.stock.guards, key); return nil })
}

func (c stockAPI) SpareStockPod(ctx context.Context, _ string, p stockpool.Pod, spare bool) error {
	return c.act(ctx, "SpareStockPod", p.Name, func() error {
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
