package cli

import (
	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

// storeOptions say where the store is.
type storeOptions struct{ location string }

func (o *storeOptions) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.location, "store", "", "where declarations are kept: `directory:DIR` or kubernetes:NAMESPACE (GPUPOOL_STORE, else directory:.gpupool)")
	_ = cmd.RegisterFlagCompletionFunc("store", cobra.FixedCompletions([]string{"directory:", "kubernetes:"}, cobra.ShellCompDirectiveNoSpace))
}

// open opens the store. Only a command that declares may create it.
func (o *storeOptions) open(s *session, create bool) (store.Store, error) {
	location, err := store.Resolve(o.location, s.Getenv)
	if err != nil && o.location != "" {
		return nil, &usageError{err}
	}
	if err != nil {
		return nil, err
	}
	if warning := location.Warning(s.Getenv); warning != "" {
		s.warn(warning)
	}
	return open.Store(location, open.Options{Create: create, Command: actor})
}

// actor is what gpupool calls itself in records and locks.
const actor = "gpupool reconcile"
