package reconcile

import (
	"context"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
)

// World is one account, one cluster and one store, and how a process acts on them.
type World struct {
	// Cloud may be a spotpools.LazyCloud: it is called only if spot pools are declared.
	Cloud spotpools.Cloud
	// Cluster returns the Kubernetes cluster. It is called only if budgets, pools with
	// nodes or stock pools are declared, and then several times: it must return the same
	// each time. Nil without a cluster.
	Cluster func(ctx context.Context) (Cluster, error)
	// Store may be nil if only the usage of a selector is asked for.
	Store store.Store
	// Sender sends the messages of notifications. Nil sends nothing.
	Sender notifications.Sender
	// Actor is who writes, for records and lock holders: "terraform", "reconcile".
	Actor string
	// LockTimeout bounds the wait for the lock of a declaration; zero does not wait.
	LockTimeout time.Duration
	// PollInterval is the first pause between two observations of settling instances;
	// later ones grow to ten times of it. Zero means spotpools.DefaultPollInterval.
	PollInterval time.Duration
	// FreezeLag is how long API servers may go on admitting pods after a freeze: nothing
	// is evicted before. Zero means budget.FreezeLag.
	FreezeLag time.Duration
	// Clock is this machine's; nil is time.Now.
	Clock func() time.Time
	Log   *slog.Logger
	// Progress hears of each step; it may be nil.
	Progress func(outcome.Event)
}

// Dry returns the world for a dry run. Tencent Cloud and the cluster answer changes with
// outcome.ErrPlanned, and writes go to a draft of the store.
func (w World) Dry() World {
	if w.Cloud != nil {
		w.Cloud = dryCloud{CloudReader: w.Cloud}
	}
	w.Cluster = connectAs(w.Cluster, func(c Cluster) Cluster { return dryCluster{ClusterReader: c} })
	w.Store = draft.Over(w.Store)
	return w
}

// SpotPools returns a flow of spot pools.
func (w World) SpotPools() *spotpools.Flow {
	return spotpools.New(spotpools.Ports{
		Cloud: w.Cloud, Cluster: connectAs(w.Cluster, func(c Cluster) spotpools.Cluster { return c }), Repository: w.repository(), Reporter: w.reporter(),
		Clock: w.clock(), PollInterval: w.PollInterval,
	})
}

// Budgets returns a flow of budgets.
func (w World) Budgets() *budgets.Flow {
	return &budgets.Flow{
		Cluster: connectAs(w.Cluster, func(c Cluster) budgets.Cluster { return c }), Repository: w.repository(), Reporter: w.reporter(),
		Clock: w.clock(), FreezeLag: w.FreezeLag,
	}
}

// StockPools returns a flow of stock pools.
func (w World) StockPools() *stockpools.Flow {
	return stockpools.New(stockpools.Ports{
		Cluster: connectAs(w.Cluster, func(c Cluster) stockpools.Cluster { return c }), Repository: w.repository(), Reporter: w.reporter(),
		Clock: w.clock(), PollInterval: w.PollInterval,
	})
}

// Notifications returns a flow of notifications.
func (w World) Notifications() *notifications.Flow {
	return &notifications.Flow{Repository: w.repository(), Sender: w.Sender, Clock: w.clock()}
}

func (w World) rememberedStore(ctx context.Context) record.RememberedStore {
	here := record.RememberedStore{Store: w.Store.Location().Absolute().String()}
	if w.Store.Location().Backend == store.Kubernetes {
		_, here.Cluster, _ = record.Reach(ctx, w.Cluster, "stores")
	}
	return here
}

func (w World) repository() record.Repository {
	return record.Repository{Store: w.Store, Actor: w.Actor, LockTimeout: w.LockTimeout, Clock: w.clock(), Usage: &record.UsageReader{}}
}

func (w World) reporter() outcome.Reporter { return outcome.Reporter{Log: w.Log, Progress: w.Progress} }

func (w World) clock() func() time.Time {
	if w.Clock == nil {
		return time.Now
	}
	return w.Clock
}

// Now returns the time by the clock.
func (w World) Now() time.Time { return w.clock()() }
