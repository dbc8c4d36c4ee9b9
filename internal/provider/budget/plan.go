package budget

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
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
			resp.Diagnostics.Append(connection.Error("Planning "+d.Object(), err))
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
		resp.Diagnostics.AddWarning("Budget "+m.Name.ValueString()+" is not recorded",
			r.Connection.RecordsAgain("counts its usage or enforces it"))
	}
	if adopted {
		resp.Diagnostics.AddWarning("Budget "+m.Name.ValueString()+" is taken over",
			"A file declares it: gpupool declare, or the values of the Helm chart. After the apply, that file no longer changes the budget. "+
				"Remove it from there.")
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
		diags.AddAttributeWarning(path.Root(doubt.Block).AtName(doubt.Argument), "Budget "+d.Name+" needs what the cluster does not have",
			connection.Capital(doubt.Why.String())+".")
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
		diags.AddAttributeWarning(at, fmt.Sprintf("Budget %s evicts pods", d.Name),
			fmt.Sprintf("After its limit has been reached for %s, each gpupool reconcile run blocks new GPU pods of the selector, and evicts up to %s. "+
				"gpupool reconcile --dry-run lists them.", d.Enforce.GracePeriod, wording.Count(d.Enforce.MaxEvictionsPerRun, "pod")))
	case core.Pause:
		diags.AddAttributeWarning(at, fmt.Sprintf("Budget %s pauses workloads", d.Name),
			fmt.Sprintf("After its limit has been reached for %s, gpupool reconcile suspends the Jobs and CronJobs of the selected pods. It scales their "+
				"Deployments and StatefulSets to zero. They resume when usage falls below the limit. "+
				"gpupool reconcile --dry-run lists them.", d.Enforce.GracePeriod))
	}
}

// warnOfSharing warns of several namespaces that newly share a budget.
func warnOfSharing(was, d core.Declaration, diags *diag.Diagnostics) {
	if !d.Selector.Shares() || was.Enforce.Action == d.Enforce.Action && was.Selector.Same(d.Selector) {
		return
	}
	whose := "All namespaces with the labels in namespace_labels"
	if names := slices.Compact(slices.Sorted(slices.Values(d.Selector.Namespaces))); len(names) > 0 {
		whose = "The namespaces " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	text := whose + " share one limit: usage in one reduces what is left for the others"
	if threat := threats[d.Enforce.Action]; threat != "" {
		text += ". When the limit is reached, " + threat + " in any of them, whichever caused it"
	}
	diags.AddAttributeWarning(path.Root("selector"), fmt.Sprintf("Budget %s is shared by several namespaces", d.Name),
		text+". If they belong to different teams, give each its own budget.")
}

// threats are the effects of actions on pods when the limit is reached. Alerts have none.
var threats = map[core.Action]string{
	core.Evict:  "pods may be evicted",
	core.Pause:  "workloads may be paused",
	core.Freeze: "new GPU pods may be blocked",
}

// warnOfLimit warns of the effects of a lower limit on pools, and of the time of its action.
func (r *budgetResource) warnOfLimit(ctx context.Context, was, d core.Declaration, diags *diag.Diagnostics) {
	before, errBefore := core.ParseHours(was.GPUHours)
	limit, err := core.ParseHours(d.GPUHours)
	grace, errGrace := duration.Parse(d.Enforce.GracePeriod)
	if errBefore != nil || err != nil || errGrace != nil || limit >= before {
		return
	}
	text := fmt.Sprintf("gpu_hours changes from %s to %s. ", was.GPUHours, d.GPUHours)
	used, known := r.used(ctx, was)
	switch {
	case known != "" && used >= limit:
		text += known + ", at least the new limit. "
	case known != "":
		text += known + ", less than the new limit. "
	default:
		text += "Usage is not known yet. "
	}
	text += "While usage is at the limit or above, spot pools that name the budget launch nothing, and stock pools under it do not grow."
	if threat := threats[d.Enforce.Action]; threat != "" {
		from := time.Now().UTC().Add(grace).Truncate(time.Second).Format(time.RFC3339)
		text += fmt.Sprintf(" From %s after the apply, not before %s, %s.", d.Enforce.GracePeriod, from, threat)
	}
	diags.AddAttributeWarning(path.Root("gpu_hours"), "Limit of budget "+d.Name+" is lowered", text)
}

// used returns the usage that the last run counted, and describes it. If it is unknown, the
// description is empty.
func (r *budgetResource) used(ctx context.Context, d core.Declaration) (amount int64, words string) {
	if !r.Connection.StoreReady() {
		return 0, ""
	}
	reader, err := r.Connection.ReadBudgets(ctx)
	if err != nil {
		return 0, ""
	}
	state, err := reader.View(ctx, d)
	if err != nil || state.Status == nil {
		return 0, ""
	}
	s := state.Status
	return s.Usage.Consumed, fmt.Sprintf("%s were used as of %s", core.Hours(s.Usage.Consumed), s.At.UTC().Format(time.RFC3339))
}
