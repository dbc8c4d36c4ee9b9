// Package connection is the access of resources and data sources to one account, one cluster
// and one store. Each is opened when it is first needed. The package converts their errors to
// diagnostics.
package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// untilContextEnds lets an operation wait for a lock for as long as its context
// lasts.
const untilContextEnds = time.Duration(math.MaxInt64 / 4)

// Settings are the arguments and the environment: which account, cluster and store.
type Settings struct {
	Cloud      tencent.Config
	Kubernetes kubeclient.Config
	// Kubeconfig is the environment's KUBECONFIG, which is only named in errors.
	Kubeconfig string
	Store      store.Location
	// PollInterval is the first pause between two observations of settling instances; zero
	// means reconcile's default.
	PollInterval time.Duration
	// Agent is the provider's name in the cluster's audit log.
	Agent string
	// Unknown lists the unknown provider arguments. What depends on them cannot be opened.
	Unknown UnknownArguments
}

// Connection reaches the account, the cluster and the store. It is safe for
// concurrent use. Each is opened when it is first needed, so that budgets need no
// account, pools need no cluster, and a configuration without either needs nothing.
type Connection struct {
	clients
	core once[flows]
}

// New prepares a connection and opens nothing.
func New(s Settings) *Connection { return &Connection{clients: clients{settings: s}} }

// Of takes the connection out of what the framework passes to a resource or data
// source. It returns nil before the provider is configured.
func Of(data any, diags *diag.Diagnostics) *Connection {
	if data == nil {
		return nil
	}
	c, ok := data.(*Connection)
	if !ok {
		diags.Append(problem.Error(path.Empty(), reason.ProviderData(reason.Word(fmt.Sprintf("%T", c)), reason.Word(fmt.Sprintf("%T", data)))))
	}
	return c
}

// ErrNotReady reports that a plan cannot observe anything, since provider arguments are
// unknown.
var ErrNotReady = errors.New("the provider's configuration is not known yet")

// Ready reports whether pools can be looked at: the account's and the store's
// arguments are known.
func (c *Connection) Ready() bool {
	return c != nil && len(c.settings.Unknown.Cloud()) == 0 && c.StoreReady()
}

// ClusterReady reports whether budgets can be looked at: the cluster's and the
// store's arguments are known.
func (c *Connection) ClusterReady() bool {
	return c.StoreReady() && len(c.settings.Unknown.Cluster()) == 0
}

// StoreReady reports whether the store can be read.
func (c *Connection) StoreReady() bool { return c != nil && len(c.unknownForStore()) == 0 }

func (c *Connection) unknownForStore() UnknownArguments {
	u := c.settings.Unknown
	if slices.Contains(u, StoreArgument) {
		return UnknownArguments{StoreArgument}
	}
	if c.settings.Store.Backend == store.Kubernetes {
		return u.Cluster()
	}
	return nil
}

// flows are those of each kind, over one world, and the world's store.
type flows struct {
	spotPools     *spotpools.Flow
	budgets       *budgets.Flow
	stockPools    *stockpools.Flow
	notifications *notifications.Flow
	place         *open.Deferred
}

// SpotPools returns the flow for an apply. It opens the store for writing, and creates it if
// needed. The flow connects to the account and the cluster when it first needs them.
func (c *Connection) SpotPools(ctx context.Context) (*spotpools.Flow, error) {
	f, err := c.writing(ctx)
	return f.spotPools, err
}

// Budgets returns the flow for an apply.
func (c *Connection) Budgets(ctx context.Context) (*budgets.Flow, error) {
	f, err := c.writing(ctx)
	return f.budgets, err
}

// StockPools returns the flow for an apply.
func (c *Connection) StockPools(ctx context.Context) (*stockpools.Flow, error) {
	f, err := c.writing(ctx)
	return f.stockPools, err
}

// Notifications returns the flow for an apply. It needs neither an account nor a cluster.
func (c *Connection) Notifications(ctx context.Context) (*notifications.Flow, error) {
	f, err := c.writing(ctx)
	return f.notifications, err
}

func (c *Connection) writing(ctx context.Context) (flows, error) {
	f, err := c.prepared(ctx)
	if err != nil {
		return flows{}, err
	}
	if err := f.place.Create(ctx); err != nil {
		return flows{}, unusable{err}
	}
	return f, nil
}

// prepared assembles the flows, once, and opens nothing.
func (c *Connection) prepared(ctx context.Context) (flows, error) {
	if err := c.unknownForStore().error(); err != nil {
		return flows{}, err
	}
	return c.core.do(ctx, func() (flows, error) {
		log := c.logger(ctx)
		place := open.Defer(c.settings.Store, open.Options{
			Command: "terraform", Kubernetes: func() (*kubeclient.Client, error) { return c.kubernetes(ctx) },
		})
		w := reconcile.World{
			Cloud:   spotpools.LazyCloud(func(ctx context.Context) (spotpools.Cloud, error) { return c.cloud(ctx) }),
			Cluster: func(ctx context.Context) (reconcile.Cluster, error) { return c.clusterOf(ctx) },
			Store:   place, Actor: "terraform", LockTimeout: untilContextEnds,
			PollInterval: c.settings.PollInterval, Log: log,
			Progress: func(e outcome.Event) { log.Info(e.Message, slog.String("object", e.Object)) },
		}
		return flows{spotPools: w.SpotPools(), budgets: w.Budgets(), stockPools: w.StockPools(), notifications: w.Notifications(), place: place}, nil
	})
}

// once remembers the result of the first call, unless the caller's context ended: its
// cancellation must not fail the others.
type once[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
	err   error
}

func (o *once[T]) do(ctx context.Context, f func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return o.value, o.err
	}
	value, err := f()
	if err == nil || ctx.Err() == nil {
		o.value, o.err, o.done = value, err, true
	}
	return value, err
}
