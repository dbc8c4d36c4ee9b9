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
)

// checkGate says whether a budget that is new to a plan lets the pool launch now, by
// the status that the last run left in the store. It only reports: the gate may be
// another at the apply.
func (r *poolResource) checkGate(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) {
	if d.Budget == "" || !r.Connection.StoreReady() {
		return
	}
	reader, err := r.Connection.ReadSpotPools(ctx)
	if err != nil {
		diags.Append(connection.Error("Looking at the budget of "+d.Object(), err))
		return
	}
	gate, err := reader.Gate(ctx, d)
	if !gate.Closed {
		return
	}
	summary, text := "Budget "+d.Budget+" lets nothing be launched", fmt.Sprintf("As it stands, applying this launches no instances: %s.", gate.Reason)
	var missing *record.UndeclaredError
	if errors.As(err, &missing) {
		summary = "Budget " + d.Budget + " is not declared yet"
		text = fmt.Sprintf("No instances are launched until it is declared, and judged by a run of gpupool reconcile: %s. %s", missing, record.DeclaredTogether)
	}
	diags.AddAttributeWarning(path.Root("budget"), summary, text)
}

// orphaned says that the pool's budget is not declared, so that every run of gpupool
// reconcile fails for this pool. Where the pool is short, the plan gives that as the
// reason, and orphaned says nothing.
func orphaned(ctx context.Context, reader connection.PoolReader, state spotpools.State) string {
	if !state.Gate.Closed || state.Plan.Shortfall > 0 {
		return ""
	}
	_, err := reader.Gate(ctx, state.Declaration)
	var missing *record.UndeclaredError
	if !errors.As(err, &missing) {
		return ""
	}
	return fmt.Sprintf("It will get no more instances: %s. %s", missing, missing.Advice())
}

// forecast says when a pool at its maximum would use its budget up, if that is before
// the budget's window ends. It says nothing where that is unknown, since the gate
// tells why.
func forecast(ctx context.Context, reader connection.PoolReader, d core.Declaration, offers []core.Offer) string {
	f, err := reader.Forecast(ctx, d, offers)
	if err != nil || f == nil || f.ExhaustedAt == nil || f.Remaining == 0 {
		return ""
	}
	return fmt.Sprintf("With pods of the budget %s on all of the %s GPUs that it has at its maximum of %d instances, it uses the remaining %s GPU-hours "+
		"(as of %s) up by %s, before the budget's window ends. From then on nothing is launched.",
		f.Budget, budget.MilliGPUs(f.MilliGPUs), d.Maximum, budget.Hours(f.Remaining), f.AsOf.UTC().Format(time.RFC3339),
		f.ExhaustedAt.UTC().Truncate(time.Minute).Format(time.RFC3339))
}
