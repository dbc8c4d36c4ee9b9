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

const holdHelp = `Keep a pool as it is for a while, whatever is declared: runs and applies neither launch
nor end instances of it, and a destroy is refused. What the cloud takes back is still
noticed, and not replaced before the hold ends. A launch whose outcome is unknown stays
written down and is asked for again then.

Whoever is acting on the pool right now is waited for. A hold ends by itself, or early
by gpupool release. Who holds it until when, and why, is told by status, plans and the
history. Terraform sees no difference.`

const holdExamples = `  # Nothing happens to the pool while its nodes are looked at
  gpupool hold ap-singapore/train --for 2h --reason "nodes hang in NVML, looking"

  gpupool release train`

type options struct {
	session *process.Session
	store   connect.StoreFlags
	person  connect.PersonFlags
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "hold POOL --for DURATION --reason TEXT",
		Short:   "Keep a pool from launching and ending for a while",
		Long:    holdHelp,
		Example: holdExamples,
		Args:    cobra.ExactArgs(1),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.SpotPools),
	}
	o.store.Register(cmd, s)
	o.person.Register(cmd, &o.store, true)
	s.OutputFlag(cmd)
	return cmd
}

// report is the JSON of hold: a pause of the reconciliation of a pool.
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
	ask, err := o.person.Request(ctx, place)
	if err != nil {
		return err
	}
	held, err := o.store.StoreWorld(place).SpotPools().Hold(ctx, strings.TrimPrefix(args[0], "spot_pool/"), ask)
	if err != nil {
		return err
	}
	r := report{SchemaVersion: 1, Object: held.Declaration.Object(), Hold: held.Holds[0], Busy: held.Busy}
	if r.Busy != "" && !o.session.JSON() {
		o.session.Warn("the hold is in force, and what was decided before may still be done: " + r.Busy)
	}
	return o.session.Print(r, func(terminal.Style) string {
		clock, key := o.session.Clock(), held.Declaration.Key()
		text := fmt.Sprintf("%s is on hold until %s: nothing of it is launched or ended\n", key, clock.At(held.InForce.Until))
		if last := held.InForce; last.ID != r.Hold.ID {
			return text + fmt.Sprintf("that is an earlier hold by %s: %s; yours ends at %s\ngpupool release %s ends all of them early\n", last.Who, last.Why,
				clock.At(r.Hold.Until), key)
		}
		return text + fmt.Sprintf("gpupool release %s ends it early\n", key)
	})
}
