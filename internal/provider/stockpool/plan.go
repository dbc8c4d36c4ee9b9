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
	if lost || !m.declares(prior) {
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
			"It was not made by gpupool. Applying this plan changes it as shown, and replaces its pods. What a stock pool has no word for stays as it is.")
	case string(unfinished) == "true":
		resp.Diagnostics.AddWarning("Stock pool "+d.Key()+" is not created yet",
			"Its creation was begun and not finished, so no run keeps it as declared. Applying this plan finishes it.")
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

// declares reports whether both declare the same, as far as is known.
func (m model) declares(prior model) bool {
	m.Timeouts, m.Generation, m.WaitForRollout, m.UID, m.DeploymentUID = prior.Timeouts, prior.Generation, prior.WaitForRollout, prior.UID, prior.DeploymentUID
	return m.equal(prior)
}

// refuse says what an apply would refuse, where that can be known. A namespace that is
// missing may be created by the same apply. A stock pool of the name that is recorded is
// no error, since a replacement destroys it first: Terraform asks for that as for any
// other creation.
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
		diags.AddWarning("Stock pool "+d.Key()+" exists already", "Where this plan replaces it, nothing is to be done: it is "+
			"destroyed first."+r.recordedEnd(ctx, d)+" Else an apply is refused: "+exists.Error()+".")
	case errors.As(err, &missing):
		diags.Append(connection.Warning("Planning "+d.Object(), err))
	case errors.As(err, &undeclared):
		diags.AddAttributeWarning(path.Root("budget"), "Budget "+d.Budget+" is not declared yet",
			"The stock pool has no pods until it is declared, and judged by a run of gpupool reconcile: "+undeclared.Error()+". "+record.DeclaredTogether)
	case errors.As(err, &covered):
		diags.AddAttributeError(path.Root("budget"), "Budget does not cover the stock pool", err.Error()+".")
	case err != nil:
		diags.Append(connection.Error("Planning "+d.Object(), err))
	}
}

// warnOfUse warns of pods in use that a change would end.
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

// endsUse says which pods in use a changed declaration ends, and how a change replaces
// pods; nothing where it ends none.
func endsUse(was, d core.Declaration, s decide.Status, replacement string) (summary, detail string) {
	used := s.Allocated
	switch to := d.Wanted(used); {
	case was.Sum(core.Container) != d.Sum(core.Container) && s.Replicas > 0:
		return "replaces its pods", fmt.Sprintf("What each pod runs or holds changes: all %d are replaced, %s, %d of them in use.", s.Replicas, replacement,
			used)
	case to < used:
		return "ends pods in use", fmt.Sprintf("%d in use, and %d to stay.", used, to)
	case to < s.Fewest:
		return "ends pods in use", fmt.Sprintf("%d in use, and %d to stay. Kubernetes ends what has no node, does not run or is not ready before what is "+
			"ready, and spreads a scale-down in the middle of a rollout: none in use would end where %d stay.", used, to, s.Fewest)
	}
	return "", ""
}
