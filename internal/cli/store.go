package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

// storeOptions say where the store is, and in which cluster if it is in one.
type storeOptions struct {
	location string
	kube     kubeOptions
	actor    string // what the command calls itself in records and locks
}

func (o *storeOptions) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.location, "store", "", "where declarations are kept: `directory:DIR` or kubernetes:NAMESPACE (GPUPOOL_STORE, else directory:.gpupool)")
	_ = cmd.RegisterFlagCompletionFunc("store", cobra.FixedCompletions([]string{"directory:", "kubernetes:"}, cobra.ShellCompDirectiveNoSpace))
	o.kube.register(cmd)
	o.actor = "gpupool " + cmd.Name()
}

// locate says where the store is, without opening it.
func (o *storeOptions) locate(s *session) (store.Location, error) {
	location, err := store.Resolve(o.location, s.Getenv)
	if err != nil && o.location != "" {
		return store.Location{}, &usageError{err}
	}
	return location, err
}

// open opens the store. Only a command that declares may create it.
func (o *storeOptions) open(ctx context.Context, s *session, create bool) (store.Store, error) {
	location, err := o.locate(s)
	if err != nil {
		return nil, err
	}
	if warning := location.Warning(s.Getenv); warning != "" {
		s.warn(warning)
	}
	return open.Store(ctx, location, o.options(s, create))
}

func (o *storeOptions) options(s *session, create bool) open.Options {
	return open.Options{
		Create: create, Command: o.actor,
		Kubernetes: func() (*kube.Client, error) { return o.kube.client(s) },
	}
}
