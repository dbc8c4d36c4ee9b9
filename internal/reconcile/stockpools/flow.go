package stockpools

import (
	"cmp"
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Ports are the dependencies of a flow of stock pools, for one cluster and one store.
type Ports struct {
	// Cluster returns the Kubernetes cluster, always the same; nil if there is none. It is only
	// called if stock pools are declared.
	Cluster    func(ctx context.Context) (Cluster, error)
	Repository record.Repository
	Reporter   outcome.Reporter
	Clock      func() time.Time
	// PollInterval is the pause between two observations of pods that become ready. Default: 2
	// seconds.
	PollInterval time.Duration
}

func (p *Ports) records() record.Lifecycle[stockpool.Declaration] {
	return record.StockPools(p.Repository)
}

func (p *Ports) pollInterval() time.Duration { return cmp.Or(p.PollInterval, 2*time.Second) }

// Flow carries out declarations of stock pools.
type Flow struct{ *journals }

// New returns the flow of stock pools over its ports.
func New(p Ports) *Flow { return &Flow{&journals{Ports: p}} }

// connection is a flow with the cluster that it reached.
type connection struct {
	*journals
	cluster Cluster
}

const whose = "stock pools"

// connect reaches the cluster, and returns its identity.
func (f *Flow) connect(ctx context.Context) (connection, string, error) {
	c, uid, err := record.Reach(ctx, f.Cluster, whose)
	return connection{f.journals, c}, uid, err
}

// connectOwn reaches the cluster, if it is the pool's.
func (f *Flow) connectOwn(ctx context.Context, d stockpool.Declaration) (connection, error) {
	c, err := record.ReachOwn(ctx, f.Cluster, whose, d.Object(), d.ClusterUID)
	return connection{f.journals, c}, err
}

// now returns the cluster's time as of the last response, in whole seconds like the timestamps
// of its objects.
func (c connection) now() time.Time {
	at := c.cluster.Now()
	if at.IsZero() {
		at = c.Clock()
	}
	return at.UTC().Truncate(time.Second)
}
