// Package stockpool is the resource gpupool_stock_pool: its schema, the conversion
// between its values and a declaration, its plans, and the calls into package reconcile
// that carry them out.
//
// The core package of the same name, imported as core, decides what is to be done.
package stockpool

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TypeName is the resource's name in Terraform.
const TypeName = "gpupool_stock_pool"

var (
	_ resource.ResourceWithConfigure      = (*stockResource)(nil)
	_ resource.ResourceWithIdentity       = (*stockResource)(nil)
	_ resource.ResourceWithImportState    = (*stockResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*stockResource)(nil)
	_ resource.ResourceWithValidateConfig = (*stockResource)(nil)
)

type stockResource struct {
	connection *connection.Connection
}

// NewResource returns the resource gpupool_stock_pool.
func NewResource() resource.Resource { return &stockResource{} }

func (r *stockResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = TypeName
}

func (r *stockResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.connection = connection.Of(req.ProviderData, &resp.Diagnostics)
}

// defaultTimeout is how long an operation may take, which waits for pods.
const defaultTimeout = 10 * time.Minute

// What Terraform's private state holds of the last look: whether the store had a record
// of the pool, or one of an unfinished creation, and whether a run would have something to
// do.
const (
	recordedKey   = "recorded"
	unfinishedKey = "unfinished"
	driftedKey    = "drifted"
)

func (r *stockResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	wait, diags := timeouts.Of(m.Timeouts, "create", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration()
	state, err := connection.Within(ctx, r.connection, wait, func(ctx context.Context, e *reconcile.Engine) (stockpools.State, error) {
		return e.Stock().Create(ctx, d, m.rollout(wait))
	})
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Creating "+d.Object(), err))
		return
	}
	resp.Diagnostics.Append(save(ctx, m.filled(state.Declaration), state, &resp.State, resp.Identity, resp.Private)...)
	resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded)...)
}

// settleAtMost is the part of a timeout that is left to wait for pods: what takes
// longest comes last.
const settleAtMost = 0.9

// rollout is how long an operation waits until the pods are ready.
func (m model) rollout(wait time.Duration) time.Duration {
	if !m.WaitForRollout.ValueBool() {
		return 0
	}
	return time.Duration(float64(wait) * settleAtMost)
}

// Read takes over the store's record, and passes on what is to be warned of. A missing
// record does not mean that the pool is gone, and nor does a missing Deployment: only a
// tombstone does.
func (r *stockResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
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
	} else if d.UID != "" && !state.Unfinished {
		if !r.connection.CheckStore(ctx, "Reading "+d.Object(), req.Private, lost(d), &resp.Diagnostics, func() (bool, error) { return false, nil }) {
			return
		}
		resp.Diagnostics.Append(r.connection.LostStore()...)
	}
	resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded || state.Unfinished)...)
	resp.Diagnostics.Append(keep(ctx, m, state, resp.Identity, resp.Private)...)
}

// view looks at a pool.
func (r *stockResource) view(ctx context.Context, d core.Declaration) (stockpools.State, error) {
	reader, err := r.connection.Reader(ctx)
	if err != nil {
		return stockpools.State{}, err
	}
	return reader.Stock().View(ctx, d)
}

func (r *stockResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, prior model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	wait, diags := timeouts.Of(m.Timeouts, "update", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	d, was := m.declaration(), prior.declaration()
	d = d.Identified(was.UID, was.Generation)
	d.ClusterUID, d.DeploymentUID = was.ClusterUID, was.DeploymentUID
	if !r.checkStore(ctx, was, req.Private, &resp.Diagnostics) {
		return
	}
	state, err := connection.Within(ctx, r.connection, wait, func(ctx context.Context, e *reconcile.Engine) (stockpools.State, error) {
		return e.Stock().Update(ctx, d, m.rollout(wait))
	})
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Updating "+d.Object(), err))
		return
	}
	resp.Diagnostics.Append(save(ctx, m.filled(state.Declaration), state, &resp.State, resp.Identity, resp.Private)...)
	resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded)...)
}

func (r *stockResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	wait, diags := timeouts.Of(m.Timeouts, "delete", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration()
	if d.UID == "" { // imported, and never applied: it is not gpupool's
		resp.Diagnostics.AddWarning("Deployment "+d.Key()+" was left", "It was imported, and no apply took it over: it is not gpupool's to delete.")
		return
	}
	left, err := connection.Within(ctx, r.connection, wait, func(ctx context.Context, e *reconcile.Engine) (string, error) {
		return e.Stock().Delete(ctx, d, time.Duration(float64(wait)*settleAtMost))
	})
	if left != "" {
		resp.Diagnostics.AddWarning("Stock pool "+d.Key()+" left something", left)
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

// save writes a pool's values, and then what keep does.
func save(ctx context.Context, m model, state stockpools.State, to *tfsdk.State, identity *tfsdk.ResourceIdentity, hidden private) diag.Diagnostics {
	diags := to.Set(ctx, m)
	diags.Append(keep(ctx, m, state, identity, hidden)...)
	return diags
}

// keep writes a pool's identity and what the look showed, and passes its warnings on.
func keep(ctx context.Context, m model, state stockpools.State, identity *tfsdk.ResourceIdentity, hidden private) diag.Diagnostics {
	diags := identify(ctx, m, identity)
	truth := map[bool][]byte{true: []byte("true"), false: []byte("false")}
	diags.Append(hidden.SetKey(ctx, recordedKey, truth[state.Recorded])...)
	diags.Append(hidden.SetKey(ctx, unfinishedKey, truth[state.Unfinished])...)
	diags.Append(hidden.SetKey(ctx, driftedKey, truth[state.Recorded && len(state.Decisions) > 0])...)
	for _, of := range state.Decisions {
		if state.Recorded {
			diags.AddWarning("Stock pool "+m.declaration().Key()+" is not as declared",
				"An apply, or the next run of gpupool reconcile, would "+of.String()+".")
		}
	}
	for _, text := range state.Warnings {
		diags.AddWarning("Stock pool "+m.declaration().Key(), text)
	}
	return diags
}
