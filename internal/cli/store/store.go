// Package store is the command gpupool store, which repairs and moves the store itself.
package store

import (
	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

// New is the command.
func New(s *process.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look after the store itself",
		Example: `  # Make a directory or a namespace a store again that has the documents of one
  gpupool store repair --store directory:/srv/gpupool

  # Move a store into a cluster
  gpupool store move directory:/srv/gpupool kubernetes:gpupool-system`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMove(s), newRepair(s))
	return cmd
}
