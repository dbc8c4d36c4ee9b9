// Package stockpooldata is the data source gpupool_stock_pool: the status of a stock pool. The
// resource of the same name omits it, since every plan would show each pod that comes or goes.
package stockpooldata

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

var _ datasource.DataSourceWithConfigure = (*stockDataSource)(nil)

type stockDataSource struct{ kit.DataSource }

// NewDataSource returns the data source gpupool_stock_pool.
func NewDataSource() datasource.DataSource {
	return &stockDataSource{kit.DataSource{Type: "gpupool_stock_pool"}}
}

func (s *stockDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Current status of a stock pool.",
		Attributes: map[string]schema.Attribute{
			"name":           schema.StringAttribute{Required: true, MarkdownDescription: "Name of the stock pool."},
			"namespace":      schema.StringAttribute{Required: true, MarkdownDescription: "Namespace of the stock pool."},
			"uid":            kit.ComputedText("Random identifier of the stock pool."),
			"generation":     kit.ComputedWhole("Version of the pool's declaration, starting at 1."),
			"deployment_uid": kit.ComputedText("UID of the pool's Deployment."),
			"phase": kit.ComputedText("Phase of the pool. `Pending`: no pod is ready yet. `Progressing`: a rollout is in progress. `Ready`: all " +
				"desired pods are ready. `Degraded`: something is missing, and no rollout is in progress. `Pausing` and `Paused`: a budget has " +
				"scaled it to zero, and pods still hold GPUs, or none does."),
			"desired":   kit.ComputedWhole("Number of desired pods."),
			"replicas":  kit.ComputedWhole("Number of pods."),
			"allocated": kit.ComputedWhole("Number of pods in use."),
			"available": kit.ComputedWhole("Number of pods that are ready and not in use."),
			"waiting": kit.ComputedWhole("Number of pods that are pending because no node has room. The condition `Scheduled` has the reason, and which " +
				"spot pool could grow."),
			"observed_generation": kit.ComputedWhole("Generation of the declaration that was last applied."),
			"synced_at":           kit.ComputedText("Time at which the Deployment was last in sync, in UTC (RFC 3339)."),
			"conditions": schema.ListNestedAttribute{
				Computed: true,
				MarkdownDescription: "Conditions: `Synced`, `WithinBudget`, `Scheduled`, `Started` and `RolledOut`, and `Stocked` with " +
					"`replicas_policy = \"available\"`.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"type":    kit.ComputedText("Type of the condition."),
					"status":  kit.ComputedText("`True`, `False` or `Unknown`."),
					"reason":  kit.ComputedText("Reason as one word."),
					"message": kit.ComputedText("Message for people."),
				}},
			},
		},
	}
}

func (s *stockDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	key := m.Namespace.ValueString() + "/" + m.Name.ValueString()
	state, err := s.look(ctx, m.Namespace.ValueString(), m.Name.ValueString())
	if err != nil {
		resp.Diagnostics.Append(connection.Error(reason.Reading(reason.Object("stock_pool/"+key)), err))
		return
	}
	kit.Warn(&resp.Diagnostics, reason.ObjectObserved, "stock_pool/"+key, state.Warnings)
	resp.Diagnostics.Append(resp.State.Set(ctx, newModel(state))...)
}

func (s *stockDataSource) look(ctx context.Context, namespace, name string) (stockpools.State, error) {
	reader, err := s.Connection.ReadStockPools(ctx)
	if err != nil {
		return stockpools.State{}, err
	}
	d, err := reader.Find(ctx, namespace, name)
	if err != nil {
		return stockpools.State{}, err
	}
	if d.UID == "" {
		return stockpools.State{}, fmt.Errorf("the Deployment %s/%s exists, but this store has no stock pool of that name", namespace, name)
	}
	state, err := reader.View(ctx, d)
	if err == nil && state.Destroyed {
		err = fmt.Errorf("the stock pool %s was destroyed", d.Key())
	}
	return state, err
}

type model struct {
	Name               types.String `tfsdk:"name"`
	Namespace          types.String `tfsdk:"namespace"`
	UID                types.String `tfsdk:"uid"`
	Generation         types.Int64  `tfsdk:"generation"`
	DeploymentUID      types.String `tfsdk:"deployment_uid"`
	Phase              types.String `tfsdk:"phase"`
	Desired            types.Int64  `tfsdk:"desired"`
	Replicas           types.Int64  `tfsdk:"replicas"`
	Allocated          types.Int64  `tfsdk:"allocated"`
	Available          types.Int64  `tfsdk:"available"`
	Waiting            types.Int64  `tfsdk:"waiting"`
	ObservedGeneration types.Int64  `tfsdk:"observed_generation"`
	SyncedAt           types.String `tfsdk:"synced_at"`
	Conditions         []condition  `tfsdk:"conditions"`
}

type condition struct {
	Type    types.String `tfsdk:"type"`
	Status  types.String `tfsdk:"status"`
	Reason  types.String `tfsdk:"reason"`
	Message types.String `tfsdk:"message"`
}

func newModel(state stockpools.State) model {
	d, s := state.Declaration, state.Status
	m := model{
		Name: types.StringValue(d.Name), Namespace: types.StringValue(d.Namespace), UID: types.StringValue(d.UID), Generation: types.Int64Value(d.Generation),
		DeploymentUID: values.OfText(s.DeploymentUID), Phase: values.OfText(string(s.Phase)), Desired: number(s.Desired), Replicas: number(s.Replicas),
		Allocated: number(s.Allocated), Available: number(s.Available), Waiting: number(s.Waiting), ObservedGeneration: types.Int64Value(s.ObservedGeneration),
		SyncedAt:   values.OfTime(s.SyncedAt),
		Conditions: make([]condition, len(s.Conditions)),
	}
	for n, c := range s.Conditions {
		m.Conditions[n] = condition{types.StringValue(c.Type), types.StringValue(c.Status), values.OfText(c.Reason), values.OfText(c.Text())}
	}
	return m
}

func number(n int) types.Int64 { return types.Int64Value(int64(n)) }
