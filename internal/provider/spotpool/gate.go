package spotpool

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// checkGate warns if a budget that is new in a plan blocks launches, by the status of the last
// run in the store. The gate may change until the apply.
func (r *poolResource) checkGate(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) {
	if d.Budget == "" || !r.Connection.StoreReady() {
		return
	}
	reader, err := r.Connection.ReadSpotPools(ctx)
	if err != nil {
		diags.Append(connection.Error(reason.ReadingBudgetOf(reason.Object(d.Object())), err))
		return
	}
	gate, err := reader.Gate(ctx, d)
	if !gate.Closed {
		return
	}
	why := reason.BudgetBlocksLaunches(reason.Word(d.Budget), reason.Paragraphs{gate.Reason})
	var missing *record.UndeclaredError
	if errors.As(err, &missing) {
		why = reason.BudgetNotYetDeclared(reason.Word(d.Budget), reason.Failure(missing), reason.Paragraphs{reason.DeclaredTogether()})
	}
	diags.Append(problem.Warning(path.Root("budget"), why))
}

// undeclaredBudget warns that the pool's budget is not declared, so that every gpupool
// reconcile run fails for it. If the pool is short, that is a reason in the plan instead.
func undeclaredBudget(ctx context.Context, reader connection.PoolReader, state spotpools.State) reason.Reason {
	if !state.Gate.Closed || state.Plan.Shortfall > 0 {
		return reason.Reason{}
	}
	_, err := reader.Gate(ctx, state.Declaration)
	var missing *record.UndeclaredError
	if !errors.As(err, &missing) {
		return reason.Reason{}
	}
	return reason.LaunchesNeedBudget(reason.Failure(missing), reason.Foreign(missing.Advice()))
}

// forecast warns of when a pool at its maximum would use up its budget, if that is before the
// budget's window ends. If that is unknown, the gate says why.
func forecast(ctx context.Context, reader connection.PoolReader, d core.Declaration, offers []core.Offer) reason.Reason {
	f, err := reader.Forecast(ctx, d, offers)
	if err != nil || f == nil || f.ExhaustedAt == nil || f.Remaining == 0 {
		return reason.Reason{}
	}
	left := reason.BudgetLeft(reason.Word(f.Budget), reason.Amount(budget.Hours(f.Remaining)), reason.Instant{Time: f.AsOf})
	return reason.BudgetMayBeUsedUp(reason.Paragraphs{left}, reason.Count(d.Maximum),
		reason.Instant{Time: f.ExhaustedAt.Truncate(time.Minute)}, reason.Amount(budget.MilliGPUs(f.MilliGPUs)))
}
