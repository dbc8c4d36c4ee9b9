// Package release is the command gpupool release.
package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const releaseHelp = `End all grants of a budget, or all holds of a pool, before they expire.

NAME is the name of a budget or a pool. If both have that name, write budget/NAME or
spot_pool/REGION/NAME.

The limit of the budget is the declared one again, and its grace period starts again.
The pool is reconciled again, and its instances are replaced again if replacement was
suspended. Both start with the next run; a gate of the budget applies at once.`

const releaseExamples = `  # End all grants of a budget
  gpupool release budget/team-a

  # End all holds of a pool
  gpupool release spot_pool/ap-singapore/train --reason "nodes replaced"`

type options struct {
	session *process.Session
	store   connect.StoreFlags
	person  connect.PersonFlags
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "release NAME",
		Short:   "End the grants of a budget or the holds of a pool",
		Long:    releaseHelp,
		Example: releaseExamples,
		Args:    process.Arguments("gpupool release budget/team-a", "NAME"),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.SpotPools, store.Budgets),
	}
	o.store.Register(cmd, s)
	o.person.Register(cmd, &o.store, false)
	s.OutputFlag(cmd)
	return cmd
}

// report is the JSON of release. It contains the grants and holds that it ended.
type report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The budget or pool.
	Object string `json:"object"`
	// The released grants.
	Grants []budget.Grant `json:"grants"`
	// The released holds.
	Holds []spotpool.Hold `json:"holds"`
	// Why failing nodes were not replaced until now.
	ReplacingSuspended string `json:"replacing_suspended,omitempty"`
	// The budget's limit from the next run on.
	LimitGPUHours string `json:"limit_gpu_hours,omitempty"`
}

func (o *options) run(ctx context.Context, args []string) error {
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	w := o.store.StoreWorld(place)
	r, err := release(ctx, o.person.Release(ctx, place), w.Budgets(), w.SpotPools(), args[0])
	if err != nil {
		return err
	}
	return o.session.Print(r, func(terminal.Style) string { return text(r) })
}

// release ends the grants of the budget, or the holds of the pool, with a name.
func release(ctx context.Context, by exception.Release, b *budgets.Flow, p *spotpools.Flow, name string) (report, error) {
	if budget, named := strings.CutPrefix(name, "budget/"); named {
		return ofBudget(ctx, b, budget, by)
	}
	pool, named := strings.CutPrefix(name, "spot_pool/")
	if named || strings.Contains(pool, "/") {
		return ofPool(ctx, p, pool, by)
	}
	_, noBudget := b.Find(ctx, name)
	_, noPool := p.KeyOf(ctx, name)
	switch {
	case noBudget == nil && noPool == nil:
		return report{}, process.Usagef("%s is a budget and a pool: use budget/%s or spot_pool/%s", name, name, name)
	case noBudget == nil:
		return ofBudget(ctx, b, name, by)
	case noPool == nil:
		return ofPool(ctx, p, name, by)
	}
	return report{}, errors.Join(noBudget, noPool)
}

func ofBudget(ctx context.Context, b *budgets.Flow, name string, by exception.Release) (report, error) {
	granted, err := b.Release(ctx, name, by)
	if err != nil {
		return report{}, err
	}
	if len(granted.Grants) == 0 {
		return report{}, fmt.Errorf("budget/%s has no grant", name)
	}
	return report{
		SchemaVersion: 1, Object: granted.Declaration.Object(), Grants: granted.Grants, Holds: []spotpool.Hold{},
		LimitGPUHours: budget.Hours(granted.Limit),
	}, nil
}

func ofPool(ctx context.Context, p *spotpools.Flow, name string, by exception.Release) (report, error) {
	held, err := p.Release(ctx, name, by)
	if err != nil {
		return report{}, err
	}
	if len(held.Holds) == 0 && held.Suspended == "" {
		return report{}, fmt.Errorf("%s is not on hold", held.Declaration.Object())
	}
	return report{
		SchemaVersion: 1, Object: held.Declaration.Object(), Grants: []budget.Grant{}, Holds: append([]spotpool.Hold{}, held.Holds...),
		ReplacingSuspended: held.Suspended,
	}, nil
}

func text(r report) string {
	var out bytes.Buffer
	for _, g := range r.Grants {
		fmt.Fprintf(&out, "released %s: %s granted by %s: %s\n", r.Object, g.Hours(), g.Who, g.Why)
	}
	for _, h := range r.Holds {
		fmt.Fprintf(&out, "released %s: hold by %s: %s\n", r.Object, h.Who, h.Why)
	}
	if r.ReplacingSuspended != "" {
		fmt.Fprintf(&out, "released %s: its instances are replaced again; this was suspended: %s\n", r.Object, r.ReplacingSuspended)
	}
	if r.LimitGPUHours != "" {
		fmt.Fprintf(&out, "limit from the next run on: %s GPU-hours\n", r.LimitGPUHours)
	} else {
		out.WriteString("the next run reconciles it again\n")
	}
	return out.String()
}
