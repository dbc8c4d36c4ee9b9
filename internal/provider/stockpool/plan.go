package stockpool

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

func (r *stockResource) planCreate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || !req.Config.Raw.IsFullyKnown() {
		return
	}
	d := m.declaration()
	warnOfDoubts(d, &resp.Diagnostics)
	r.refuse(ctx, d, &resp.Diagnostics)
}

func (r *stockResource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m, prior model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	recorded, diags := req.Private.GetKey(ctx, recordedKey)
	resp.Diagnostics.Append(diags...)
	unfinished, diags := req.Private.GetKey(ctx, unfinishedKey)
	resp.Diagnostics.Append(diags...)
	drifted, diags := req.Private.GetKey(ctx, driftedKey)
	resp.Diagnostics.Append(diags...)
	requested, diags := req.Private.GetKey(ctx, requestedKey)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !r.CheckStore(ctx, prior.declaration(), req.Private, &resp.Diagnostics) {
		return
	}
	if !m.Name.Equal(prior.Name) || !m.Namespace.Equal(prior.Namespace) {
		r.planReplacement(ctx, m, prior, resp)
		return
	}
	m = m.planned(prior)
	m.UID, m.ClusterUID, m.Generation, m.DeploymentUID = prior.UID, prior.ClusterUID, prior.Generation, prior.DeploymentUID
	lost := string(recorded) == "false" || prior.UID.IsNull()
	adopted := string(requested) == "true"
	if lost || adopted || !m.declares(prior) {
		m.Generation, m.DeploymentUID = types.Int64Unknown(), types.StringUnknown()
	}
	if string(drifted) == "true" {
		m.DeploymentUID = types.StringUnknown()
	}
	if prior.UID.IsNull() {
		m.UID = types.StringUnknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
	if !req.Config.Raw.IsFullyKnown() {
		return
	}
	d := m.declaration()
	switch pool := reason.Word(d.Key()); {
	case prior.UID.IsNull():
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.DeploymentTakenOver(pool)))
	case string(unfinished) == "true":
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.StockPoolUnfinished(pool)))
	case adopted:
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.StockPoolTakenOver(pool)))
	case lost:
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.StockPoolUnrecorded(pool, r.Connection.StoreName())))
	}
	warnOfDoubts(d, &resp.Diagnostics)
	was := prior.declaration()
	if !m.declares(prior) {
		d.UID, d.ClusterUID, d.DeploymentUID = was.UID, was.ClusterUID, was.DeploymentUID
		r.refuse(ctx, d, &resp.Diagnostics)
		r.warnOfUse(ctx, was, d, &resp.Diagnostics)
	}
}

func (r *stockResource) planReplacement(ctx context.Context, m, prior model, resp *resource.ModifyPlanResponse) {
	m.UID, m.ClusterUID, m.DeploymentUID, m.Generation = types.StringUnknown(), types.StringUnknown(), types.StringUnknown(), types.Int64Unknown()
	for name, same := range map[string]bool{"name": m.Name.Equal(prior.Name), "namespace": m.Namespace.Equal(prior.Namespace)} {
		if !same {
			resp.RequiresReplace.Append(path.Root(name))
		}
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
	was := prior.declaration()
	state, err := r.viewNow(ctx, was)
	warnOfEnd(replacing, was, state, err, &resp.Diagnostics)
}

// declares reports whether both declare the same, as far as values are known.
func (m model) declares(prior model) bool {
	m.Timeouts, m.Generation, m.WaitForRollout, m.UID, m.DeploymentUID = prior.Timeouts, prior.Generation, prior.WaitForRollout, prior.UID, prior.DeploymentUID
	return m.equal(prior)
}

// refuse reports why an apply would fail, as far as a plan can tell. The same apply may create
// a missing namespace. A recorded stock pool of that name is no error: a replacement destroys
// it first, and Terraform plans that like any other creation.
func (r *stockResource) refuse(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) {
	if !r.Connection.ClusterReady() || !r.Connection.StoreReady() {
		return
	}
	reader, err := r.Connection.ReadStockPools(ctx)
	if err == nil {
		err = reader.Refusal(ctx, d)
	}
	var missing *decide.NamespaceError
	var covered *stockpools.NotCoveredError
	var exists *record.ExistsError
	var undeclared *record.UndeclaredError
	switch doing := reason.Planning(reason.Object(d.Object())); {
	case errors.As(err, &exists):
		diags.Append(problem.Warning(path.Empty(), reason.StockPoolTaken(reason.Word(d.Key()), reason.Foreign(exists.Error()), r.recordedEnd(ctx, d))))
	case errors.As(err, &missing):
		diags.Append(connection.Warning(doing, err))
	case errors.As(err, &undeclared):
		diags.Append(problem.Warning(path.Root("budget"), reason.StockBudgetUndeclared(reason.Word(d.Budget), reason.Failure(undeclared),
			reason.Paragraphs{reason.DeclaredTogether()})))
	case errors.As(err, &covered):
		diags.Append(problem.Error(path.Root("budget"), reason.StockBudgetUncovering(reason.Failure(err))))
	case err != nil:
		diags.Append(connection.Error(doing, err))
	}
}

func (r *stockResource) warnOfUse(ctx context.Context, was, d core.Declaration, diags *diag.Diagnostics) {
	if !r.Connection.ClusterReady() || !r.Connection.StoreReady() {
		return
	}
	state, err := r.view(ctx, was)
	if err != nil || state.Status.Phase == "" {
		return
	}
	if why := endsUse(was, d, state.Status, state.Replacement); !why.IsZero() {
		diags.Append(problem.Warning(path.Empty(), why))
	}
}

// endsUse describes which pods in use a changed declaration deletes, and how a change replaces
// pods; zero if it deletes none.
func endsUse(was, d core.Declaration, s decide.Status, replacement reason.Reason) reason.Reason {
	pool, used, to := reason.Word(d.Key()), s.Allocated, d.DesiredReplicas(s.Allocated)
	switch {
	case was.Hash(core.Container) != d.Hash(core.Container) && s.Replicas > 0:
		return reason.StockReplacesPods(pool, reason.Count(s.Replicas), reason.Clauses{replacement}, reason.Count(used))
	case to < used:
		return reason.StockDeletesUsed(pool, reason.Count(used), reason.Count(to))
	case to < s.Fewest:
		return reason.StockMayDelete(pool, reason.Count(used), reason.Count(to), reason.Count(s.Fewest))
	}
	return reason.Reason{}
}
