// Package connect opens the store, the Kubernetes cluster and the Tencent Cloud account that
// flags and environment variables select.
package connect

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

// storeFlags is the title of the flags of a store and its cluster in help.
const storeFlags = "Store and cluster flags"

// StoreFlags select the store and its cluster.
type StoreFlags struct {
	session  *process.Session
	location string
	cluster  ClusterFlags
	actor    string // the name of the command in records and locks
}

// Register gives a command the flags.
func (o *StoreFlags) Register(cmd *cobra.Command, s *process.Session) {
	o.session = s
	f := pflag.NewFlagSet("store", pflag.ContinueOnError)
	f.StringVar(&o.location, "store", "", "`STORE` of the declarations: directory:DIR or kubernetes:NAMESPACE (GPUPOOL_STORE, or directory:.gpupool).")
	process.AddFlags(cmd, storeFlags, f)
	_ = cmd.RegisterFlagCompletionFunc("store", cobra.FixedCompletions([]string{"directory:", "kubernetes:"}, cobra.ShellCompDirectiveNoSpace))
	o.cluster.Register(cmd, s)
	o.actor = "gpupool " + cmd.Name()
}

// RegisterCluster gives a command with stores as arguments the other flags.
func (o *StoreFlags) RegisterCluster(cmd *cobra.Command, s *process.Session) {
	o.session = s
	o.cluster.Register(cmd, s)
	o.actor = "gpupool " + cmd.Name()
}

// Movable opens a store as the source or target of a move.
func (o *StoreFlags) Movable(ctx context.Context, at store.Location, create bool) (store.Movable, error) {
	return open.Movable(ctx, at, o.options(create))
}

// RemainsAt opens a location, whether it is a store or not.
func (o *StoreFlags) RemainsAt(at store.Location) (store.Remains, error) {
	return open.Remains(at, o.options(false))
}

// Locate returns the location of the store, without opening it.
func (o *StoreFlags) Locate() (store.Location, error) {
	location, err := store.Resolve(o.location, o.session.Getenv)
	if err != nil && o.location != "" {
		return store.Location{}, process.WrongUsage(err)
	}
	return location, err
}

// Open opens the store, and creates it if create is true.
func (o *StoreFlags) Open(ctx context.Context, create bool) (store.Store, error) {
	location, err := o.Locate()
	if err != nil {
		return nil, err
	}
	if location.InJob(o.session.Getenv) {
		o.session.Warn(reason.StoreInJob(reason.Word(location.String()), store.EnvironmentVariable).String())
	}
	return open.Store(ctx, location, o.options(create))
}

// Remains opens the location of a store that may have lost its description.
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

// completionTimeout is the longest time that a shell waits for names.
const completionTimeout = 3 * time.Second

// CompleteNames completes the first argument, or each one, with declared names.
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

// names are the declared names. It reads only the store, since a shell waits.
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

// Declared are the declared objects of a store, such as "spot_pool/REGION/NAME".
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

// Ledgers are the documents of ledgers by cluster and name, for ledger.Load.
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
	return reconcile.World{Cloud: cloud, Cluster: cluster, Store: place, Sender: notify.Sender{}, Actor: o.actor, Clock: o.session.Now,
		Log: o.session.Logger()}
}
