// Package spotpool is the resource gpupool_spot_pool: its schema, the conversion of its values
// to a declaration, its plans, and the calls of package reconcile.
//
// The core package of the same name, imported as core, has the declaration. Its package decide
// decides what to do.
package spotpool

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/shortcut"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	kit.Resource[model, core.Declaration, spotpools.State, flow]
}

const (
	defaultTimeout = 15 * time.Minute
	// slack is how much longer than its timeout an operation's context lasts. At the timeout
	// the flow stops waiting, and still has to record what it did.
	slack = 2 * time.Minute
)

// flow is the part of the flow that applies use.
type flow interface {
	Create(ctx context.Context, d core.Declaration, wait time.Duration) (spotpools.State, error)
	Update(ctx context.Context, d core.Declaration, wait time.Duration) (spotpools.State, error)
	Delete(ctx context.Context, d core.Declaration, wait time.Duration) (warnings reason.Reasons, err error)
}

// NewResource returns the resource gpupool_spot_pool.
func NewResource() resource.Resource {
	r := &poolResource{}
	r.Kind = kit.Kind[model, core.Declaration, spotpools.State, flow]{
		Type: TypeName, Title: "spot pool", Timeout: defaultTimeout, Slack: slack,
		Declaration: model.declaration,
		Identity:    func(m model) any { return identityModel{Region: m.Region, Name: m.Name} },
		WriteOnly:   model.writeOnly,
		Problems:    model.problems, Doubts: core.Declaration.Warnings, Import: r.find,
		PlanCreate: r.planCreate, PlanUpdate: r.planUpdate, PlanDestroy: r.planDestroy,
		Flow:   func(ctx context.Context) (flow, error) { return r.Connection.SpotPools(ctx) },
		Create: r.create,
		Update: func(ctx context.Context, f flow, _ model, d, _ core.Declaration, wait time.Duration) (spotpools.State, error) {
			return f.Update(ctx, d, wait)
		},
		KeepsFailed: true,
		Delete: func(ctx context.Context, f flow, d core.Declaration, wait time.Duration) (diag.Diagnostics, error) {
			warnings, err := f.Delete(ctx, d, wait)
			var diags diag.Diagnostics
			if len(warnings) > 0 {
				diags.Append(problem.Warning(path.Empty(), reason.LeftByDestroy(reason.Object(d.Object()), reason.Paragraphs(warnings))))
			}
			return diags, err
		},
		View: func(ctx context.Context, d core.Declaration) (spotpools.State, error) {
			return view(ctx, r.Connection, d)
		},
		Found: func(s spotpools.State) kit.Found {
			return kit.Found{Recorded: s.Recorded, Destroyed: s.Destroyed, Deleting: s.Deleting}
		},
		// nodes may be removed if their cluster is gone for good.
		UpdatesDeleting: func(m, prior model) bool { return m.Nodes.IsNull() && !prior.Nodes.IsNull() },
		Refresh:         refresh, Filled: model.filled, Keep: keep,
		Warn: r.warn,
	}
	return r
}

// create creates a pool, in the provider's region if it has none.
func (r *poolResource) create(ctx context.Context, f flow, _ model, d *core.Declaration, wait time.Duration) (state spotpools.State, err error) {
	if d.Region == "" {
		if d.Region, err = r.Connection.Region(ctx); err != nil {
			return state, err
		}
	}
	return f.Create(ctx, *d, wait)
}

// refresh writes the state only if it differs, which makes a refresh of many pools faster.
func refresh(ctx context.Context, m model, d core.Declaration, state spotpools.State, resp *resource.ReadResponse) (model, error) {
	refreshed, drifted := m.refreshed(d, state)
	if drifted {
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, shortcut.AppliedKey, []byte("null"))...)
	}
	if drifted || !refreshed.observedLike(m) {
		resp.Diagnostics.Append(resp.State.Set(ctx, refreshed)...)
	}
	return refreshed, nil
}

// view observes a pool and its budget. If credentials are refused, a thousand pools try only
// once.
func view(ctx context.Context, c *connection.Connection, d core.Declaration) (spotpools.State, error) {
	if _, err := c.AccountID(ctx); err != nil {
		return spotpools.State{}, err
	}
	reader, err := c.ReadSpotPools(ctx)
	if err != nil {
		return spotpools.State{}, err
	}
	state, err := reader.View(ctx, d)
	if err != nil || state.Destroyed {
		return state, err
	}
	for _, why := range []reason.Reason{undeclaredBudget(ctx, reader, state), forecast(ctx, reader, state.Declaration, state.Observation.Offers)} {
		if !why.IsZero() {
			state.Warnings = append(state.Warnings, why)
		}
	}
	return state, nil
}

// keep writes a pool's observation.
func keep(ctx context.Context, m model, state spotpools.State, private connection.PrivateWriter) (diags diag.Diagnostics) {
	keys, err := privateKeys(state, valuesOf(m))
	if err != nil {
		diags.Append(problem.Error(path.Empty(), reason.PrivateStateUnwritten(reason.Failure(err))))
	}
	for key, value := range keys {
		diags.Append(private.SetKey(ctx, key, value)...)
	}
	return diags
}
