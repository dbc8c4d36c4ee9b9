package budget

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func (r *budgetResource) planCreate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	d := m.declaration()
	if req.Config.Raw.IsFullyKnown() {
		warnOfDoubts(d, &resp.Diagnostics)
	}
	if r.Connection.ClusterReady() {
		if _, err := r.Connection.ClusterUID(ctx); err != nil {
			resp.Diagnostics.Append(connection.Error(reason.Planning(reason.Object(d.Object())), err))
			return
		}
	}
	if !m.Name.IsUnknown() {
		r.warnOfName(ctx, d, &resp.Diagnostics)
	}
	if req.Config.Raw.IsFullyKnown() {
		warnOfAction(core.Declaration{}, d, &resp.Diagnostics)
		warnOfSharing(core.Declaration{}, d, &resp.Diagnostics)
		r.warnOfCluster(ctx, core.Declaration{}, d, &resp.Diagnostics)
	}
}

func (r *budgetResource) planUpdate(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var m, prior model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	recorded, diags := req.Private.GetKey(ctx, recordedKey)
	resp.Diagnostics.Append(diags...)
	fromFile, diags := req.Private.GetKey(ctx, fileKey)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || !r.CheckStore(ctx, prior.declaration(), req.Private, &resp.Diagnostics) {
		return
	}
	if !m.Name.Equal(prior.Name) {
		m.UID, m.Generation, m.ClusterUID = types.StringUnknown(), types.Int64Unknown(), types.StringUnknown()
		resp.RequiresReplace.Append(path.Root("name"))
		resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
		return
	}
	m = m.planned(prior)
	m.UID, m.ClusterUID, m.Generation = prior.UID, prior.ClusterUID, prior.Generation
	lost, adopted := string(recorded) == "false", string(fromFile) == "true"
	if lost || adopted || !m.declares(prior) {
		m.Generation = types.Int64Unknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
	if lost {
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.BudgetUnrecorded(reason.Word(m.Name.ValueString()), r.Connection.StoreName())))
	}
	if adopted {
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.BudgetTakenOver(reason.Word(m.Name.ValueString()))))
	}
	if req.Config.Raw.IsFullyKnown() {
		was, d := prior.declaration(), m.declaration()
		warnOfDoubts(d, &resp.Diagnostics)
		warnOfAction(was, d, &resp.Diagnostics)
		warnOfSharing(was, d, &resp.Diagnostics)
		r.warnOfLimit(ctx, was, d, &resp.Diagnostics)
		r.warnOfCluster(ctx, was, d, &resp.Diagnostics)
	}
}

// warnOfName warns of an existing budget of that name.
func (r *budgetResource) warnOfName(ctx context.Context, d core.Declaration, diags *diag.Diagnostics) {
	if !r.Connection.StoreReady() {
		return
	}
	if reader, err := r.Connection.ReadBudgets(ctx); err == nil { // an apply reports an error
		r.WarnIfTaken(d, reader.Refusal(ctx, d), diags)
	}
}

// warnOfCluster warns of what a changed declaration needs and the cluster does not have. An account that may not
// read it gets no warning: runs warn.
func (r *budgetResource) warnOfCluster(ctx context.Context, was, d core.Declaration, diags *diag.Diagnostics) {
	same := d.Selector.Same(was.Selector) && reflect.DeepEqual(d.Enforce, was.Enforce)
	if same || !r.Connection.ClusterReady() || !r.Connection.StoreReady() {
		return
	}
	reader, err := r.Connection.ReadBudgets(ctx)
	if err != nil {
		return // an apply says so
	}
	doubts, _ := reader.Doubts(ctx, d)
	for _, doubt := range doubts {
		diags.Append(problem.Warning(path.Root(doubt.Block).AtName(doubt.Argument),
			reason.BudgetNeedsCluster(reason.Word(d.Name), reason.Paragraphs{doubt.Why})))
	}
}

// declares reports whether both declare the same, as far as values are known.
func (m model) declares(prior model) bool {
	m.Timeouts, m.Generation = prior.Timeouts, prior.Generation
	return m.equal(prior)
}

// warnOfAction warns of a new action that terminates pods.
func warnOfAction(was, d core.Declaration, diags *diag.Diagnostics) {
	if d.Enforce.Action == was.Enforce.Action {
		return
	}
	at := path.Root("enforcement").AtName("action")
	switch d.Enforce.Action {
	case core.Evict:
		most := reason.Count(d.Enforce.MaxEvictionsPerRun)
		diags.Append(problem.Warning(at, reason.BudgetEvicts(reason.Word(d.Name), reason.Word(d.Enforce.GracePeriod), most)))
	case core.Pause:
		diags.Append(problem.Warning(at, reason.BudgetPauses(reason.Word(d.Name), reason.Word(d.Enforce.GracePeriod))))
	}
}

// warnOfSharing warns of several namespaces that newly share a budget.
func warnOfSharing(was, d core.Declaration, diags *diag.Diagnostics) {
	if !d.Selector.Shares() || was.Enforce.Action == d.Enforce.Action && was.Selector.Same(d.Selector) {
		return
	}
	how := reason.Paragraphs{reason.SharedByLabels()}
	if names := slices.Compact(slices.Sorted(slices.Values(d.Selector.Namespaces))); len(names) > 0 {
		last := len(names) - 1
		how = reason.Paragraphs{reason.SharedByNames(names[:last], reason.Word(names[last]))}
	}
	if effect := effects[d.Enforce.Action]; effect != nil {
		how = append(how, reason.SharedEffect(reason.Clauses{effect()}))
	}
	diags.Append(problem.Warning(path.Root("selector"), reason.BudgetShared(reason.Word(d.Name), append(how, reason.SharedAdvice()))))
}

// effects are those of actions on pods when the limit is reached. Alerts have none.
var effects = map[core.Action]func() reason.Reason{core.Evict: reason.MayEvict, core.Pause: reason.MayPause, core.Freeze: reason.MayFreeze}

// warnOfLimit warns of the effects of a lower limit on pools, and of the time of its action.
func (r *budgetResource) warnOfLimit(ctx context.Context, was, d core.Declaration, diags *diag.Diagnostics) {
	before, errBefore := core.ParseHours(was.GPUHours)
	limit, err := core.ParseHours(d.GPUHours)
	grace, errGrace := duration.Parse(d.Enforce.GracePeriod)
	if errBefore != nil || err != nil || errGrace != nil || limit >= before {
		return
	}
	more := reason.Paragraphs{r.usedOf(ctx, was, limit)}
	if effect := effects[d.Enforce.Action]; effect != nil {
		from := reason.Instant{Time: time.Now().UTC().Add(grace).Truncate(time.Second)}
		more = append(more, reason.ActsFrom(reason.Word(d.Enforce.GracePeriod), from, reason.Clauses{effect()}))
	}
	why := reason.LimitLowered(reason.Word(d.Name), reason.Amount(was.GPUHours), reason.Amount(d.GPUHours), more)
	diags.Append(problem.Warning(path.Root("gpu_hours"), why))
}

// usedOf compares the usage that the last run counted with a new limit.
func (r *budgetResource) usedOf(ctx context.Context, d core.Declaration, limit int64) reason.Reason {
	if !r.Connection.StoreReady() {
		return reason.UsageLater()
	}
	reader, err := r.Connection.ReadBudgets(ctx)
	if err != nil {
		return reason.UsageLater()
	}
	state, err := reader.View(ctx, d)
	if err != nil || state.Status == nil {
		return reason.UsageLater()
	}
	used, at := reason.Amount(core.Hours(state.Status.Usage.Consumed)), reason.Instant{Time: state.Status.At}
	if state.Status.Usage.Consumed >= limit {
		return reason.UsedAbove(used, at)
	}
	return reason.UsedBelow(used, at)
}
