// Package store is the command gpupool store, which moves and repairs stores.
package store

import (
	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

// New is the command.
func New(s *process.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Move or repair a store",
		Example: `  # Repair a store that lost its description
  gpupool store repair --store directory:/srv/gpupool

  # Move a store from a directory to a cluster
  gpupool store move directory:/srv/gpupool kubernetes:gpupool-system`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMove(s), newRepair(s))
	return cmd
}
