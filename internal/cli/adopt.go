package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const adoptExamples = `  # Whether it would work
  gpupool adopt ap-singapore/train ins-a1b2c3d4 ins-e5f6a7b8 --dry-run

  # The instance is the pool's from now on
  gpupool adopt ap-singapore/train ins-a1b2c3d4
  gpupool adopt train ins-a1b2c3d4 --region ap-singapore`

type adoptOptions struct {
	session *session
	cloud   cloudOptions
	store   storeOptions
	output  string
	dryRun  bool
}

func newAdopt(s *session) *cobra.Command {
	o := &adoptOptions{session: s}
	cmd := &cobra.Command{
		Use:   "adopt POOL INSTANCE...",
		Short: "Take existing instances into a pool",
		Long: `Take instances that run already into a pool, all of them or none: they get the
pool's tags, count from then on, and end with the pool. POOL is REGION/NAME, or
NAME with --region.

Refused are instances that would pass the pool's maximum, are paid for in another
way, are in another VPC, don't run, or are tagged as another pool's. What they
were launched with is unknown, so a refresh leaves them alone until the pool's
configuration next changes.`,
		Example: adoptExamples,
		Args:    cobra.MinimumNArgs(2),
		RunE:    s.run(o.run),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return o.store.complete(cmd.Context(), s, store.SpotPools)
		},
	}
	o.store.register(cmd)
	o.cloud.registerRegion(cmd, "`REGION` of a POOL that names none (TENCENTCLOUD_REGION)")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "check, and change nothing")
	o.cloud.register(cmd)
	s.log.register(cmd)
	outputVar(cmd, &o.output)
	return cmd
}

// adoptReport is the JSON of adopt.
type adoptReport struct {
	SchemaVersion int      `json:"schema_version"`
	DryRun        bool     `json:"dry_run"`
	Object        string   `json:"object"`
	InstanceIDs   []string `json:"instance_ids"`
}

func (o *adoptOptions) run(ctx context.Context, args []string) error {
	region, name, found := strings.Cut(args[0], "/")
	if !found {
		region, name = o.cloud.region, args[0]
	}
	switch {
	case found && o.cloud.region != "" && o.cloud.region != region:
		return usagef("POOL is in %s, and --region says %s", region, o.cloud.region)
	case name == "" || found && region == "" || strings.Contains(name, "/"):
		return usagef("POOL must be REGION/NAME, such as ap-singapore/train, not %q", args[0])
	}
	for _, id := range args[1:] {
		if !strings.HasPrefix(id, "ins-") {
			return usagef("%q is no instance: its id begins with ins-", id)
		}
	}
	place, err := o.store.open(ctx, o.session, false)
	if err != nil {
		return err
	}
	log := o.session.log.logger(o.session.Process)
	client, err := o.cloud.client(ctx, o.session, log)
	if err != nil {
		return err
	}
	if region == "" {
		region = client.Region()
	}
	engine := &reconcile.Engine{Cloud: client, Store: place, Actor: o.store.actor, LockTimeout: time.Minute, Log: log}
	if err := engine.Adopt(ctx, region, name, args[1:], o.dryRun); err != nil {
		return err
	}
	return o.print(adoptReport{
		SchemaVersion: 1, DryRun: o.dryRun, Object: "spot_pool/" + region + "/" + name, InstanceIDs: args[1:],
	})
}

func (o *adoptOptions) print(r adoptReport) error {
	if o.output == asJSON {
		return o.session.putJSON(r, true)
	}
	verb := "adopted"
	if r.DryRun {
		verb = "would adopt"
	}
	return o.session.put(fmt.Appendf(nil, "%s into %s: %s\n", verb, poolOf(r.Object), strings.Join(r.InstanceIDs, ", ")))
}
