package reconcile

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// marketsAge is the longest age of prices and stock.
const marketsAge = time.Minute

// Observer returns the world for repeated reads. Observations of Tencent Cloud and of the cluster
// are at most age old, so that frequent reads do not use up rate limits. Changes are refused, as in
// a dry run. The store is read each time.
func (w World) Observer(age time.Duration) World {
	results := &memo{}
	if w.Cloud != nil {
		w.Cloud = dryCloud{CloudReader: cachedCloud{w.Cloud, results, age}}
	}
	w.Cluster = connectAs(w.Cluster, func(c Cluster) Cluster { return dryCluster{ClusterReader: cachedCluster{c, results, age}} })
	return w
}

// cachedCloud remembers what it read.
type cachedCloud struct {
	spotpools.CloudReader
	results *memo
	age     time.Duration
}

// listed is a list of instances and its time.
type listedInstances struct {
	instances []spotpool.Instance
	at        time.Time
}

func (c cachedCloud) list(ctx context.Context, key string, list func(context.Context) ([]spotpool.Instance, time.Time, error)) ([]spotpool.Instance,
	time.Time, error) {
	l, err := remember(ctx, c.results, key, c.age, func(ctx context.Context) (l listedInstances, err error) {
		l.instances, l.at, err = list(ctx)
		return l, err
	})
	return l.instances, l.at, err
}

func (c cachedCloud) Account(ctx context.Context) (spotpool.Account, error) {
	return remember(ctx, c.results, "account", c.age, c.CloudReader.Account)
}

func (c cachedCloud) ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, "region "+region, func(ctx context.Context) ([]spotpool.Instance, time.Time, error) {
		return c.CloudReader.ObserveRegion(ctx, region)
	})
}

func (c cachedCloud) ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, "pool "+region+" "+uid+" "+strings.Join(ids, " "), func(ctx context.Context) ([]spotpool.Instance, time.Time, error) {
		return c.CloudReader.ObservePool(ctx, region, uid, ids)
	})
}

func (c cachedCloud) ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, "instances "+region+" "+strings.Join(ids, " "), func(ctx context.Context) ([]spotpool.Instance, time.Time, error) {
		return c.CloudReader.ObserveInstances(ctx, region, ids)
	})
}

func (c cachedCloud) Markets(ctx context.Context, region string) (spotpool.Markets, error) {
	return remember(ctx, c.results, "markets "+region, max(c.age, marketsAge), func(ctx context.Context) (spotpool.Markets, error) {
		return c.CloudReader.Markets(ctx, region)
	})
}

// cachedCluster remembers what it read.
type cachedCluster struct {
	ClusterReader
	results *memo
	age     time.Duration
}

func (c cachedCluster) UID(ctx context.Context) (string, error) {
	return remember(ctx, c.results, "uid", c.age, c.ClusterReader.UID)
}

func (c cachedCluster) Nodes(ctx context.Context) (node.Observation, error) {
	return remember(ctx, c.results, "nodes", c.age, c.ClusterReader.Nodes)
}

func (c cachedCluster) GPUPods(ctx context.Context) (map[string]int, error) {
	return remember(ctx, c.results, "gpu pods", c.age, c.ClusterReader.GPUPods)
}

func (c cachedCluster) Stock(ctx context.Context) (stockpool.Observations, error) {
	return remember(ctx, c.results, "stock", c.age, c.ClusterReader.Stock)
}

func (c cachedCluster) StockOf(ctx context.Context, namespace, name string) (stockpool.Observation, error) {
	return remember(ctx, c.results, "stock "+namespace+"/"+name, c.age, func(ctx context.Context) (stockpool.Observation, error) {
		return c.ClusterReader.StockOf(ctx, namespace, name)
	})
}

func (c cachedCluster) PriorityClasses(ctx context.Context) (map[string]int32, error) {
	return remember(ctx, c.results, "priority classes", c.age, c.ClusterReader.PriorityClasses)
}

func (c cachedCluster) Autoscaler(ctx context.Context, w budget.Workload) (budget.Autoscaler, error) {
	return remember(ctx, c.results, "autoscaler "+w.Namespace+"/"+w.Kind+"/"+w.Name, c.age, func(ctx context.Context) (budget.Autoscaler, error) {
		return c.ClusterReader.Autoscaler(ctx, w)
	})
}

func (c cachedCluster) PreviewStock(ctx context.Context, live, wanted *appsv1.Deployment) (*appsv1.Deployment, error) {
	desired, err := json.Marshal(wanted)
	if err != nil {
		return nil, err
	}
	key := "preview " + string(live.UID) + " " + live.ResourceVersion + " " + string(desired)
	return remember(ctx, c.results, key, c.age, func(ctx context.Context) (*appsv1.Deployment, error) {
		return c.ClusterReader.PreviewStock(ctx, live, wanted)
	})
}
