// Package spotpooldata is the data source gpupool_spot_pool: a pool's numbers and instances. The
// resource does not list instances, since every plan would show each reclaimed one.
package spotpooldata

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

var _ datasource.DataSourceWithConfigure = (*poolDataSource)(nil)

type poolDataSource struct{ kit.DataSource }

// NewDataSource returns the data source gpupool_spot_pool.
func NewDataSource() datasource.DataSource {
	return &poolDataSource{kit.DataSource{Type: "gpupool_spot_pool"}}
}

func (s *poolDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	state, err := s.observe(ctx, m.Region.ValueString(), m.Name.ValueString())
	if err != nil {
		resp.Diagnostics.Append(connection.Error(reason.Reading(reason.Object("spot_pool/"+m.Name.ValueString())), err))
		return
	}
	if !state.Recorded {
		resp.Diagnostics.Append(s.Connection.LostStore()...)
	}
	kit.Warn(&resp.Diagnostics, reason.ObjectObserved, state.Declaration.Object(), state.AllWarnings())
	resp.Diagnostics.Append(resp.State.Set(ctx, newModel(state))...)
}

func (s *poolDataSource) observe(ctx context.Context, region, name string) (spotpools.State, error) {
	reader, err := s.Connection.ReadSpotPools(ctx)
	if err == nil && region == "" {
		region, err = s.Connection.Region(ctx)
	}
	if err != nil {
		return spotpools.State{}, err
	}
	d, err := reader.Find(ctx, region, name)
	if err != nil {
		return spotpools.State{}, err
	}
	state, err := reader.View(ctx, d)
	if err == nil && state.Destroyed {
		err = fmt.Errorf("the spot pool %s was destroyed", d.Key())
	}
	if err == nil {
		err = state.Declaration.CheckCurrency(state.Observation.Currency)
	}
	return state, err
}

type model struct {
	Name        types.String `tfsdk:"name"`
	Region      types.String `tfsdk:"region"`
	UID         types.String `tfsdk:"uid"`
	AccountID   types.String `tfsdk:"account_id"`
	Currency    types.String `tfsdk:"currency"`
	Generation  types.Int64  `tfsdk:"generation"`
	Minimum     types.Int64  `tfsdk:"minimum"`
	Maximum     types.Int64  `tfsdk:"maximum"`
	Capacity    types.Int64  `tfsdk:"capacity"`
	Total       types.Int64  `tfsdk:"total"`
	Shortfall   types.Int64  `tfsdk:"shortfall"`
	Drifted     types.Int64  `tfsdk:"drifted"`
	HourlyPrice types.String `tfsdk:"estimated_hourly_price"`
	Machines    []machine    `tfsdk:"machines"`
}

type machine struct {
	InstanceID       types.String `tfsdk:"instance_id"`
	AvailabilityZone types.String `tfsdk:"availability_zone"`
	InstanceType     types.String `tfsdk:"instance_type"`
	ChargeType       types.String `tfsdk:"charge_type"`
	State            types.String `tfsdk:"state"`
	PrivateIP        types.String `tfsdk:"private_ip"`
	PublicIP         types.String `tfsdk:"public_ip"`
	LaunchedAt       types.String `tfsdk:"launched_at"`
	Drifted          types.Bool   `tfsdk:"drifted"`
	Node             types.String `tfsdk:"node"`
	NodeHealth       types.String `tfsdk:"node_health"`
	GPUPods          types.Int64  `tfsdk:"gpu_pods"`
	Drain            *drain       `tfsdk:"drain"`
}

func newModel(state spotpools.State) model {
	d, p := state.Declaration, state.Plan
	m := model{
		Name: types.StringValue(d.Name), Region: types.StringValue(d.Region), UID: types.StringValue(d.UID),
		AccountID: types.StringValue(d.AccountID), Currency: values.OfText(string(p.Currency)), Generation: types.Int64Value(d.Generation),
		Minimum: number(d.Minimum), Maximum: number(d.Maximum), Capacity: number(p.Capacity),
		Total: number(p.Total), Shortfall: number(p.Shortfall), Drifted: number(p.Drifted),
		HourlyPrice: types.StringValue(p.HourlyPrice.String()),
		Machines:    make([]machine, len(p.Members)),
	}
	for n, i := range p.Members {
		m.Machines[n] = newMachine(i)
	}
	return m
}

func newMachine(i decide.Member) machine {
	return machine{
		InstanceID: types.StringValue(i.ID), AvailabilityZone: types.StringValue(i.AvailabilityZone),
		InstanceType: types.StringValue(i.InstanceType), ChargeType: types.StringValue(string(i.ChargeType)),
		State: types.StringValue(string(i.State)), PrivateIP: values.OfText(i.PrivateIP), PublicIP: values.OfText(i.PublicIP),
		LaunchedAt: values.OfTime(i.LaunchedAt), Drifted: types.BoolValue(i.Drifted),
		Node: values.OfText(i.Node.Name), NodeHealth: values.OfText(string(i.Health)), GPUPods: gpuPods(i), Drain: newDrain(i.Drain),
	}
}

func number(n int) types.Int64 { return types.Int64Value(int64(n)) }
