package reconcile

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
)

// Engine carries declarations out, for one account, one cluster and one store. Its
// fields are set before the first use.
type Engine struct {
	// Cloud may be a spotpools.LazyCloud: it is called only where spot pools are
	// declared.
	Cloud spotpools.Cloud
	// Cluster returns the Kubernetes cluster. It is called only where budgets, pools
	// with nodes or stock pools are declared, and then several times: it must return the same each time.
	// It is nil where there is no cluster.
	Cluster func(ctx context.Context) (Cluster, error)
	// Store may be nil where all that is asked for is the usage of a selector.
	Store store.Store
	// Actor says who writes, for records and lock holders: "terraform", "reconcile".
	Actor string
	// LockTimeout bounds the wait for the lock of a declaration; zero does not wait.
	LockTimeout time.Duration
	// PollInterval is the first pause between two looks at settling instances;
	// later ones grow to ten times of it. Zero means spotpools.DefaultPollInterval.
	PollInterval time.Duration
	// FreezeLag is how long API servers may go on admitting pods after a freeze, for
	// which nothing is evicted. Zero means budget.FreezeLag.
	FreezeLag time.Duration
	// Clock is this machine's; nil is time.Now.
	Clock func() time.Time
	Log   *slog.Logger
	// Progress is told of each step; it may be nil.
	Progress func(outcome.Event)

	// planning says that nothing is to be changed, in the cloud nor in the cluster.
	planning  bool
	reached   atomic.Pointer[Cluster] // for its count of calls
	assembled sync.Once
	pools     *spotpools.Flow
	budgets   *budgets.Flow
	stock     *stockpools.Flow
}

func (e *Engine) assemble() {
	clock := e.clock()
	keeper := record.Keeper{Store: e.Store, Actor: e.Actor, LockTimeout: e.LockTimeout, Clock: clock}
	teller := outcome.Teller{Log: e.Log, Progress: e.Progress}
	cloud := e.Cloud
	if e.planning && cloud != nil {
		cloud = spotpools.Dry(cloud)
	}
	e.pools = spotpools.New(spotpools.Ports{
		Cloud: cloud, Cluster: clusterFor(e, e.forPools), Keeper: keeper, Teller: teller, Clock: clock, PollInterval: e.PollInterval,
	})
	e.budgets = &budgets.Flow{Cluster: clusterFor(e, e.forBudgets), Keeper: keeper, Teller: teller, Clock: clock, FreezeLag: e.FreezeLag}
	e.stock = &stockpools.Flow{Cluster: clusterFor(e, e.forStock), Keeper: keeper, Teller: teller, Clock: clock, PollInterval: e.PollInterval}
}

func (e *Engine) clock() func() time.Time {
	if e.Clock == nil {
		return time.Now
	}
	return e.Clock
}

func (e *Engine) now() time.Time { return e.clock()() }

// Pools is the flow of spot pools.
func (e *Engine) Pools() *spotpools.Flow {
	e.assembled.Do(e.assemble)
	return e.pools
}

// Budgets is the flow of budgets.
func (e *Engine) Budgets() *budgets.Flow {
	e.assembled.Do(e.assemble)
	return e.budgets
}

// Stock is the flow of stock pools.
func (e *Engine) Stock() *stockpools.Flow {
	e.assembled.Do(e.assemble)
	return e.stock
}

// dry is the engine on a draft of its store, and on a cloud and a cluster that refuse
// changes.
func (e *Engine) dry() *Engine {
	return &Engine{
		Cloud: e.Cloud, Cluster: e.Cluster, Store: draft.Over(e.Store), Actor: e.Actor, LockTimeout: e.LockTimeout, planning: true,
		PollInterval: e.PollInterval, FreezeLag: e.FreezeLag, Clock: e.Clock, Log: e.Log, Progress: e.Progress,
	}
}

// Calls counts the calls made so far to the cloud, by action, and to the
// cluster, by verb and resource.
func (e *Engine) Calls() map[string]int {
	calls := map[string]int{}
	if e.Cloud != nil {
		maps.Copy(calls, e.Cloud.Calls())
	}
	maps.Copy(calls, e.clusterCalls())
	return calls
}

func callsSince(before, after map[string]int) map[string]int {
	calls := map[string]int{}
	for action, n := range after {
		if n -= before[action]; n > 0 {
			calls[action] = n
		}
	}
	return calls
}
