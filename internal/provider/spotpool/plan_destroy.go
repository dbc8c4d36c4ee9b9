package spotpool

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// ending is how a plan ends a pool.
type ending struct{ verb, doing reason.Word }

var (
	destroying = ending{"destroy", "destroying"}
	replacing  = ending{"replace", "replacing"}
)

// planDestroy refuses to destroy a protected pool, or protected instances. Else it names the
// instances that are terminated.
func (r *poolResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if m.DeletionProtection.ValueBool() {
		resp.Diagnostics.Append(protected(m, destroying))
	}
	if !resp.Diagnostics.HasError() {
		r.warnOfTermination(ctx, destroying, m, req.Private, &resp.Diagnostics)
	}
}

// warnOfTermination names the instances that are terminated or detached with a pool. It
// observes them now: Terraform 1.11 plans to destroy removed resources before it refreshes
// them, and a plan may refresh nothing. No planned value depends on that.
func (r *poolResource) warnOfTermination(ctx context.Context, end ending, m model, earlier connection.PrivateReader, diags *diag.Diagnostics) {
	d := m.declaration(&diag.Diagnostics{})
	held, err := r.heldNow(ctx, d, earlier)
	if notHere := (*record.LostError)(nil); errors.As(err, &notHere) {
		diags.Append(connection.Error(reason.Planning(reason.Object(d.Object())), err))
		return
	}
	if err != nil {
		raw, _ := earlier.GetKey(ctx, privateKey)
		seen, damaged := decodePrivateState(raw)
		if seen == nil || damaged != nil {
			diags.Append(problem.Warning(path.Empty(), reason.PoolInstancesUnknown(reason.Word(d.Key()), end.doing, withoutStop(err))))
			return
		}
		d.Currency = seen.Currency // a destroy does not depend on prices
		held = heldOf(decide.Decide(decide.Situation{
			Declaration: d, Observation: seen.observation(d.Region, d.AccountID), Journal: seen.Journal, Now: seen.At,
		}))
		held.source = reason.Paragraphs{reason.ObservedEarlier(reason.Instant{Time: seen.At}, withoutStop(err))}
	}
	if held.recorded != nil {
		if held.recorded.DeletionProtection && !m.DeletionProtection.ValueBool() {
			diags.Append(protected(m, end))
			return
		}
		d.OnDestroy = held.recorded.OnDestroy // the record decides: the state may be older
		// Only obstacles that may be over by the apply, such as a hold, are warnings.
		if len(held.protected) > 0 && d.OnDestroy != core.DestroyRetain {
			diags.Append(problem.Error(path.Empty(), reason.InstancesProtected(reason.Word(d.Key()), end.verb, held.protected)))
			return
		}
	}
	n := len(held.ids) + held.unseen
	if n == 0 {
		return
	}
	details := held.details(end, d.OnDestroy)
	if len(m.PlannedActions.Elements()) > 0 {
		details = append(details, reason.ActionsOfEarlier())
	}
	ends := reason.PoolTerminates
	if d.OnDestroy == core.DestroyRetain {
		ends = reason.PoolDetaches
	}
	diags.Append(problem.Warning(path.Empty(), ends(reason.Word(d.Key()), reason.Count(n), details)))
}

// withoutStop returns an error without the full stop of its sentence.
func withoutStop(err error) reason.Foreign {
	return reason.Foreign(strings.TrimSuffix(err.Error(), "."))
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
	ids       reason.Names
	protected reason.Names
	contested reason.Some // instances whose node is ambiguous, and why
	away      bool        // the cluster of its nodes is unreachable
	unseen    int         // instances that pending launches may have launched
	hold      *core.Hold
	recorded  *core.Declaration // the store's; nil if that could not be read
	source    reason.Paragraphs // of an earlier observation
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
			h.contested = append(h.contested, reason.AmbiguousInstance(reason.Word(m.ID), m.Match.Why))
		}
	}
	return h
}

// details say what happens to the instances, and what blocks that.
func (h holdings) details(end ending, what core.OnDestroy) reason.Paragraphs {
	var which reason.Reasons
	if len(h.ids) > 0 {
		which = append(which, reason.CountedNames(reason.Count(len(h.ids)), h.ids))
	}
	if h.unseen > 0 {
		which = append(which, reason.PendingLaunches(reason.Count(h.unseen)))
	}
	list := reason.Paragraphs{reason.Terminates(end.doing, which)}
	if what == core.DestroyRetain {
		list = reason.Paragraphs{reason.Detaches(end.doing, which)}
	}
	list = append(list, h.source...)
	if len(h.protected) > 0 && what != core.DestroyRetain {
		list = append(list, reason.BlockedByProtection(h.protected))
	}
	if len(h.contested) > 0 && what != core.DestroyRetain {
		list = append(list, reason.BlockedByAmbiguity(h.contested))
	}
	if h.away {
		list = append(list, reason.BlockedByCluster())
	}
	if h.hold != nil && h.recorded != nil {
		list = append(list, reason.BlockedByHold(reason.Word(h.hold.Who), reason.Instant{Time: h.hold.Until}, reason.NewForeign(h.hold.Why),
			reason.Word(h.recorded.Key())))
	}
	return list
}
