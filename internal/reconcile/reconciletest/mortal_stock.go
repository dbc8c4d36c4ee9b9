package reconciletest

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

func (c *mortalCluster) Stock(ctx context.Context) (l stockpool.Look, err error) {
	err = c.m.effect("Stock", func() error { l, err = c.Cluster.Stock(ctx); return err })
	return l, err
}

func (c *mortalCluster) StockOf(ctx context.Context, namespace, name string) (s stockpool.Seen, err error) {
	err = c.m.effect("StockOf", func() error { s, err = c.Cluster.StockOf(ctx, namespace, name); return err })
	return s, err
}

func (c *mortalCluster) Namespaces(ctx context.Context) (there map[string]map[string]string, err error) {
	err = c.m.effect("Namespaces", func() error { there, err = c.Cluster.Namespaces(ctx); return err })
	return there, err
}

func (c *mortalCluster) PriorityClasses(ctx context.Context) (classes map[string]int32, err error) {
	err = c.m.effect("PriorityClasses", func() error { classes, err = c.Cluster.PriorityClasses(ctx); return err })
	return classes, err
}

func (c *mortalCluster) CreateStock(ctx context.Context, of *appsv1.Deployment) (made *appsv1.Deployment, err error) {
	err = c.m.effect("CreateStock", func() error { made, err = c.Cluster.CreateStock(ctx, of); return err })
	return made, err
}

func (c *mortalCluster) ApplyStock(ctx context.Context, live, wanted *appsv1.Deployment) (answer *appsv1.Deployment, err error) {
	err = c.m.effect("ApplyStock", func() error { answer, err = c.Cluster.ApplyStock(ctx, live, wanted); return err })
	return answer, err
}

func (c *mortalCluster) PreviewStock(ctx context.Context, live, wanted *appsv1.Deployment) (answer *appsv1.Deployment, err error) {
	err = c.m.effect("PreviewStock", func() error { answer, err = c.Cluster.PreviewStock(ctx, live, wanted); return err })
	return answer, err
}

func (c *mortalCluster) DeleteStock(ctx context.Context, of *appsv1.Deployment) error {
	return c.m.effect("DeleteStock", func() error { return c.Cluster.DeleteStock(ctx, of) })
}

func (c *mortalCluster) GuardStock(ctx context.Context, live, wanted *policyv1.PodDisruptionBudget) error {
	return c.m.effect("GuardStock", func() error { return c.Cluster.GuardStock(ctx, live, wanted) })
}

func (c *mortalCluster) UnguardStock(ctx context.Context, of *policyv1.PodDisruptionBudget) error {
	return c.m.effect("UnguardStock", func() error { return c.Cluster.UnguardStock(ctx, of) })
}

func (c *mortalCluster) SpareStockPod(ctx context.Context, namespace string, p stockpool.Pod, spare bool) error {
	return c.m.effect("SpareStockPod", func() error { return c.Cluster.SpareStockPod(ctx, namespace, p, spare) })
}
