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

// complete completes the names of what is declared in the store. It asks the
// store alone: a shell waits for the answer.
func (o *storeOptions) complete(ctx context.Context, s *session, kinds ...store.Kind) ([]string, cobra.ShellCompDirective) {
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
