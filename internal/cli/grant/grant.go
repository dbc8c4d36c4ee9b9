// Package grant is the command gpupool grant.
package grant

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const grantHelp = `Add GPU-hours to the limit of a budget for a limited time, without a change of the
declaration. The next run uses the new limit for launches and for enforcement.
Several grants add up.

A grant expires by itself; "gpupool release" ends it early. The limit then drops, and
the grace period starts again.

"gpupool status", "gpupool usage", plans and the history show who granted how much,
until when and why. Terraform sees no difference.`

const grantExamples = `  # 50 more GPU-hours for the next four hours
  gpupool grant team-a 50 --duration 4h \
    --reason "release 3.1, agreed with the owner"

  # Until 06:00
  gpupool grant team-a 50 --until 06:00 --reason "nightly training"

  # End all grants of the budget
  gpupool release budget/team-a`

type options struct {
	session *process.Session
	store   connect.StoreFlags
	person  connect.PersonFlags
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "grant BUDGET GPU_HOURS (--duration DURATION | --until TIME) --reason TEXT",
		Short:   "Add GPU-hours to a budget for a limited time",
		Long:    grantHelp,
		Example: grantExamples,
		Args:    process.Arguments(`gpupool grant team-a 50 --duration 4h --reason "release 3.1"`, "BUDGET", "GPU_HOURS"),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.Budgets),
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		for _, arg := range s.Args {
			if hours, negative := strings.CutPrefix(arg, "-"); negative && hours != "" && strings.Trim(hours, "0123456789.") == "" {
				return fmt.Errorf("invalid GPU-hours %q: must be above 0", arg)
			}
		}
		return err
	})
	o.store.Register(cmd, s)
	o.person.Register(cmd, &o.store, true)
	s.OutputFlag(cmd)
	return cmd
}

// report is the JSON of grant. It contains additional GPU-hours for a budget.
type report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The budget's name.
	Budget string `json:"budget"`
	// The declared limit.
	DeclaredGPUHours string `json:"declared_gpu_hours"`
	// The limit from the next run on.
	LimitGPUHours string `json:"limit_gpu_hours"`
	// The new grant.
	Grant budget.Grant `json:"grant"`
}

func (o *options) run(ctx context.Context, args []string) error {
	name := strings.TrimPrefix(args[0], "budget/")
	if _, err := budget.ParseHours(args[1]); err != nil {
		return process.WrongUsage(err)
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	budgets := o.store.StoreWorld(place).Budgets()
	declared, err := budgets.Find(ctx, name)
	if err != nil {
		return err
	}
	o.person.In(declared.TimeZone)
	ask, err := o.person.Request(ctx, place)
	if err != nil {
		return err
	}
	granted, err := budgets.Grant(ctx, name, args[1], ask)
	if err != nil {
		return err
	}
	grant := granted.Grants[0]
	r := report{
		SchemaVersion: 1, Budget: granted.Declaration.Name, DeclaredGPUHours: granted.Declaration.GPUHours,
		LimitGPUHours: budget.Hours(granted.Limit), Grant: grant,
	}
	return o.session.Print(r, func(terminal.Style) string {
		return fmt.Sprintf("granted %s to budget/%s until %s\n"+
			"limit from the next run on: %s GPU-hours (declared: %s)\n"+
			"to end it early:\n  gpupool release budget/%[2]s\n",
			grant.Hours(), r.Budget, o.session.Clock().In(declared.TimeZone).WithZone().At(grant.Until), r.LimitGPUHours, r.DeclaredGPUHours)
	})
}
