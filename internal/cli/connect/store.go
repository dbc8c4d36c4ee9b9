// Package connect opens what commands work on, as flags and environment say: the
// store, the cluster, the cloud, and the world that has them.
package connect

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

// StoreFlags say where the store is, and in which cluster a store in a namespace is.
type StoreFlags struct {
	session  *process.Session
	location string
	cluster  ClusterFlags
	actor    string // what the command calls itself in records and locks
}

// Register gives a command the flags.
func (o *StoreFlags) Register(cmd *cobra.Command, s *process.Session) {
	o.session = s
	cmd.Flags().StringVar(&o.location, "store", "", "where declarations are kept: `directory:DIR` or kubernetes:NAMESPACE (GPUPOOL_STORE, else "+
		"directory:.gpupool)")
	_ = cmd.RegisterFlagCompletionFunc("store", cobra.FixedCompletions([]string{"directory:", "kubernetes:"}, cobra.ShellCompDirectiveNoSpace))
	o.cluster.Register(cmd, s)
	o.actor = "gpupool " + cmd.Name()
}

// RegisterCluster gives a command that names its stores by itself the other flags.
func (o *StoreFlags) RegisterCluster(cmd *cobra.Command, s *process.Session) {
	o.session = s
	o.cluster.Register(cmd, s)
	o.actor = "gpupool " + cmd.Name()
}

// Movable opens a store to move it, or to move one there.
func (o *StoreFlags) Movable(ctx context.Context, at store.Location, create bool) (store.Movable, error) {
	return open.Movable(ctx, at, o.options(create))
}

// RemainsAt opens a place, whether it is a store or not.
func (o *StoreFlags) RemainsAt(at store.Location) (store.Remains, error) {
	return open.Remains(at, o.options(false))
}

// Locate says where the store is, without opening it.
func (o *StoreFlags) Locate() (store.Location, error) {
	location, err := store.Resolve(o.location, o.session.Getenv)
	if err != nil && o.location != "" {
		return store.Location{}, process.WrongUsage(err)
	}
	return location, err
}

// Open opens the store. Only a command that declares may create it.
func (o *StoreFlags) Open(ctx context.Context, create bool) (store.Store, error) {
	location, err := o.Locate()
	if err != nil {
		return nil, err
	}
	if warning := location.Warning(o.session.Getenv); warning != "" {
		o.session.Warn(warning)
	}
	return open.Store(ctx, location, o.options(create))
}

// Remains opens the place of a store that lost its description.
func (o *StoreFlags) Remains() (store.Remains, error) {
	location, err := o.Locate()
	if err != nil {
		return nil, err
	}
	return open.Remains(location, o.options(false))
}

func (o *StoreFlags) options(create bool) open.Options {
	return open.Options{Create: create, Command: o.actor, Kubernetes: o.cluster.client}
}

// completionTimeout is how long a shell waits for names from a cluster.
const completionTimeout = 3 * time.Second

// CompleteNames completes arguments with the names of what the store declares: the
// first argument alone, or each.
func (o *StoreFlags) CompleteNames(firstAlone bool, kinds ...store.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if firstAlone && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, err := o.names(cmd.Context(), kinds)
		if err != nil { // a shell can't show the error
			names = nil
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// names are the names of what the store declares. It asks only the store, since a
// shell waits for the answer.
func (o *StoreFlags) names(ctx context.Context, kinds []store.Kind) ([]string, error) {
	location, err := o.Locate()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	place, err := open.Store(ctx, location, o.options(false))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, kind := range kinds {
		documents, err := place.List(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			names = append(names, d.Key.Name)
		}
	}
	return names, nil
}

// Declared is all that a store declares, such as "spot_pool/REGION/NAME".
func Declared(ctx context.Context, place store.Store) (objects []string, err error) {
	for _, of := range []struct {
		kind   store.Kind
		prefix string
	}{{store.SpotPools, "spot_pool/"}, {store.StockPools, "stock_pool/"}, {store.Budgets, "budget/"}} {
		documents, err := place.List(ctx, of.kind)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			objects = append(objects, of.prefix+d.Key.Name)
		}
	}
	return objects, nil
}

// Ledgers are the documents of ledgers by cluster and name, as ledger.Load takes them.
func Ledgers(documents []store.Document) map[string]map[string][]byte {
	clusters := map[string]map[string][]byte{}
	for _, d := range documents {
		uid, name, _ := strings.Cut(d.Key.Name, "/")
		if clusters[uid] == nil {
			clusters[uid] = map[string][]byte{}
		}
		clusters[uid][name] = d.Data
	}
	return clusters
}

// World has the command's store, cloud and cluster, each nil if the command does not need
// it.
func (o *StoreFlags) World(place store.Store, cloud spotpools.Cloud, cluster func(context.Context) (reconcile.Cluster, error)) reconcile.World {
	return reconcile.World{Cloud: cloud, Cluster: cluster, Store: place, Actor: o.actor, Clock: o.session.Now, Log: o.session.Logger()}
}
