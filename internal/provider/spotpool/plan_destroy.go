package spotpool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// endsNamedAtMost is how many of the instances that a plan ends are named.
const endsNamedAtMost = 10

// planDestroy refuses to destroy a protected pool, or protected instances, and else names the instances that
// end.
func (r *poolResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if m.DeletionProtection.ValueBool() {
		resp.Diagnostics.Append(protected(m, "destroy"))
	}
	if !resp.Diagnostics.HasError() {
		r.warnOfEnd(ctx, "Destroying", m, req.Private, &resp.Diagnostics)
	}
}

// warnOfEnd names the instances that end, or are detached, with a pool. It looks at
// them now, since Terraform 1.11 plans the end of what is no longer configured before
// it refreshes it, and a plan may refresh nothing at all. Nothing that is planned
// depends on the look.
func (r *poolResource) warnOfEnd(ctx context.Context, doing string, m model, earlier connection.PrivateReader, diags *diag.Diagnostics) {
	d := m.declaration(&diag.Diagnostics{})
	held, err := r.heldNow(ctx, d, earlier)
	if notHere := (*record.LostError)(nil); errors.As(err, &notHere) {
		diags.Append(connection.Error("Planning "+d.Object(), err))
		return
	}
	if err != nil {
		raw, _ := earlier.GetKey(ctx, privateKey)
		seen, damaged := decodePrivateState(raw)
		if seen == nil || damaged != nil {
			diags.AddWarning("Spot pool "+d.Key()+": what ends with it is not known",
				fmt.Sprintf("%s it ends all of its instances. Which they are can't be told now: %s.", doing, err))
			return
		}
		held = heldOf(decide.Decide(decide.Situation{
			Declaration: d, Observation: seen.observation(d.Region, d.AccountID), Journal: seen.Journal, Now: seen.At,
		}))
		held.told = fmt.Sprintf(" That is as of %s; looking again failed: %s.", seen.At.UTC().Format(time.RFC3339), err)
	}
	if held.recorded != nil {
		if held.recorded.DeletionProtection && !m.DeletionProtection.ValueBool() {
			diags.Append(protected(m, verb(doing)))
			return
		}
		d.OnDestroy = held.recorded.OnDestroy // the record decides, and the state may be older
		// No time lifts that. What may be over by the apply, as a hold or a cluster that is away, is a warning.
		if len(held.protected) > 0 && d.OnDestroy != core.DestroyRetain {
			diags.AddError(fmt.Sprintf("Spot pool %s has protected instances", d.Key()), fmt.Sprintf("The plan would %s it, which would be refused: %s "+
				"cannot be "+
				"terminated, by the tag gpupool/protected or termination protection. Lift the protection, or set on_destroy = \"retain\" and apply that first.",
				verb(doing), named(held.protected)))
			return
		}
	}
	n := len(held.ids) + held.unseen
	if n == 0 {
		return
	}
	text := held.sentence(doing, d.OnDestroy)
	if len(m.PlannedActions.Elements()) > 0 {
		text += " The planned_actions that leave the state with it are those of an earlier apply: nothing is launched."
	}
	becomes := "to be ended"
	if d.OnDestroy == core.DestroyRetain {
		becomes = "to be let go"
	}
	diags.AddWarning(fmt.Sprintf("Spot pool %s: %s %s", d.Key(), instances(n), becomes), text)
}

// verb is what a plan that is doing something would do.
func verb(doing string) string {
	if doing == "Replacing" {
		return "replace"
	}
	return "destroy"
}

// heldNow looks at the instances that a pool has now.
func (r *poolResource) heldNow(ctx context.Context, d core.Declaration, earlier connection.PrivateReader) (holdings, error) {
	if !r.Connection.Ready() {
		return holdings{}, connection.ErrNotReady
	}
	state, err := view(ctx, r.Connection, d)
	switch {
	case err != nil:
		return holdings{}, err
	case state.Destroyed:
		return holdings{}, nil
	case !state.Recorded:
		return holdings{}, r.ErrLost(ctx, d, earlier)
	}
	h := heldOf(state.Plan)
	h.hold, h.recorded = state.Hold, &state.Declaration
	return h, nil
}

// holdings are the instances that a pool has.
type holdings struct {
	ids       []string
	protected []string
	contested []string // why it can't be told whose node an instance is
	away      bool     // the cluster of its nodes could not be reached
	unseen    int      // instances that open launches may have made
	hold      *core.Hold
	recorded  *core.Declaration // the store's; nil if that could not be read
	told      string            // how this is known, where it is not from a look just now
}

func heldOf(p decide.Plan) holdings {
	h := holdings{unseen: p.Held, away: p.Nodes != nil && !p.Nodes.Seen}
	for _, m := range p.Members {
		if m.Condition == decide.Terminating || m.Condition == decide.Failed {
			continue
		}
		h.unseen--
		h.ids = append(h.ids, m.ID)
		if m.Protected || m.APIProtected {
			h.protected = append(h.protected, m.ID)
		}
		if m.Match.Standing == node.Contested {
			h.contested = append(h.contested, m.ID+" ("+m.Match.Why+")")
		}
	}
	return h
}

// sentence says what becomes of the instances.
func (h holdings) sentence(doing string, what core.OnDestroy) string {
	verb, after := "ends", ""
	if what == core.DestroyRetain {
		verb, after = "lets go of", " They go on running, and costing."
	}
	var parts []string
	if len(h.ids) > 0 {
		parts = append(parts, fmt.Sprintf("%s: %s", instances(len(h.ids)), named(h.ids)))
	}
	if h.unseen > 0 {
		parts = append(parts, fmt.Sprintf("up to %d more that launches under way may have made", h.unseen))
	}
	text := fmt.Sprintf("%s it %s %s.%s%s", doing, verb, strings.Join(parts, "; and "), after, h.told)
	if len(h.protected) > 0 && what != core.DestroyRetain {
		text += fmt.Sprintf(" It will be refused as long as %s can't be ended, by the tag gpupool/protected or the cloud's own protection.", named(h.protected))
	}
	if len(h.contested) > 0 && what != core.DestroyRetain {
		text += fmt.Sprintf(" It will not be finished before it can be told which node these are: %s.", named(h.contested))
	}
	if h.away {
		text += " It will be refused as long as the cluster of its nodes can't be reached, since a destroy drains them first."
	}
	if h.hold != nil {
		text += fmt.Sprintf(" It will be refused as long as the pool is on hold %s. gpupool release ends the hold.", h.hold)
	}
	return text
}

func instances(n int) string {
	if n == 1 {
		return "1 instance"
	}
	return fmt.Sprintf("%d instances", n)
}

// named lists ids, of many only the first.
func named(ids []string) string {
	if len(ids) <= endsNamedAtMost {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:endsNamedAtMost], ", "), len(ids)-endsNamedAtMost)
}
