package stockpools

import (
	"cmp"
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// Flow carries declarations of stock pools out, for one cluster and one store.
type Flow struct {
	// Cluster returns the Kubernetes cluster. It is not called where no stock pools are
	// declared, and else several times: it must return the same. Nil where there is none.
	Cluster func(ctx context.Context) (Cluster, error)
	Keeper  record.Keeper
	Teller  outcome.Teller
	// Clock is this machine's.
	Clock func() time.Time
	// PollInterval is the pause between two looks at pods that are to be ready. Zero means
	// two seconds.
	PollInterval time.Duration

	outbox record.Outbox
}

// records is the life of the store's stock pools.
func (f *Flow) records() record.Life[stockpool.Declaration] { return record.StockPools(f.Keeper) }

func (f *Flow) now() time.Time { return f.Clock() }

// Outbox is what is to be told of stock pools.
func (f *Flow) Outbox() *record.Outbox { return &f.outbox }

// tell tells the history what an operation did, and returns how many events it could not
// be told of.
func (f *Flow) tell(ctx context.Context) (untold int) {
	return f.Keeper.TellAfter(ctx, &f.outbox, f.Clock, f.Teller.HistoryLacks).Untold
}

// whose is what needs a cluster, in errors.
const whose = "stock pools"

// cluster returns the cluster at hand, with its identity.
func (f *Flow) cluster(ctx context.Context) (Cluster, string, error) {
	return record.Reach(ctx, f.Cluster, whose)
}

// clusterOf returns the cluster at hand, if it is the pool's.
func (f *Flow) clusterOf(ctx context.Context, d stockpool.Declaration) (Cluster, error) {
	return record.ReachOwn(ctx, f.Cluster, whose, d.Object(), d.ClusterUID)
}

// clusterNow is the time by the cluster's clock, as far as that was heard, in seconds:
// its own objects tell no finer moments.
func (f *Flow) clusterNow(c Cluster) time.Time {
	at := c.Now()
	if at.IsZero() {
		at = f.now()
	}
	return at.UTC().Truncate(time.Second)
}

func (f *Flow) pollInterval() time.Duration { return cmp.Or(f.PollInterval, 2*time.Second) }

// told is a pool's status with which spot pool could grow, where its pods wait.
func (f *Flow) told(ctx context.Context, d stockpool.Declaration, s decide.Status) decide.Status {
	if s.Waiting == 0 {
		return s
	}
	list, err := f.Keeper.Rooms(ctx)
	return s.WithRooms(d, list, err)
}
