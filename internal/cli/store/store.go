// Package store is the command gpupool store, which mends the store itself.
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
  gpupool store repair --store directory:/srv/gpupool`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRepair(s))
	return cmd
}
