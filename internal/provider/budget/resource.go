// Package budget is the resource gpupool_budget: its schema, the conversion between
// its values and a declaration, its plans, and the calls into package reconcile that
// carry them out.
//
// The core package of the same name, imported as core, decides whom a budget covers
// and what it has used.
package budget

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// TypeName is the resource's name in Terraform.
const TypeName = "gpupool_budget"

var (
	_ resource.ResourceWithConfigure      = (*budgetResource)(nil)
	_ resource.ResourceWithIdentity       = (*budgetResource)(nil)
	_ resource.ResourceWithImportState    = (*budgetResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*budgetResource)(nil)
	_ resource.ResourceWithValidateConfig = (*budgetResource)(nil)
)

type budgetResource struct {
	connection *connection.Connection
}

// NewResource returns the resource gpupool_budget.
func NewResource() resource.Resource { return &budgetResource{} }

func (r *budgetResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = TypeName
}

func (r *budgetResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.connection = connection.Of(req.ProviderData, &resp.Diagnostics)
}

// defaultTimeout is how long an operation may take: it makes a few calls, and may
// have to wait for a run that has the budget's lock.
const defaultTimeout = 5 * time.Minute

// recordedKey holds, in Terraform's private state, whether the store had a
// record of the budget when it was last looked at.
const recordedKey = "recorded"

func (r *budgetResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	wait, diags := timeouts.Of(m.Timeouts, "create", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration()
	state, err := connection.Within(ctx, r.connection, wait, func(ctx context.Context, e *reconcile.Engine) (budgets.State, error) {
		return e.Budgets().Create(ctx, d)
	})
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Creating "+d.Object(), err))
		return
	}
	resp.Diagnostics.Append(save(ctx, m.filled(state.Declaration), state, &resp.State, resp.Identity, resp.Private)...)
	resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded)...)
}

// Read takes over the store's record, and passes on the warnings of the last run,
// such as of pods that another budget counts, too. A missing record does not mean
// that the budget is gone: only a tombstone does.
func (r *budgetResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration()
	state, err := r.view(ctx, d)
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Reading "+d.Object(), err))
		return
	}
	if state.Destroyed {
		resp.Diagnostics.Append(identify(ctx, m, resp.Identity)...) // the framework asks for it even now
		resp.State.RemoveResource(ctx)
		return
	}
	if state.Recorded {
		m = m.declared(state.Declaration)
		resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	}
	if !state.Recorded {
		if !r.connection.CheckStore(ctx, "Reading "+d.Object(), req.Private, lost(d), &resp.Diagnostics, func() (bool, error) { return false, nil }) {
			return
		}
		resp.Diagnostics.Append(r.connection.LostStore()...)
	}
	resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded)...)
	if state.Status != nil {
		state.Warnings = append(state.Warnings, state.Status.Warnings...)
	}
	resp.Diagnostics.Append(keep(ctx, m, state, resp.Identity, resp.Private)...)
}

// view reads a budget, and refuses another cluster than the budget's.
func (r *budgetResource) view(ctx context.Context, d core.Declaration) (budgets.State, error) {
	reader, err := r.connection.Reader(ctx)
	if err != nil {
		return budgets.State{}, err
	}
	state, err := reader.Budgets().View(ctx, d)
	if err != nil || state.Destroyed {
		return state, err
	}
	return state, r.sameCluster(ctx, state.Declaration)
}

// sameCluster refuses another cluster than the budget's.
func (r *budgetResource) sameCluster(ctx context.Context, d core.Declaration) error {
	uid, err := r.connection.ClusterUID(ctx)
	if err != nil {
		return err
	}
	return record.SameCluster(d.Object(), d.ClusterUID, uid)
}

func (r *budgetResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, prior model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	wait, diags := timeouts.Of(m.Timeouts, "update", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration()
	d.Generation = prior.Generation.ValueInt64()
	if !r.checkStore(ctx, prior.declaration(), req.Private, &resp.Diagnostics) {
		return
	}
	state, err := connection.Within(ctx, r.connection, wait, func(ctx context.Context, e *reconcile.Engine) (budgets.State, error) {
		return e.Budgets().Update(ctx, d)
	})
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Updating "+d.Object(), err))
		return
	}
	resp.Diagnostics.Append(save(ctx, m.filled(state.Declaration), state, &resp.State, resp.Identity, resp.Private)...)
	resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded)...)
}

func (r *budgetResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	wait, diags := timeouts.Of(m.Timeouts, "delete", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration()
	left, err := connection.Within(ctx, r.connection, wait, func(ctx context.Context, e *reconcile.Engine) ([]string, error) {
		return e.Budgets().Delete(ctx, d)
	})
	for _, text := range left {
		resp.Diagnostics.AddWarning("Budget "+d.Name+" left a workload as it was", text)
	}
	if notHere := (*record.LostError)(nil); errors.As(err, &notHere) {
		err = r.connection.ErrLost(ctx, req.Private, *notHere)
	}
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Destroying "+d.Object(), err))
	}
}

// private is the part of the framework's private state that is used here.
type private interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// save writes a budget's values, and then what keep does.
func save(ctx context.Context, m model, state budgets.State, to *tfsdk.State, identity *tfsdk.ResourceIdentity, hidden private) diag.Diagnostics {
	diags := to.Set(ctx, m)
	diags.Append(keep(ctx, m, state, identity, hidden)...)
	return diags
}

// keep writes a budget's identity and whether it is recorded, and passes its
// warnings on.
func keep(ctx context.Context, m model, state budgets.State, identity *tfsdk.ResourceIdentity, hidden private) diag.Diagnostics {
	diags := identify(ctx, m, identity)
	recorded := []byte("true")
	if !state.Recorded {
		recorded = []byte("false")
	}
	diags.Append(hidden.SetKey(ctx, recordedKey, recorded)...)
	for _, text := range state.Warnings {
		diags.AddWarning("Budget "+m.Name.ValueString(), text)
	}
	return diags
}
