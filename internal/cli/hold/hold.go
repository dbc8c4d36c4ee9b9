// Package hold is the command gpupool hold.
package hold

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const holdHelp = `Pause a pool for a limited time. Runs and applies neither launch nor terminate its
instances, and a destroy is refused. Reclaimed instances are still reported, but not
replaced until the hold ends. A launch with an unknown result is retried then.

The command waits for a process that currently acts on the pool. A hold expires by
itself; "gpupool release" ends it early.

"gpupool status", plans and the history show who holds the pool, until when and why.
Terraform sees no difference.`

const holdExamples = `  # Leave the pool unchanged during an investigation
  gpupool hold ap-singapore/train --duration 2h \
    --reason "nodes hang in NVML, looking"

  # Until tomorrow morning
  gpupool hold train --until 06:00 --reason "driver upgrade tonight"

  # End it early
  gpupool release spot_pool/ap-singapore/train`

type options struct {
	session *process.Session
	store   connect.StoreFlags
	person  connect.PersonFlags
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "hold POOL (--duration DURATION | --until TIME) --reason TEXT",
		Short:   "Pause a pool for a limited time",
		Long:    holdHelp,
		Example: holdExamples,
		Args:    process.Arguments(`gpupool hold train --duration 2h --reason "driver upgrade"`, "POOL"),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.SpotPools),
	}
	o.store.Register(cmd, s)
	o.person.Register(cmd, &o.store, true)
	s.OutputFlag(cmd)
	return cmd
}

// report is the JSON of hold. It contains a pause of the reconciliation of a pool.
type report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The pool, such as `spot_pool/ap-singapore/train`.
	Object string `json:"object"`
	// The new hold.
	Hold spotpool.Hold `json:"hold"`
	// The process that still carries out earlier decisions.
	Busy string `json:"busy,omitempty"`
}

func (o *options) run(ctx context.Context, args []string) error {
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	pools, name := o.store.StoreWorld(place).SpotPools(), strings.TrimPrefix(args[0], "spot_pool/")
	if _, err := pools.KeyOf(ctx, name); err != nil {
		return err
	}
	ask, err := o.person.Request(ctx, place)
	if err != nil {
		return err
	}
	held, err := pools.Hold(ctx, name, ask)
	if err != nil {
		return err
	}
	r := report{SchemaVersion: 1, Object: held.Declaration.Object(), Hold: held.Holds[0], Busy: held.Busy}
	if r.Busy != "" && !o.session.JSON() {
		o.session.Warn("the hold is in effect, but earlier decisions may still be carried out: " + r.Busy)
	}
	return o.session.Print(r, func(terminal.Style) string {
		clock, last := o.session.Clock().WithZone(), held.InForce
		text := fmt.Sprintf("%s is on hold until %s: no instance is launched or terminated\n", r.Object, clock.At(last.Until))
		end := "to end it early"
		if last.ID != r.Hold.ID {
			text += fmt.Sprintf("this is an earlier hold by %s: %s; yours ends at %s\n", last.Who, last.Why, clock.At(r.Hold.Until))
			end = "to end all holds early"
		}
		return text + fmt.Sprintf("%s:\n  gpupool release %s\n", end, r.Object)
	})
}
