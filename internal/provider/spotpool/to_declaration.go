package spotpool

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

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
		Minimum:            number(m.Minimum, 0),
		Maximum:            number(m.Maximum, core.MaxPoolSize),
		Offerings:          r.offerings(m.Offerings),
		AllocationStrategy: core.AllocationStrategy(text(m.AllocationStrategy, string(core.Priority))),
		InstanceChargeType: core.ChargeType(text(m.InstanceChargeType, string(core.Spot))),
		Configuration:      m.configuration(),
		MaxHourlyCost:      r.price(path.Root("max_hourly_cost"), m.MaxHourlyCost),
		LaunchTimeout:      r.duration(path.Root("launch_timeout"), m.LaunchTimeout, core.DefaultLaunchTimeout),
		Cooldown:           r.duration(path.Root("cooldown"), m.Cooldown, core.DefaultCooldown),
		MaxLaunchesPerRun:  number(m.MaxLaunchesPerRun, core.DefaultMaxLaunchesPerRun),
		OnDemandBase:       number(m.OnDemandBase, 0),
		OnDemandFallback:   r.fallback(m.OnDemandFallback),
		Refresh:            refreshOf(m.Refresh),
		Budget:             m.Budget.ValueString(),
		DeletionProtection: m.DeletionProtection.ValueBool(),
		OnDestroy:          core.OnDestroy(text(m.OnDestroy, string(core.DestroyTerminate))),
	}
}

func (m model) configuration() core.Configuration {
	return core.Configuration{
		VPCID: m.VPCID.ValueString(), SecurityGroupIDs: texts(m.SecurityGroupIDs),
		ImageID: m.ImageID.ValueString(), KeyIDs: texts(m.KeyIDs),
		SystemDisk: diskOf(m.SystemDisk), DataDisks: disksOf(m.DataDisks), Internet: internetOf(m.Internet),
		UserData: m.UserData.ValueString(), CamRoleName: m.CamRoleName.ValueString(),
		ProjectID: m.ProjectID.ValueInt64(), Tags: tagsOf(m.Tags),
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
		r.diags.AddAttributeError(at, "Not a price", capital(err.Error()))
	}
	return p
}

func (r reader) duration(at path.Path, v types.String, absent core.Duration) core.Duration {
	if v.IsNull() || v.IsUnknown() {
		return absent
	}
	d, err := core.ParseDuration(v.ValueString())
	if err != nil {
		r.diags.AddAttributeError(at, "Not a duration", capital(err.Error()))
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
		o := fieldsOf(element)
		offerings[n] = core.Offering{
			AvailabilityZone: o.text("availability_zone").ValueString(),
			InstanceType:     o.text("instance_type").ValueString(),
			SubnetID:         o.text("subnet_id").ValueString(),
			MaxPrice:         r.price(path.Root("offerings").AtListIndex(n).AtName("max_price"), o.text("max_price")),
		}
	}
	return offerings
}

func (r reader) fallback(v types.Object) *core.OnDemandFallback {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	o := fieldsOf(v)
	return &core.OnDemandFallback{
		After:   r.duration(path.Root("on_demand_fallback").AtName("after"), o.text("after"), core.DefaultFallbackAfter),
		Maximum: number(o.number("maximum"), 1),
	}
}

func refreshOf(v types.Object) core.Refresh {
	o := fieldsOf(v)
	return core.Refresh{
		Strategy:       core.RefreshStrategy(text(o.text("strategy"), string(core.RefreshNone))),
		MaxSurge:       number(o.number("max_surge"), defaultMaxSurge),
		MaxUnavailable: number(o.number("max_unavailable"), 0),
	}
}

func internetOf(v types.Object) *core.Internet {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	o := fieldsOf(v)
	return &core.Internet{MaxBandwidthOut: o.number("max_bandwidth_out").ValueInt64(), ChargeType: o.text("charge_type").ValueString()}
}

func diskOf(v types.Object) *core.Disk {
	if v.IsNull() || v.IsUnknown() {
		return nil
	}
	o := fieldsOf(v)
	return &core.Disk{Type: o.text("type").ValueString(), Size: o.number("size").ValueInt64()}
}

func disksOf(list types.List) []core.Disk {
	var disks []core.Disk
	for _, element := range list.Elements() {
		o := fieldsOf(element)
		disks = append(disks, core.Disk{Type: o.text("type").ValueString(), Size: o.number("size").ValueInt64()})
	}
	return disks
}

func tagsOf(m types.Map) map[string]string {
	var tags map[string]string
	for key, element := range m.Elements() {
		if tags == nil {
			tags = map[string]string{}
		}
		value, _ := element.(types.String)
		tags[key] = value.ValueString()
	}
	return tags
}

func texts(list types.List) []string {
	var all []string
	for _, element := range list.Elements() {
		s, _ := element.(types.String)
		all = append(all, s.ValueString())
	}
	return all
}

// fields are the values of an object; none of one that is null or unknown.
type fields map[string]attr.Value

func fieldsOf(v attr.Value) fields {
	o, ok := v.(types.Object)
	if !ok {
		return nil
	}
	return o.Attributes()
}

func (f fields) text(name string) types.String {
	v, _ := f[name].(types.String)
	return v
}

func (f fields) number(name string) types.Int64 {
	v, _ := f[name].(types.Int64)
	return v
}

// text is a value, or the default of one that is null or unknown.
func text(v types.String, absent string) string {
	if v.IsNull() || v.IsUnknown() {
		return absent
	}
	return v.ValueString()
}

func number(v types.Int64, unknown int) int {
	if v.IsNull() || v.IsUnknown() {
		return unknown
	}
	return int(v.ValueInt64())
}

func capital(s string) string { return fmt.Sprintf("%s.", s) }
