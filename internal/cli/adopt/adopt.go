// Package adopt is the command gpupool adopt.
package adopt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const adoptExamples = `  # Check whether it is possible
  gpupool adopt ap-singapore/train ins-a1b2c3d4 ins-e5f6a7b8 --dry-run

  # Add an instance to the pool
  gpupool adopt ap-singapore/train ins-a1b2c3d4
  gpupool adopt train ins-a1b2c3d4 --region ap-singapore`

type options struct {
	session *process.Session
	cloud   connect.CloudFlags
	store   connect.StoreFlags
	dryRun  bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:   "adopt POOL INSTANCE...",
		Short: "Add existing instances to a pool",
		Long: `Add running instances to a pool, all of them or none. They get the tags of the pool,
count toward its capacity, and are terminated with it. POOL is REGION/NAME, or NAME
with --region.

These are refused:
  - more instances than the maximum of the pool allows
  - instances with another charge type, in another VPC, or not running
  - instances with the tags of another pool
  - all instances while an exceeded budget drains the pool

Their launch configuration is unknown. A refresh therefore skips them until the
configuration of the pool changes.`,
		Example: adoptExamples,
		Args:    poolAndInstances,
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.SpotPools),
	}
	o.store.Register(cmd, s)
	o.cloud.RegisterRegion(cmd, "`REGION` of the pool, if POOL has none (TENCENTCLOUD_REGION).")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "Check, and change nothing.")
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

// poolAndInstances requires a pool and instances.
func poolAndInstances(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("POOL and INSTANCE are missing: gpupool adopt ap-singapore/train ins-a1b2c3d4")
	case 1:
		return fmt.Errorf("INSTANCE is missing: gpupool adopt %s ins-a1b2c3d4", args[0])
	}
	return nil
}

// report is the JSON of adopt. It contains the instances that a pool adopted.
type report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// Whether it was a dry run.
	DryRun bool `json:"dry_run"`
	// The pool, such as `spot_pool/ap-singapore/train`.
	Object string `json:"object"`
	// The adopted instances.
	InstanceIDs []string `json:"instance_ids"`
}

func (o *options) run(ctx context.Context, args []string) error {
	region, name, found := strings.Cut(strings.TrimPrefix(args[0], "spot_pool/"), "/")
	if !found {
		region, name = o.cloud.Region, strings.TrimPrefix(args[0], "spot_pool/")
	}
	switch {
	case found && o.cloud.Region != "" && o.cloud.Region != region:
		return process.Usagef("POOL is in %s, but --region is %s", region, o.cloud.Region)
	case name == "" || found && region == "" || strings.Contains(name, "/"):
		return process.Usagef("invalid POOL %q: use REGION/NAME, such as ap-singapore/train", args[0])
	}
	for _, id := range args[1:] {
		if !strings.HasPrefix(id, "ins-") {
			return process.Usagef("invalid instance ID %q: it must start with ins-", id)
		}
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	client, err := o.cloud.Client(ctx)
	if err != nil {
		return err
	}
	if region == "" {
		region = client.Region()
	}
	w := o.store.World(place, client, nil)
	w.LockTimeout = time.Minute
	if err := w.SpotPools().Adopt(ctx, region, name, args[1:], o.dryRun); err != nil {
		return err
	}
	adopted := report{SchemaVersion: 1, DryRun: o.dryRun, Object: "spot_pool/" + region + "/" + name, InstanceIDs: args[1:]}
	return o.session.Print(adopted, func(terminal.Style) string {
		verb := "adopted"
		if o.dryRun {
			verb = "would adopt"
		}
		return fmt.Sprintf("%s into %s: %s\n", verb, adopted.Object, strings.Join(args[1:], ", "))
	})
}
