package stockpools

import (
	"cmp"
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Ports are what flows of stock pools need of the world, for one cluster and one store.
type Ports struct {
	// Cluster returns the Kubernetes cluster. It is not called where no stock pools are
	// declared, and else several times: it must return the same. Nil where there is none.
	Cluster func(ctx context.Context) (Cluster, error)
	Keeper  record.Keeper
	Teller  outcome.Teller
	// Clock is this machine's.
	Clock func() time.Time
	// PollInterval is the pause between two observations of pods that are to be ready.
	// Zero means two seconds.
	PollInterval time.Duration
}

func (p *Ports) records() record.Life[stockpool.Declaration] { return record.StockPools(p.Keeper) }

func (p *Ports) pollInterval() time.Duration { return cmp.Or(p.PollInterval, 2*time.Second) }

// Flow carries declarations of stock pools out.
type Flow struct{ *journals }

// New is the flow over these ports.
func New(p Ports) *Flow { return &Flow{&journals{Ports: p}} }

// connection is what operations on the cluster at hand need.
type connection struct {
	*journals
	cluster Cluster
}

// whose is what needs a cluster, in errors.
const whose = "stock pools"

// connect reaches the cluster at hand, and returns its identity.
func (f *Flow) connect(ctx context.Context) (connection, string, error) {
	c, uid, err := record.Reach(ctx, f.Cluster, whose)
	return connection{f.journals, c}, uid, err
}

// connectOwn reaches the cluster at hand, if it is the pool's.
func (f *Flow) connectOwn(ctx context.Context, d stockpool.Declaration) (connection, error) {
	c, err := record.ReachOwn(ctx, f.Cluster, whose, d.Object(), d.ClusterUID)
	return connection{f.journals, c}, err
}

// now is the time by the cluster's clock, as far as that was heard, in seconds: its own
// objects show no finer moments.
func (c connection) now() time.Time {
	at := c.cluster.Now()
	if at.IsZero() {
		at = c.Clock()
	}
	return at.UTC().Truncate(time.Second)
}
