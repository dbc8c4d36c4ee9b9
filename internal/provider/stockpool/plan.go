package stockpool

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
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
	switch {
	case prior.UID.IsNull():
		resp.Diagnostics.AddWarning("Deployment "+d.Key()+" is taken over",
			"gpupool did not create it. Applying this plan changes it as shown, and replaces its pods. Fields without an argument stay as they are.")
	case string(unfinished) == "true":
		resp.Diagnostics.AddWarning("Stock pool "+d.Key()+" is not created yet",
			"Its creation was interrupted, so gpupool reconcile does not manage it yet. Applying this plan finishes it.")
	case adopted:
		resp.Diagnostics.AddWarning("Stock pool "+d.Key()+" is taken over",
			"It was requested through the API, and a run deletes it when it expires. Applying this plan removes its owner and its expiry.")
	case lost:
		resp.Diagnostics.AddWarning("Stock pool "+d.Key()+" is not recorded",
			r.Connection.RecordsAgain("keeps it in sync"))
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
	warnOfEnd("Replacing", was, state, err, &resp.Diagnostics)
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
	switch {
	case errors.As(err, &exists):
		diags.AddWarning("Stock pool "+d.Key()+" exists already", "If this plan replaces it, it is destroyed first."+r.recordedEnd(ctx, d)+" Otherwise, "+
			"an apply is refused: "+exists.Error()+".")
	case errors.As(err, &missing):
		diags.Append(connection.Warning("Planning "+d.Object(), err))
	case errors.As(err, &undeclared):
		diags.AddAttributeWarning(path.Root("budget"), "Budget "+d.Budget+" is not declared yet",
			"The stock pool has no pods until the budget is declared and gpupool reconcile has evaluated it: "+undeclared.Error()+". "+record.DeclaredTogether)
	case errors.As(err, &covered):
		diags.AddAttributeError(path.Root("budget"), "Budget does not cover the stock pool", err.Error()+".")
	case err != nil:
		diags.Append(connection.Error("Planning "+d.Object(), err))
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
	if summary, detail := endsUse(was, d, state.Status, state.Replacement); summary != "" {
		diags.AddWarning("Stock pool "+d.Key()+" "+summary, detail)
	}
}

// endsUse describes which pods in use a changed declaration deletes, and how a change replaces
// pods; empty if it deletes none.
func endsUse(was, d core.Declaration, s decide.Status, replacement string) (summary, detail string) {
	used := s.Allocated
	switch to := d.DesiredReplicas(used); {
	case was.Hash(core.Container) != d.Hash(core.Container) && s.Replicas > 0:
		return "replaces its pods", fmt.Sprintf("The pod template changes: %s replaced, %s, %d in use.",
			wording.Plural(s.Replicas, "its only pod is", fmt.Sprintf("all %d pods are", s.Replicas)), replacement, used)
	case to < used:
		return "deletes pods in use", fmt.Sprintf("%d are in use, and %d stay.", used, to)
	case to < s.Fewest:
		return "deletes pods in use", fmt.Sprintf("%d are in use, and %d stay. Kubernetes first deletes pods that are pending or not ready, and "+
			"spreads a scale-down over old and new pods during a rollout. To keep all pods in use, at least %d must stay.", used, to, s.Fewest)
	}
	return "", ""
}
