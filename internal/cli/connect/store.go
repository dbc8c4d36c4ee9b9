// Package connect opens what commands work on, as flags and environment name it:
// the store, the cluster, the cloud, and the engine on top of them.
package connect

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

// StoreFlags say where the store is, and in which cluster if it is in one.
type StoreFlags struct {
	location string
	Kube     ClusterFlags
	actor    string // what the command calls itself in records and locks
}

func (o *StoreFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.location, "store", "", "where declarations are kept: `directory:DIR` or kubernetes:NAMESPACE (GPUPOOL_STORE, else directory:.gpupool)")
	_ = cmd.RegisterFlagCompletionFunc("store", cobra.FixedCompletions([]string{"directory:", "kubernetes:"}, cobra.ShellCompDirectiveNoSpace))
	o.Kube.register(cmd)
	o.actor = "gpupool " + cmd.Name()
}

// Locate says where the store is, without opening it.
func (o *StoreFlags) Locate(s *process.Session) (store.Location, error) {
	location, err := store.Resolve(o.location, s.Getenv)
	if err != nil && o.location != "" {
		return store.Location{}, process.WrongUsage(err)
	}
	return location, err
}

// Open opens the store. Only a command that declares may create it.
func (o *StoreFlags) Open(ctx context.Context, s *process.Session, create bool) (store.Store, error) {
	location, err := o.Locate(s)
	if err != nil {
		return nil, err
	}
	if warning := location.Warning(s.Getenv); warning != "" {
		s.Warn(warning)
	}
	return open.Store(ctx, location, o.options(s, create))
}

func (o *StoreFlags) options(s *process.Session, create bool) open.Options {
	return open.Options{
		Create: create, Command: o.actor,
		Kubernetes: func() (*kube.Client, error) { return o.Kube.client(s) },
	}
}

// completionTimeout is how long a shell waits for names that are in a cluster.
const completionTimeout = 3 * time.Second

// CompleteNames completes the names of what is declared in the store. It asks the
// store alone: a shell waits for the answer.
func (o *StoreFlags) CompleteNames(ctx context.Context, s *process.Session, kinds ...store.Kind) ([]string, cobra.ShellCompDirective) {
	const nothingElse = cobra.ShellCompDirectiveNoFileComp
	location, err := store.Resolve(o.location, s.Getenv)
	if err != nil {
		return nil, nothingElse
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	place, err := open.Store(ctx, location, o.options(s, false))
	if err != nil {
		return nil, nothingElse
	}
	var names []string
	for _, kind := range kinds {
		documents, err := place.List(ctx, kind)
		if err != nil {
			return nil, nothingElse
		}
		for _, d := range documents {
			names = append(names, d.Key.Name)
		}
	}
	return names, nothingElse
}

// Engine is the core as a command runs it. What a command has no need of, a store,
// a cloud or a cluster, is nil.
func (o *StoreFlags) Engine(s *process.Session, place store.Store, cloud reconcile.Cloud, cluster func(context.Context) (reconcile.Cluster, error)) *reconcile.Engine {
	return &reconcile.Engine{Cloud: cloud, Cluster: cluster, Store: place, Actor: o.actor, Log: s.Log.Logger(s.Process)}
}
