package spotpool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// checkGate warns if a budget that is new in a plan blocks launches, by the status of the last
// run in the store. The gate may change until the apply.
func (r *poolResource) checkGate(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) {
	if d.Budget == "" || !r.Connection.StoreReady() {
		return
	}
	reader, err := r.Connection.ReadSpotPools(ctx)
	if err != nil {
		diags.Append(connection.Error("Reading the budget of "+d.Object(), err))
		return
	}
	gate, err := reader.Gate(ctx, d)
	if !gate.Closed {
		return
	}
	summary, text := "Budget "+d.Budget+" blocks launches", fmt.Sprintf("At present, applying this launches no instances: %s.", gate.Reason)
	var missing *record.UndeclaredError
	if errors.As(err, &missing) {
		summary = "Budget " + d.Budget + " is not declared yet"
		text = fmt.Sprintf("No instances are launched before it is declared, and gpupool reconcile has evaluated it: %s. %s", missing, record.DeclaredTogether)
	}
	diags.AddAttributeWarning(path.Root("budget"), summary, text)
}

// undeclaredBudget warns that the pool's budget is not declared, so that every gpupool
// reconcile run fails for it. If the pool is short, that is a reason in the plan instead.
func undeclaredBudget(ctx context.Context, reader connection.PoolReader, state spotpools.State) string {
	if !state.Gate.Closed || state.Plan.Shortfall > 0 {
		return ""
	}
	_, err := reader.Gate(ctx, state.Declaration)
	var missing *record.UndeclaredError
	if !errors.As(err, &missing) {
		return ""
	}
	return fmt.Sprintf("No more instances are launched: %s. %s", missing, missing.Advice())
}

// forecast warns of when a pool at its maximum would use up its budget, if that is before the
// budget's window ends. If that is unknown, the gate says why.
func forecast(ctx context.Context, reader connection.PoolReader, d core.Declaration, offers []core.Offer) string {
	f, err := reader.Forecast(ctx, d, offers)
	if err != nil || f == nil || f.ExhaustedAt == nil || f.Remaining == 0 {
		return ""
	}
	return fmt.Sprintf("The budget %s has %s GPU-hours left (as of %s). At the pool's maximum of %s, with the budget's pods on its %s, "+
		"they are used up by %s, before the budget's window ends. After that, nothing is launched.",
		f.Budget, budget.Hours(f.Remaining), f.AsOf.UTC().Format(time.RFC3339), instances(d.Maximum), wording.Amount(budget.MilliGPUs(f.MilliGPUs), "GPU"),
		f.ExhaustedAt.UTC().Truncate(time.Minute).Format(time.RFC3339))
}
