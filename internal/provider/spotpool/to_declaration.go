package spotpool

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// declaration reads the values as a declaration. What is null gets its default.
// What is unknown gets its default too, or a value that fits any other: a caller
// that meets unknown values must not judge them. A price or duration that can't
// be read is reported.
func (m model) declaration(diags *diag.Diagnostics) core.Declaration {
	r := reader{diags}
	return core.Declaration{
		Name: m.Name.ValueString(), Region: m.Region.ValueString(), UID: m.UID.ValueString(),
		AccountID: m.AccountID.ValueString(), Generation: m.Generation.ValueInt64(),
		Minimum:            values.Number(m.Minimum, 0),
		Maximum:            values.Number(m.Maximum, core.MaxPoolSize),
		Offerings:          r.offerings(m.Offerings),
		AllocationStrategy: core.AllocationStrategy(values.Text(m.AllocationStrategy, string(core.Priority))),
		InstanceChargeType: core.ChargeType(values.Text(m.InstanceChargeType, string(core.Spot))),
		Configuration:      m.configuration(),
		MaxHourlyCost:      r.price(path.Root("max_hourly_cost"), m.MaxHourlyCost),
		LaunchTimeout:      r.duration(path.Root("launch_timeout"), m.LaunchTimeout, core.DefaultLaunchTimeout),
		Cooldown:           r.duration(path.Root("cooldown"), m.Cooldown, core.DefaultCooldown),
		MaxLaunchesPerRun:  values.Number(m.MaxLaunchesPerRun, core.DefaultMaxLaunchesPerRun),
		OnDemandBase:       values.Number(m.OnDemandBase, 0),
		OnDemandFallback:   r.fallback(m.OnDemandFallback),
		Refresh:            refreshOf(m.Refresh),
		Budget:             m.Budget.ValueString(),
		DeletionProtection: m.DeletionProtection.ValueBool(),
		OnDestroy:          core.OnDestroy(values.Text(m.OnDestroy, string(core.DestroyTerminate))),
	}
}

func (m model) configuration() core.Configuration {
	return core.Configuration{
		VPCID: m.VPCID.ValueString(), SecurityGroupIDs: values.Texts(m.SecurityGroupIDs),
		ImageID: m.ImageID.ValueString(), KeyIDs: values.Texts(m.KeyIDs),
		SystemDisk: diskOf(m.SystemDisk), DataDisks: disksOf(m.DataDisks), Internet: internetOf(m.Internet),
		UserData: m.UserData.ValueString(), CamRoleName: m.CamRoleName.ValueString(),
		ProjectID: m.ProjectID.ValueInt64(), Tags: values.TextMap(m.Tags),
	}
}

// reader reads strings that have a form, and reports those that don't have it.
type reader struct{ diags *diag.Diagnostics }

func (r reader) price(at path.Path, v types.String) core.Price {
	if v.IsNull() || v.IsUnknown() {
		return 0
	}
	p, err := core.ParsePrice(v.ValueString())
	if err != nil {
		r.diags.AddAttributeError(at, "Not a price", err.Error()+".")
	}
	return p
}

func (r reader) duration(at path.Path, v types.String, absent core.Duration) core.Duration {
	if v.IsNull() || v.IsUnknown() {
		return absent
	}
	d, err := core.ParseDuration(v.ValueString())
	if err != nil {
		r.diags.AddAttributeError(at, "Not a duration", err.Error()+".")
		return absent
	}
	return d
}

func (r reader) offerings(list types.List) []core.Offering {
	elements := list.Elements()
	if len(elements) == 0 {
		return nil
	}
	offerings := make([]core.Offering, len(elements))
	for n, element := range elements {
		o := values.FieldsOf(element)
		offerings[n] = core.Offering{
			AvailabilityZone: o.Text("availability_zone").ValueString(),
			InstanceType:     o.Text("instance_type").ValueString(),
			SubnetID:         o.Text("subnet_id").ValueString(),
			MaxPrice:         r.price(path.Root("offerings").AtListIndex(n).AtName("max_price"), o.Text("max_price")),
		}
	}
	return offerings
}

func (r reader) fallback(v types.Object) *core.OnDemandFallback {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	o := values.FieldsOf(v)
	return &core.OnDemandFallback{
		After:   r.duration(path.Root("on_demand_fallback").AtName("after"), o.Text("after"), core.DefaultFallbackAfter),
		Maximum: values.Number(o.Number("maximum"), 1),
	}
}

func refreshOf(v types.Object) core.Refresh {
	o := values.FieldsOf(v)
	return core.Refresh{
		Strategy:       core.RefreshStrategy(values.Text(o.Text("strategy"), string(core.RefreshNone))),
		MaxSurge:       values.Number(o.Number("max_surge"), defaultMaxSurge),
		MaxUnavailable: values.Number(o.Number("max_unavailable"), 0),
	}
}

func internetOf(v types.Object) *core.Internet {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	o := values.FieldsOf(v)
	return &core.Internet{MaxBandwidthOut: o.Number("max_bandwidth_out").ValueInt64(), ChargeType: o.Text("charge_type").ValueString()}
}

func diskOf(v types.Object) *core.Disk {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	disk := readDisk(v)
	return &disk
}

func disksOf(list types.List) []core.Disk {
	var disks []core.Disk
	for _, element := range list.Elements() {
		disks = append(disks, readDisk(element))
	}
	return disks
}

func readDisk(v attr.Value) core.Disk {
	o := values.FieldsOf(v)
	return core.Disk{Type: o.Text("type").ValueString(), Size: o.Number("size").ValueInt64()}
}
