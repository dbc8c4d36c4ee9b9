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

const grantHelp = `Add GPU-hours to a budget for a while, without a change of what is declared. From the
next run on its limit is the declared one and all that is granted: a spot pool's
launches and an enforcement go by that. Several grants add up. A grant ends by itself,
or early by gpupool release; the limit is lowered then, and the grace period begins
anew.

Who granted how much until when, and why, is told by status, usage, plans and the
history. Terraform sees no difference.`

const grantExamples = `  # A release has to be trained to its end tonight
  gpupool grant team-a 50 --for 4h --reason "release 3.1, agreed with the owner"

  # It is done early
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
		Use:     "grant BUDGET GPU-HOURS --for DURATION --reason TEXT",
		Short:   "Add GPU-hours to a budget for a while",
		Long:    grantHelp,
		Example: grantExamples,
		Args:    cobra.ExactArgs(2),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.Budgets),
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		for _, arg := range s.Args {
			if hours, negative := strings.CutPrefix(arg, "-"); negative && hours != "" && strings.Trim(hours, "0123456789.") == "" {
				return fmt.Errorf("%q is no number of GPU-hours to grant: it must be above zero", arg)
			}
		}
		return err
	})
	o.store.Register(cmd, s)
	o.person.Register(cmd, &o.store, true)
	s.OutputFlag(cmd)
	return cmd
}

// report is the JSON of grant: additional GPU-hours for a budget.
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
	ask, err := o.person.Request(ctx, place)
	if err != nil {
		return err
	}
	granted, err := o.store.StoreWorld(place).Budgets().Grant(ctx, name, args[1], ask)
	if err != nil {
		return err
	}
	grant := granted.Grants[0]
	r := report{
		SchemaVersion: 1, Budget: granted.Declaration.Name, DeclaredGPUHours: granted.Declaration.GPUHours,
		LimitGPUHours: budget.Hours(granted.Limit), Grant: grant,
	}
	return o.session.Print(r, func(terminal.Style) string {
		return fmt.Sprintf("granted %s GPU-hours to the budget %s until %s\nfrom the next run on its limit is %s GPU-hours, %s of them declared\ngpupool "+
			"release budget/%s ends it early\n",
			grant.GPUHours, r.Budget, o.session.Clock().At(grant.Until), r.LimitGPUHours, r.DeclaredGPUHours, r.Budget)
	})
}
