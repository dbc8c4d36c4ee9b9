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
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// maxNamed is how many of the instances that a plan terminates are named.
const maxNamed = 10

// planDestroy refuses to destroy a protected pool, or protected instances. Else it names the
// instances that are terminated.
func (r *poolResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if m.DeletionProtection.ValueBool() {
		resp.Diagnostics.Append(protected(m, "destroy"))
	}
	if !resp.Diagnostics.HasError() {
		r.warnOfTermination(ctx, "Destroying", m, req.Private, &resp.Diagnostics)
	}
}

// warnOfTermination names the instances that are terminated or detached with a pool. It
// observes them now: Terraform 1.11 plans to destroy removed resources before it refreshes
// them, and a plan may refresh nothing. No planned value depends on that.
func (r *poolResource) warnOfTermination(ctx context.Context, doing string, m model, earlier connection.PrivateReader, diags *diag.Diagnostics) {
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
			diags.AddWarning("Spot pool "+d.Key()+": its instances are unknown",
				fmt.Sprintf("%s it terminates all of its instances. They cannot be listed now: %s.", doing, strings.TrimSuffix(err.Error(), ".")))
			return
		}
		d.Currency = seen.Currency // a destroy does not depend on prices
		held = heldOf(decide.Decide(decide.Situation{
			Declaration: d, Observation: seen.observation(d.Region, d.AccountID), Journal: seen.Journal, Now: seen.At,
		}))
		held.source = fmt.Sprintf(" That is as of %s; observing it again failed: %s.", seen.At.UTC().Format(time.RFC3339),
			strings.TrimSuffix(err.Error(), "."))
	}
	if held.recorded != nil {
		if held.recorded.DeletionProtection && !m.DeletionProtection.ValueBool() {
			diags.Append(protected(m, verb(doing)))
			return
		}
		d.OnDestroy = held.recorded.OnDestroy // the record decides: the state may be older
		// Only obstacles that may be over by the apply, such as a hold, are warnings.
		if len(held.protected) > 0 && d.OnDestroy != core.DestroyRetain {
			diags.AddError(fmt.Sprintf("Spot pool %s has protected instances", d.Key()), fmt.Sprintf("The plan would %s it, which would be refused: %s "+
				"cannot be terminated, by the tag gpupool/protected or termination protection. Lift the protection, or set on_destroy = \"retain\" "+
				"and apply that first.",
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
		text += " The planned_actions that the plan removes are those of an earlier apply: nothing is launched."
	}
	becomes := "to terminate"
	if d.OnDestroy == core.DestroyRetain {
		becomes = "to detach"
	}
	diags.AddWarning(fmt.Sprintf("Spot pool %s: %s %s", d.Key(), instances(n), becomes), text)
}

func verb(doing string) string {
	if doing == "Replacing" {
		return "replace"
	}
	return "destroy"
}

// heldNow observes the instances of a pool now.
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

// holdings are the instances of a pool.
type holdings struct {
	ids       []string
	protected []string
	contested []string // instances whose node is ambiguous, and why
	away      bool     // the cluster of its nodes is unreachable
	unseen    int      // instances that pending launches may have launched
	hold      *core.Hold
	recorded  *core.Declaration // the store's; nil if that could not be read
	source    string            // of an earlier observation
}

func heldOf(p decide.Plan) holdings {
	h := holdings{unseen: p.Total, away: p.Nodes != nil && !p.Nodes.Observed}
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
			h.contested = append(h.contested, m.ID+" ("+m.Match.Why.String()+")")
		}
	}
	return h
}

// sentence says what happens to the instances.
func (h holdings) sentence(doing string, what core.OnDestroy) string {
	verb, after := "terminates", ""
	if what == core.DestroyRetain {
		verb, after = "detaches", " They keep running and cost money."
	}
	var parts []string
	if len(h.ids) > 0 {
		parts = append(parts, fmt.Sprintf("%s: %s", instances(len(h.ids)), named(h.ids)))
	}
	if h.unseen > 0 {
		parts = append(parts, fmt.Sprintf("up to %d more of pending launches", h.unseen))
	}
	text := fmt.Sprintf("%s it %s %s.%s%s", doing, verb, strings.Join(parts, "; and "), after, h.source)
	if len(h.protected) > 0 && what != core.DestroyRetain {
		text += fmt.Sprintf(" It is refused while %s cannot be terminated, because of the tag gpupool/protected or termination protection.", named(h.protected))
	}
	if len(h.contested) > 0 && what != core.DestroyRetain {
		text += fmt.Sprintf(" It is not completed while the nodes of these are ambiguous: %s.", named(h.contested))
	}
	if h.away {
		text += " It is refused while the cluster of its nodes is unreachable, since a destroy drains them first."
	}
	if h.hold != nil {
		text += fmt.Sprintf(" It is refused while the pool is on hold %s. To end the hold, run gpupool release.", h.hold)
	}
	return text
}

func instances(n int) string { return wording.Count(n, "instance") }

// named joins IDs; of many only the first.
func named(ids []string) string {
	if len(ids) <= maxNamed {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:maxNamed], ", "), len(ids)-maxNamed)
}
