package budgets

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Flow carries declarations of budgets out, for one cluster and one store.
type Flow struct {
	// Cluster returns the Kubernetes cluster. It is not called where no budgets
	// are declared, and else several times: it must return the same. Nil where
	// there is none.
	Cluster func(ctx context.Context) (Cluster, error)
	Keeper  record.Keeper
	Teller  outcome.Teller
	// Clock is this machine's.
	Clock func() time.Time
	// FreezeLag is how long API servers may go on admitting pods after a freeze:
	// nobody is evicted before. Zero means budget.FreezeLag.
	FreezeLag time.Duration

	reached atomic.Pointer[Cluster] // for its count of calls
	outbox  record.Outbox
}

// records is the life of the store's budgets.
func (f *Flow) records() record.Life[budget.Declaration] { return record.Budgets(f.Keeper) }

func (f *Flow) now() time.Time { return f.Clock() }

// Outbox is what is to be told of budgets.
func (f *Flow) Outbox() *record.Outbox { return &f.outbox }

// tell tells the history what an operation did.
func (f *Flow) tell(ctx context.Context) {
	f.Keeper.TellAfter(ctx, &f.outbox, f.Clock, func(text string) { f.Teller.Logger().Warn("the history lacks what was done", "error", text) })
}

func (f *Flow) freezeLag() time.Duration {
	if f.FreezeLag <= 0 {
		return budget.FreezeLag
	}
	return f.FreezeLag
}

// Calls counts the calls made so far to the cluster, by verb and resource.
func (f *Flow) Calls() map[string]int {
	if c := f.reached.Load(); c != nil {
		return (*c).Calls()
	}
	return nil
}

// errNoCluster says that nothing names a cluster.
var errNoCluster = errors.New("budgets need a Kubernetes cluster, and none is configured")

// cluster returns the cluster at hand, with its identity.
func (f *Flow) cluster(ctx context.Context) (Cluster, string, error) {
	if f.Cluster == nil {
		return nil, "", errNoCluster
	}
	c, err := f.Cluster(ctx)
	if err != nil {
		return nil, "", err
	}
	f.reached.Store(&c)
	uid, err := c.UID(ctx)
	if err == nil && uid == "" {
		err = errors.New("the namespace kube-system has no uid: what answers is no Kubernetes cluster")
	}
	return c, uid, err
}

// clusterOf returns the cluster at hand, if it is the budget's.
func (f *Flow) clusterOf(ctx context.Context, d budget.Declaration) (Cluster, error) {
	c, uid, err := f.cluster(ctx)
	if err != nil {
		return nil, err
	}
	if uid != d.ClusterUID {
		return nil, &ClusterError{Object: d.Object(), Budget: d.ClusterUID, Cluster: uid}
	}
	return c, nil
}

// ClusterError says that a budget belongs to another cluster than the one at
// hand.
type ClusterError struct{ Object, Budget, Cluster string }

// Error says whose the budget is, and what to do.
func (e *ClusterError) Error() string {
	return fmt.Sprintf("%s belongs to the cluster whose namespace kube-system has the uid %s, and the kubeconfig in use reaches the one with %s: nothing was touched. %s", e.Object, e.Budget, e.Cluster, e.Advice())
}

// Advice is what to do.
func (e *ClusterError) Advice() string { return "Use the kubeconfig and the context of the first" }
