// Package budget is the resource gpupool_budget: its schema, the conversion of its values to a
// declaration, its plans, and the calls of package reconcile.
//
// The core package of the same name, imported as core, selects a budget's pods and counts their
// usage.
package budget

import (
	"context"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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
	kit.Resource[model, core.Declaration, budgets.State, flow]
}

// defaultTimeout is enough for a few calls, and for a run that has the budget's lock.
const defaultTimeout = 5 * time.Minute

// recordedKey is the key, in Terraform's private state, of whether the store had a record of the
// budget at the last refresh.
const recordedKey = "recorded"

// fileKey is the key of whether a file declares the budget, which an apply takes over.
const fileKey = "file"

// flow is the part of the flow that applies use.
type flow interface {
	Create(ctx context.Context, d core.Declaration) (budgets.State, error)
	Update(ctx context.Context, d core.Declaration) (budgets.State, error)
	Delete(ctx context.Context, d core.Declaration) (left reason.Reasons, err error)
}

// NewResource returns the resource gpupool_budget.
func NewResource() resource.Resource {
	r := &budgetResource{}
	r.Kind = kit.Kind[model, core.Declaration, budgets.State, flow]{
		Type: TypeName, Title: "budget", Timeout: defaultTimeout,
		Declaration: func(m model, _ *diag.Diagnostics) core.Declaration { return m.declaration() },
		Identity:    func(m model) any { return kit.NameIdentity{Name: m.Name} },
		Problems:    model.problems, Import: r.find,
		PlanCreate: r.planCreate, PlanUpdate: r.planUpdate, PlanDestroy: r.PlanDestroyRecorded,
		Flow: func(ctx context.Context) (flow, error) { return r.Connection.Budgets(ctx) },
		Create: func(ctx context.Context, f flow, _ model, d *core.Declaration, _ time.Duration) (budgets.State, error) {
			return f.Create(ctx, *d)
		},
		Update: func(ctx context.Context, f flow, _ model, d, _ core.Declaration, _ time.Duration) (budgets.State, error) {
			return f.Update(ctx, d)
		},
		Delete: remove, View: r.view,
		Found: func(s budgets.State) kit.Found {
			return kit.Found{Recorded: s.Recorded, Destroyed: s.Destroyed, Deleting: s.Deleting}
		},
		Refresh: r.refresh,
		Filled:  func(m, _ model, s budgets.State) model { return m.filled(s.Declaration) }, Keep: keep,
		Warn: func(diags *diag.Diagnostics, m model, at kit.Moment, s budgets.State) {
			r.Warn(diags, m, at, s.Warnings)
		},
	}
	return r
}

// view reads a budget, with the warnings of the last run. One is about pods that another budget
// counts, too.
func (r *budgetResource) view(ctx context.Context, d core.Declaration) (budgets.State, error) {
	reader, err := r.Connection.ReadBudgets(ctx)
	if err != nil {
		return budgets.State{}, err
	}
	state, err := reader.View(ctx, d)
	if state.Status != nil {
		state.Warnings = append(state.Warnings, state.Status.Warnings...)
	}
	return state, err
}

// refresh reads the store's record, and refuses another cluster than the budget's.
func (r *budgetResource) refresh(ctx context.Context, m model, _ core.Declaration, state budgets.State, resp *resource.ReadResponse) (model, error) {
	uid, err := r.Connection.ClusterUID(ctx)
	if err == nil {
		err = record.SameCluster(state.Declaration.Object(), state.Declaration.ClusterUID, uid)
	}
	if err == nil && state.Recorded {
		m = m.declared(state.Declaration)
		resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	}
	return m, err
}

func remove(ctx context.Context, f flow, d core.Declaration, _ time.Duration) (left diag.Diagnostics, err error) {
	workloads, err := f.Delete(ctx, d)
	if len(workloads) > 0 {
		left.Append(problem.Warning(path.Empty(), reason.BudgetLeftWorkloads(reason.Word(d.Name), reason.Paragraphs(workloads))))
	}
	return left, err
}

func keep(ctx context.Context, _ model, state budgets.State, private connection.PrivateWriter) diag.Diagnostics {
	diags := private.SetKey(ctx, recordedKey, strconv.AppendBool(nil, state.Recorded))
	diags.Append(private.SetKey(ctx, fileKey, strconv.AppendBool(nil, state.Declaration.FromFile()))...)
	return diags
}
