// Package stockpool is the resource gpupool_stock_pool. It converts between Terraform values
// and declarations, plans changes, and calls package reconcile to apply them.
//
// The core package of the same name, imported as core, decides what to do.
package stockpool

import (
	"context"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	kit.Resource[model, core.Declaration, stockpools.State, flow]
}

const defaultTimeout = 10 * time.Minute

// Keys of the private state. The last refresh records whether the store had a record of the pool or
// of an unfinished creation, and whether a run would change anything.
const (
	recordedKey   = "recorded"
	unfinishedKey = "unfinished"
	driftedKey    = "drifted"
	requestedKey  = "requested" // a job created the pool, which a run deletes when it expires
)

type flow interface {
	Create(ctx context.Context, d core.Declaration, wait time.Duration) (stockpools.State, error)
	Update(ctx context.Context, d core.Declaration, wait time.Duration) (stockpools.State, error)
	Delete(ctx context.Context, d core.Declaration, wait time.Duration) (left reason.Reasons, err error)
}

// NewResource returns the resource gpupool_stock_pool.
func NewResource() resource.Resource {
	r := &stockResource{}
	r.Kind = kit.Kind[model, core.Declaration, stockpools.State, flow]{
		Type: TypeName, Title: "stock pool", Timeout: defaultTimeout,
		Declaration: func(m model, _ *diag.Diagnostics) core.Declaration { return m.declaration() },
		Identity:    func(m model) any { return identityModel{Namespace: m.Namespace, Name: m.Name} },
		Problems:    model.problems, Import: r.imported, WriteOnly: model.writeOnly,
		PlanCreate: r.planCreate, PlanUpdate: r.planUpdate, PlanDestroy: r.planDestroy,
		Flow: func(ctx context.Context) (flow, error) { return r.Connection.StockPools(ctx) },
		Create: func(ctx context.Context, f flow, m model, d *core.Declaration, wait time.Duration) (stockpools.State, error) {
			return f.Create(ctx, *d, m.rollout(wait))
		},
		Update: func(ctx context.Context, f flow, m model, d, was core.Declaration, wait time.Duration) (stockpools.State, error) {
			d.ClusterUID, d.DeploymentUID = was.ClusterUID, was.DeploymentUID
			return f.Update(ctx, d, m.rollout(wait))
		},
		Delete: remove, View: r.view,
		Found: func(s stockpools.State) kit.Found {
			return kit.Found{Recorded: s.Recorded || s.Unfinished, Destroyed: s.Destroyed, Deleting: s.Deleting}
		},
		// The pool exists even if its Deployment is missing.
		Refresh: func(ctx context.Context, m model, _ core.Declaration, s stockpools.State, resp *resource.ReadResponse) (model, error) {
			if s.Recorded {
				m = m.declared(s.Declaration)
				resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
			}
			return m, nil
		},
		Filled: func(m, _ model, s stockpools.State) model { return m.filled(s.Declaration) }, Keep: keep,
		Warn: func(diags *diag.Diagnostics, m model, at kit.Moment, s stockpools.State) {
			r.Warn(diags, m, at, warnings(s))
		},
	}
	return r
}

// settleAtMost is the part of a timeout that may be spent waiting for pods, which takes longest
// and comes last.
const settleAtMost = 0.9

// rollout returns how long an operation waits for ready pods.
func (m model) rollout(wait time.Duration) time.Duration {
	if !m.WaitForRollout.ValueBool() {
		return 0
	}
	return time.Duration(float64(wait) * settleAtMost)
}

func (r *stockResource) view(ctx context.Context, d core.Declaration) (stockpools.State, error) {
	reader, err := r.Connection.ReadStockPools(ctx)
	if err != nil {
		return stockpools.State{}, err
	}
	return reader.View(ctx, d)
}

// Delete leaves an imported Deployment that no apply took over.
func (r *stockResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m model
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if d := m.declaration(); d.UID == "" && !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.DeploymentWasLeft(reason.Word(d.Key()))))
		return
	}
	r.Resource.Delete(ctx, req, resp)
}

func remove(ctx context.Context, f flow, d core.Declaration, wait time.Duration) (left diag.Diagnostics, err error) {
	notices, err := f.Delete(ctx, d, time.Duration(float64(wait)*settleAtMost))
	if len(notices) > 0 {
		left.Append(problem.Warning(path.Empty(), reason.StockPoolLeft(reason.Word(d.Key()), reason.Paragraphs(notices))))
	}
	return left, err
}

func keep(ctx context.Context, _ model, state stockpools.State, private connection.PrivateWriter) (diags diag.Diagnostics) {
	for key, value := range map[string]bool{
		recordedKey: state.Recorded, unfinishedKey: state.Unfinished, driftedKey: state.Recorded && len(state.Decisions) > 0,
		requestedKey: state.Declaration.Requested(),
	} {
		diags.Append(private.SetKey(ctx, key, strconv.AppendBool(nil, value))...)
	}
	return diags
}

func warnings(state stockpools.State) (list reason.Reasons) {
	for _, of := range state.Decisions {
		if state.Recorded {
			list = append(list, reason.StockOutOfSync(reason.Text(of.Summary()), of.Reasons))
		}
	}
	return append(list, state.Warnings...)
}
