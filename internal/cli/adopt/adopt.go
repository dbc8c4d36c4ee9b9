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

const adoptExamples = `  # Whether it would work
  gpupool adopt ap-singapore/train ins-a1b2c3d4 ins-e5f6a7b8 --dry-run

  # The instance is the pool's from now on
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
		Short: "Take existing instances into a pool",
		Long: `Take instances that run already into a pool, all of them or none: they get the
pool's tags, count from then on, and end with the pool. POOL is REGION/NAME, or
NAME with --region.

Refused are instances that would pass the pool's maximum, are paid for in another
way, are in another VPC, don't run, or are tagged as another pool's, and all of them
while its exceeded budget drains the pool. What they were launched with is unknown, so
a refresh leaves them alone until the pool's configuration next changes.`,
		Example: adoptExamples,
		Args:    poolAndInstances,
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.SpotPools),
	}
	o.store.Register(cmd, s)
	o.cloud.RegisterRegion(cmd, "`REGION` of a POOL that names none (TENCENTCLOUD_REGION)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "check, and change nothing")
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

// poolAndInstances says which of the arguments is missing.
func poolAndInstances(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("the pool and the instances are missing: gpupool adopt POOL INSTANCE..., such as gpupool adopt ap-singapore/train ins-a1b2c3d4")
	case 1:
		return fmt.Errorf("the instances that %[1]s is to take in are missing: gpupool adopt %[1]s INSTANCE..., such as gpupool adopt %[1]s ins-a1b2c3d4",
			args[0])
	}
	return nil
}

// report is the JSON of adopt: the instances that a pool adopted.
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
	region, name, found := strings.Cut(args[0], "/")
	if !found {
		region, name = o.cloud.Region, args[0]
	}
	switch {
	case found && o.cloud.Region != "" && o.cloud.Region != region:
		return process.Usagef("POOL is in %s, and --region says %s", region, o.cloud.Region)
	case name == "" || found && region == "" || strings.Contains(name, "/"):
		return process.Usagef("POOL must be REGION/NAME, such as ap-singapore/train, not %q", args[0])
	}
	for _, id := range args[1:] {
		if !strings.HasPrefix(id, "ins-") {
			return process.Usagef("%q is no instance: its id begins with ins-", id)
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
		return fmt.Sprintf("%s into %s/%s: %s\n", verb, region, name, strings.Join(args[1:], ", "))
	})
}
