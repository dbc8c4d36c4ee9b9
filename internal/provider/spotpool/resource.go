// Package spotpool is the resource gpupool_spot_pool: its schema, the conversion
// between its values and a declaration, its plans, and the calls into package
// reconcile that carry them out.
//
// The core package of the same name, imported as core, decides what a pool should do.
package spotpool

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/shortcut"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TypeName is the resource's name in Terraform.
const TypeName = "gpupool_spot_pool"

var (
	_ resource.ResourceWithConfigure      = (*poolResource)(nil)
	_ resource.ResourceWithIdentity       = (*poolResource)(nil)
	_ resource.ResourceWithImportState    = (*poolResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*poolResource)(nil)
	_ resource.ResourceWithValidateConfig = (*poolResource)(nil)
)

type poolResource struct {
	connection *connection.Connection
}

// NewResource returns the resource gpupool_spot_pool.
func NewResource() resource.Resource { return &poolResource{} }

func (r *poolResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = TypeName
}

func (r *poolResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.connection = connection.Of(req.ProviderData, &resp.Diagnostics)
}

const (
	defaultTimeout = 15 * time.Minute
	// slack is how much longer than its timeout an operation's context lasts: at the
	// timeout the engine stops waiting, and still has to record what it did.
	slack = 2 * time.Minute
)

func (r *poolResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	wait, diags := timeouts.Of(m.Timeouts, "create", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	d := m.declaration(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	engine, err := r.connection.Engine(ctx)
	if err == nil && d.Region == "" {
		d.Region, err = r.connection.Region(ctx)
	}
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Creating "+d.Object(), err))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait+slack)
	defer cancel()
	state, err := engine.Pools().Create(ctx, d, wait)
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Creating "+d.Object(), err))
		return
	}
	resp.Diagnostics.Append(save(ctx, m.filled(state, types.Int64Value(0)), state, &resp.State, resp.Identity, resp.Private)...)
	resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded)...)
}

func (r *poolResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	d := m.declaration(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	state, err := view(ctx, r.connection, d)
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Reading "+d.Object(), err))
		return
	}
	if state.Destroyed {
		resp.Diagnostics.Append(identify(ctx, m, resp.Identity)...) // the framework asks for it even now
		resp.State.RemoveResource(ctx)
		return
	}
	if !state.Recorded {
		if !r.connection.CheckStore(ctx, "Reading "+d.Object(), req.Private, lost(d), &resp.Diagnostics, func() (bool, error) { return false, nil }) {
			return
		}
		resp.Diagnostics.Append(r.connection.LostStore()...)
	}
	resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded)...)
	refreshed, drifted := m.refreshed(d, state)
	if drifted {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, shortcut.AppliedKey, []byte("null"))...)
	}
	if drifted || !refreshed.observedLike(m) {
		resp.Diagnostics.Append(resp.State.Set(ctx, refreshed)...)
	}
	resp.Diagnostics.Append(keep(ctx, refreshed, state, resp.Identity, resp.Private)...)
}

// view looks at a pool and at its budget. Where credentials are refused, a thousand
// pools ask only once.
func view(ctx context.Context, c *connection.Connection, d core.Declaration) (spotpools.State, error) {
	if _, err := c.AccountID(ctx); err != nil {
		return spotpools.State{}, err
	}
	reader, err := c.Reader(ctx)
	if err != nil {
		return spotpools.State{}, err
	}
	state, err := reader.Pools().View(ctx, d)
	if err != nil || state.Destroyed {
		return state, err
	}
	for _, text := range []string{orphaned(ctx, reader, state), forecast(ctx, reader, state.Declaration, state.Observation.Offers)} {
		if text != "" {
			state.Warnings = append(state.Warnings, text)
		}
	}
	return state, nil
}

func (r *poolResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, prior model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	wait, diags := timeouts.Of(m.Timeouts, "update", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	d := m.declaration(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	d.Generation = prior.Generation.ValueInt64()
	if !r.checkStore(ctx, prior.declaration(&resp.Diagnostics), req.Private, &resp.Diagnostics) {
		return
	}
	engine, err := r.connection.Engine(ctx)
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Updating "+d.Object(), err))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait+slack)
	defer cancel()
	state, err := engine.Pools().Update(ctx, d, wait)
	if err != nil {
		resp.Diagnostics.Append(connection.Error("Updating "+d.Object(), err))
	}
	if state.Declaration.UID != "" { // it was recorded, whatever failed after that
		resp.Diagnostics.Append(save(ctx, m.filled(state, prior.Capacity), state, &resp.State, resp.Identity, resp.Private)...)
		resp.Diagnostics.Append(r.connection.RememberStore(ctx, resp.Private, state.Recorded)...)
	}
}

func (r *poolResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	wait, diags := timeouts.Of(m.Timeouts, "delete", defaultTimeout)
	resp.Diagnostics.Append(diags...)
	d := m.declaration(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	engine, err := r.connection.Engine(ctx)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, wait+slack)
		defer cancel()
		err = engine.Pools().Delete(ctx, d, wait)
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
func save(ctx context.Context, m model, state spotpools.State, to *tfsdk.State, identity *tfsdk.ResourceIdentity, hidden private) diag.Diagnostics {
	diags := to.Set(ctx, m)
	diags.Append(keep(ctx, m, state, identity, hidden)...)
	return diags
}

// keep writes a pool's identity and observation, and passes its warnings on.
func keep(ctx context.Context, m model, state spotpools.State, identity *tfsdk.ResourceIdentity, hidden private) diag.Diagnostics {
	diags := identify(ctx, m, identity)
	keys, err := privateKeys(state, valuesOf(m))
	if err != nil {
		diags.AddError("Private state can't be written", err.Error())
	}
	for key, value := range keys {
		diags.Append(hidden.SetKey(ctx, key, value)...)
	}
	warn(&diags, state.Declaration, state.Warnings)
	return diags
}
