package spotpool

import (
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// imported is the state of a pool that was found for an import.
func imported(d core.Declaration) model {
	m := model{
		DataDisks: types.ListNull(types.ObjectType{AttrTypes: diskTypes}),
		Tags:      types.MapNull(types.StringType),
		Timeouts:  timeouts.Value{Object: types.ObjectNull(timeoutTypes)},
		Offerings: types.ListNull(types.ObjectType{AttrTypes: offeringTypes}),
		KeyIDs:    types.ListNull(types.StringType), SecurityGroupIDs: types.ListNull(types.StringType),
		OnDemandFallback: types.ObjectNull(fallbackTypes), Refresh: types.ObjectNull(refreshTypes),
		SystemDisk: types.ObjectNull(diskTypes), Internet: types.ObjectNull(internetTypes),
		PlannedActions: noActions,
	}
	m = m.declared(d)
	m.Region = types.StringValue(d.Region)
	m.UID, m.AccountID = types.StringValue(d.UID), types.StringValue(d.AccountID)
	m.Generation = types.Int64Value(d.Generation)
	m.Capacity = types.Int64Value(0) // until Read, which Terraform calls next
	return m
}

// declared replaces the values that say something else than d. Those that say
// the same stay as they were written: "3.5" for 3.50, null for no tags.
func (m model) declared(d core.Declaration) model {
	var unread diag.Diagnostics // a value that can't be read is replaced
	was := m.declaration(&unread)
	m.Name, m.Region = types.StringValue(d.Name), types.StringValue(d.Region)
	m.Minimum, m.Maximum = types.Int64Value(int64(d.Minimum)), types.Int64Value(int64(d.Maximum))
	m.MaxHourlyCost = unlessChanged(m.MaxHourlyCost, priceValue(d.MaxHourlyCost), was.MaxHourlyCost == d.MaxHourlyCost)
	m.MaxLaunchesPerRun = types.Int64Value(int64(d.MaxLaunchesPerRun))
	m.OnDemandBase = types.Int64Value(int64(d.OnDemandBase))
	m.OnDemandFallback = unlessChanged(m.OnDemandFallback, fallbackValue(d.OnDemandFallback), reflect.DeepEqual(was.OnDemandFallback, d.OnDemandFallback))
	m.Offerings = offeringsValue(m.Offerings, was.Offerings, d.Offerings)
	m.AllocationStrategy = types.StringValue(string(d.AllocationStrategy))
	m.InstanceChargeType = types.StringValue(string(d.InstanceChargeType))
	m.LaunchTimeout = unlessChanged(m.LaunchTimeout, types.StringValue(d.LaunchTimeout.String()), was.LaunchTimeout == d.LaunchTimeout)
	m.Cooldown = unlessChanged(m.Cooldown, types.StringValue(d.Cooldown.String()), was.Cooldown == d.Cooldown)
	m.Refresh = refreshValue(d.Refresh)
	m.Budget = unlessChanged(m.Budget, textValue(d.Budget), was.Budget == d.Budget)
	m.DeletionProtection = types.BoolValue(d.DeletionProtection)
	m.OnDestroy = types.StringValue(string(d.OnDestroy))
	return m.configured(was.Configuration, d.Configuration)
}

// configured is declared for what each instance is launched with.
func (m model) configured(was, c core.Configuration) model {
	m.VPCID, m.ImageID = textValue(c.VPCID), textValue(c.ImageID)
	m.SecurityGroupIDs = unlessChanged(m.SecurityGroupIDs, textsValue(c.SecurityGroupIDs), reflect.DeepEqual(was.SecurityGroupIDs, c.SecurityGroupIDs))
	m.KeyIDs = unlessChanged(m.KeyIDs, textsValue(c.KeyIDs), reflect.DeepEqual(was.KeyIDs, c.KeyIDs))
	m.SystemDisk = diskValue(c.SystemDisk)
	m.DataDisks = unlessChanged(m.DataDisks, disksValue(c.DataDisks), reflect.DeepEqual(was.DataDisks, c.DataDisks))
	m.Internet = unlessChanged(m.Internet, internetValue(c.Internet), reflect.DeepEqual(was.Internet, c.Internet))
	m.UserData = unlessChanged(m.UserData, textValue(c.UserData), was.UserData == c.UserData)
	m.CamRoleName = unlessChanged(m.CamRoleName, textValue(c.CamRoleName), was.CamRoleName == c.CamRoleName)
	m.ProjectID = types.Int64Value(c.ProjectID)
	m.Tags = unlessChanged(m.Tags, tagsValue(c.Tags), reflect.DeepEqual(was.Tags, c.Tags))
	return m
}

// unlessChanged is the value as it was written, if it says the same as the new one. A
// value that was never there says nothing.
func unlessChanged[V attr.Value](was, now V, same bool) V {
	if same && !(was.IsNull() && !now.IsNull()) {
		return was
	}
	return now
}

func textValue(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}

func priceValue(p core.Price) types.String {
	if p == 0 {
		return types.StringNull()
	}
	return types.StringValue(p.String())
}

func textsValue(list []string) types.List {
	if len(list) == 0 {
		return types.ListNull(types.StringType)
	}
	values := make([]attr.Value, len(list))
	for n, s := range list {
		values[n] = types.StringValue(s)
	}
	return types.ListValueMust(types.StringType, values)
}

func tagsValue(tags map[string]string) types.Map {
	if len(tags) == 0 {
		return types.MapNull(types.StringType)
	}
	values := make(map[string]attr.Value, len(tags))
	for key, value := range tags {
		values[key] = types.StringValue(value)
	}
	return types.MapValueMust(types.StringType, values)
}

func offeringsValue(before types.List, was, now []core.Offering) types.List {
	elements := before.Elements()
	values := make([]attr.Value, len(now))
	for n, o := range now {
		price := priceValue(o.MaxPrice)
		if n < len(was) && n < len(elements) {
			price = unlessChanged(fieldsOf(elements[n]).text("max_price"), price, was[n].MaxPrice == o.MaxPrice)
		}
		values[n] = types.ObjectValueMust(offeringTypes, map[string]attr.Value{
			"availability_zone": types.StringValue(o.AvailabilityZone), "instance_type": types.StringValue(o.InstanceType),
			"subnet_id": textValue(o.SubnetID), "max_price": price,
		})
	}
	return types.ListValueMust(types.ObjectType{AttrTypes: offeringTypes}, values)
}

func diskValue(d *core.Disk) types.Object {
	if d == nil {
		return types.ObjectNull(diskTypes)
	}
	return types.ObjectValueMust(diskTypes, map[string]attr.Value{
		"type": types.StringValue(d.Type), "size": types.Int64Value(d.Size),
	})
}

func disksValue(list []core.Disk) types.List {
	of := types.ObjectType{AttrTypes: diskTypes}
	if len(list) == 0 {
		return types.ListNull(of)
	}
	values := make([]attr.Value, len(list))
	for n := range list {
		values[n] = diskValue(&list[n])
	}
	return types.ListValueMust(of, values)
}

func internetValue(i *core.Internet) types.Object {
	if i == nil {
		return types.ObjectNull(internetTypes)
	}
	return types.ObjectValueMust(internetTypes, map[string]attr.Value{
		"max_bandwidth_out": types.Int64Value(i.MaxBandwidthOut), "charge_type": textValue(i.ChargeType),
	})
}

func fallbackValue(f *core.OnDemandFallback) types.Object {
	if f == nil {
		return types.ObjectNull(fallbackTypes)
	}
	return types.ObjectValueMust(fallbackTypes, map[string]attr.Value{
		"after": types.StringValue(f.After.String()), "maximum": types.Int64Value(int64(f.Maximum)),
	})
}

func refreshValue(r core.Refresh) types.Object {
	return types.ObjectValueMust(refreshTypes, map[string]attr.Value{
		"strategy":  types.StringValue(string(r.Strategy)),
		"max_surge": types.Int64Value(int64(r.MaxSurge)), "max_unavailable": types.Int64Value(int64(r.MaxUnavailable)),
	})
}
