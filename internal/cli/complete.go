package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

// completePools completes the names of the pools in the store. It asks the
// store alone: a shell waits for the answer.
func (o *storeOptions) completePools(ctx context.Context, s *session) ([]string, cobra.ShellCompDirective) {
	const nothingElse = cobra.ShellCompDirectiveNoFileComp
	location, err := store.Resolve(o.location, s.Getenv)
	if err != nil {
		return nil, nothingElse
	}
	place, err := open.Store(location, open.Options{Command: "gpupool completion"})
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
