// Package budgetusage is the data source gpupool_budget_usage: the usage of a budget that the last
// gpupool reconcile run wrote to the store. It reads no cluster, and counts nothing.
package budgetusage

import (
	"context"
	"math/big"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

var _ datasource.DataSourceWithConfigure = (*usageDataSource)(nil)

type usageDataSource struct{ kit.DataSource }

// NewDataSource returns the data source gpupool_budget_usage.
func NewDataSource() datasource.DataSource {
	return &usageDataSource{kit.DataSource{Type: "gpupool_budget_usage"}}
}

func (s *usageDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	name := config.Budget.ValueString()
	state, err := s.look(ctx, name)
	if err != nil {
		resp.Diagnostics.Append(connection.Error(reason.ReadingUsage(reason.Object("budget/"+name)), err))
		return
	}
	m := uncounted(state.Declaration)
	if state.Status != nil {
		m = newModel(*state.Status)
		state.Warnings = append(state.Warnings, state.Status.Warnings...)
	}
	kit.Warn(&resp.Diagnostics, reason.ObjectObserved, "budget/"+name, state.Warnings)
	if why := doubt(state, time.Now()); !why.IsZero() {
		resp.Diagnostics.Append(problem.Warning(path.Empty(), reason.UsageDoubted(reason.Word(name), reason.Paragraphs{why})))
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func (s *usageDataSource) look(ctx context.Context, name string) (budgets.State, error) {
	reader, err := s.Connection.ReadBudgets(ctx)
	if err != nil {
		return budgets.State{}, err
	}
	d, err := reader.Find(ctx, name)
	if err != nil {
		return budgets.State{}, err
	}
	return reader.View(ctx, d)
}

// doubt describes why the values may be out of date. It is zero if they are fresh and of the
// current declaration.
func doubt(state budgets.State, now time.Time) reason.Reason {
	d, status := state.Declaration, state.Status
	if status == nil {
		return reason.NeverCounted()
	}
	at := reason.Instant{Time: status.At}
	if status.Generation != d.Generation {
		return reason.CountedBefore(at, reason.Count(status.Generation), reason.Count(d.Generation))
	}
	if longest, err := d.StatusAge(); err == nil && now.Sub(status.At) > longest {
		return reason.CountedLongAgo(at, reason.Word(d.MaxStatusAge))
	}
	return reason.Reason{}
}

type model struct {
	Budget              types.String `tfsdk:"budget"`
	AsOf                types.String `tfsdk:"as_of"`
	Generation          types.Int64  `tfsdk:"generation"`
	Limit               types.String `tfsdk:"limit"`
	Used                types.String `tfsdk:"used"`
	Remaining           types.String `tfsdk:"remaining"`
	Estimated           types.String `tfsdk:"estimated"`
	ErrorBound          types.String `tfsdk:"error_bound"`
	Coverage            types.Number `tfsdk:"coverage"`
	BurnRate            types.Number `tfsdk:"burn_rate_gpus"`
	Exceeded            types.Bool   `tfsdk:"exceeded"`
	ExceededSince       types.String `tfsdk:"exceeded_since"`
	ProjectedExhaustion types.String `tfsdk:"projected_exhaustion"`
	RecoversAt          types.String `tfsdk:"recovers_at"`
	TrackedPods         types.Int64  `tfsdk:"tracked_pods"`
	ActivePods          types.Int64  `tfsdk:"active_pods"`
	WindowStart         types.String `tfsdk:"window_start"`
	WindowEnd           types.String `tfsdk:"window_end"`
	EnforceAt           types.String `tfsdk:"enforce_at"`
	Enforced            types.List   `tfsdk:"enforced"`
	ByNamespace         types.Map    `tfsdk:"by_namespace"`
	ByLabel             types.Map    `tfsdk:"by_label"`
}

var hoursType = types.MapType{ElemType: types.StringType}

// uncounted returns the values of a budget before its first run.
func uncounted(d budget.Declaration) model {
	m := model{
		Budget:   types.StringValue(d.Name),
		Enforced: types.ListNull(types.StringType), ByNamespace: types.MapNull(types.StringType), ByLabel: types.MapNull(hoursType),
	}
	if limit, err := d.Limit(); err == nil {
		m.Limit = hours(limit)
	}
	return m
}

func newModel(s budget.Status) model {
	u := s.Usage
	return model{
		Budget: types.StringValue(s.Name), AsOf: values.OfTime(s.At), Generation: types.Int64Value(s.Generation),
		Limit: hours(u.Limit), Used: hours(u.Consumed), Remaining: hours(u.Remaining()),
		Estimated: hours(u.Estimated), ErrorBound: hours(u.ErrorBound),
		Coverage: thousandths(int64(u.Coverage)), BurnRate: thousandths(u.BurnRate),
		Exceeded: types.BoolValue(u.Exceeded()), ExceededSince: moment(s.ExceededSince), ProjectedExhaustion: moment(u.ProjectedExhaustion),
		RecoversAt:  notBefore(u.RecoversAt),
		TrackedPods: types.Int64Value(int64(u.TrackedPods)), ActivePods: types.Int64Value(int64(u.ActivePods)),
		WindowStart: values.OfTime(u.WindowStart), WindowEnd: values.OfTime(u.WindowEnd),
		EnforceAt: moment(s.EnforceAt), Enforced: measures(s.Enforced), ByNamespace: breakdown(u.ByNamespace), ByLabel: breakdowns(u.ByLabel),
	}
}

func hours(amount int64) types.String { return types.StringValue(budget.Hours(amount)) }

// thousandths returns n thousandths as an exact decimal.
func thousandths(n int64) types.Number {
	text := big.NewRat(n, 1000).FloatString(3)
	f, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
	if err != nil {
		return types.NumberNull()
	}
	return types.NumberValue(f)
}

func moment(t *time.Time) types.String {
	if t == nil {
		return types.StringNull()
	}
	return values.OfTime(*t)
}

// notBefore rounds a time up to a whole second.
func notBefore(t *time.Time) types.String {
	if t == nil {
		return types.StringNull()
	}
	return values.OfTime(t.Add(time.Second - 1).Truncate(time.Second))
}

func measures(actions []budget.Action) types.List {
	all := make([]attr.Value, len(actions))
	for n, a := range actions {
		all[n] = types.StringValue(string(a))
	}
	return types.ListValueMust(types.StringType, all)
}

func breakdown(amounts map[string]int64) types.Map {
	all := make(map[string]attr.Value, len(amounts))
	for name, amount := range amounts {
		all[name] = hours(amount)
	}
	return types.MapValueMust(types.StringType, all)
}

func breakdowns(labels map[string]map[string]int64) types.Map {
	all := make(map[string]attr.Value, len(labels))
	for key, amounts := range labels {
		all[key] = breakdown(amounts)
	}
	return types.MapValueMust(hoursType, all)
}
