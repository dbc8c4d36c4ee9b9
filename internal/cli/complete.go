package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

// completionTimeout is how long a shell waits for names that are in a cluster.
const completionTimeout = 3 * time.Second

// completePools completes the names of the pools in the store. It asks the
// store alone: a shell waits for the answer.
func (o *storeOptions) completePools(ctx context.Context, s *session) ([]string, cobra.ShellCompDirective) {
	const nothingElse = cobra.ShellCompDirectiveNoFileComp
	location, err := store.Resolve(o.location, s.Getenv)
	if err != nil {
		return nil, nothingElse
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	place, err := open.Store(ctx, location, o.options(s, false, "gpupool completion"))
	if err != nil {
		return nil, nothingElse
	}
	documents, err := place.List(ctx, store.SpotPools)
	if err != nil {
		return nil, nothingElse
	}
	names := make([]string, len(documents))
	for n, d := range documents {
		names[n] = d.Key.Name
	}
	return names, nothingElse
}
