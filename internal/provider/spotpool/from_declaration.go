package spotpool

import (
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/timeouts"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// imported is the state of a pool that was found for an import.
func imported(d core.Declaration) model {
	m := model{
		DataDisks: types.ListNull(types.ObjectType{AttrTypes: diskTypes}),
		Tags:      types.MapNull(types.StringType),
		Timeouts:  timeouts.None(),
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
	m.MaxHourlyCost = values.UnlessChanged(m.MaxHourlyCost, priceValue(d.MaxHourlyCost), was.MaxHourlyCost == d.MaxHourlyCost)
	m.MaxLaunchesPerRun = types.Int64Value(int64(d.MaxLaunchesPerRun))
	m.OnDemandBase = types.Int64Value(int64(d.OnDemandBase))
	m.OnDemandFallback = values.UnlessChanged(m.OnDemandFallback, fallbackValue(d.OnDemandFallback), reflect.DeepEqual(was.OnDemandFallback, d.OnDemandFallback))
	m.Offerings = offeringsValue(m.Offerings, was.Offerings, d.Offerings)
	m.AllocationStrategy = types.StringValue(string(d.AllocationStrategy))
	m.InstanceChargeType = types.StringValue(string(d.InstanceChargeType))
	m.LaunchTimeout = values.UnlessChanged(m.LaunchTimeout, types.StringValue(d.LaunchTimeout.String()), was.LaunchTimeout == d.LaunchTimeout)
	m.Cooldown = values.UnlessChanged(m.Cooldown, types.StringValue(d.Cooldown.String()), was.Cooldown == d.Cooldown)
	m.Refresh = refreshValue(d.Refresh)
	m.Budget = values.UnlessChanged(m.Budget, values.OfText(d.Budget), was.Budget == d.Budget)
	m.DeletionProtection = types.BoolValue(d.DeletionProtection)
	m.OnDestroy = types.StringValue(string(d.OnDestroy))
	return m.configured(was.Configuration, d.Configuration)
}

// configured is declared for what each instance is launched with.
func (m model) configured(was, c core.Configuration) model {
	m.VPCID, m.ImageID = values.OfText(c.VPCID), values.OfText(c.ImageID)
	m.SecurityGroupIDs = values.UnlessChanged(m.SecurityGroupIDs, values.OfTexts(c.SecurityGroupIDs), reflect.DeepEqual(was.SecurityGroupIDs, c.SecurityGroupIDs))
	m.KeyIDs = values.UnlessChanged(m.KeyIDs, values.OfTexts(c.KeyIDs), reflect.DeepEqual(was.KeyIDs, c.KeyIDs))
	m.SystemDisk = diskValue(c.SystemDisk)
	m.DataDisks = values.UnlessChanged(m.DataDisks, disksValue(c.DataDisks), reflect.DeepEqual(was.DataDisks, c.DataDisks))
	m.Internet = values.UnlessChanged(m.Internet, internetValue(c.Internet), reflect.DeepEqual(was.Internet, c.Internet))
	m.UserData = values.UnlessChanged(m.UserData, values.OfText(c.UserData), was.UserData == c.UserData)
	m.CamRoleName = values.UnlessChanged(m.CamRoleName, values.OfText(c.CamRoleName), was.CamRoleName == c.CamRoleName)
	m.ProjectID = types.Int64Value(c.ProjectID)
	m.Tags = values.UnlessChanged(m.Tags, values.OfTextMap(c.Tags), reflect.DeepEqual(was.Tags, c.Tags))
	return m
}

func priceValue(p core.Price) types.String {
	if p == 0 {
		return types.StringNull()
	}
	return types.StringValue(p.String())
}

func offeringsValue(before types.List, was, now []core.Offering) types.List {
	elements := before.Elements()
	offered := make([]attr.Value, len(now))
	for n, o := range now {
		price := priceValue(o.MaxPrice)
		if n < len(was) && n < len(elements) {
			price = values.UnlessChanged(values.FieldsOf(elements[n]).Text("max_price"), price, was[n].MaxPrice == o.MaxPrice)
		}
		offered[n] = types.ObjectValueMust(offeringTypes, map[string]attr.Value{
			"availability_zone": types.StringValue(o.AvailabilityZone), "instance_type": types.StringValue(o.InstanceType),
			"subnet_id": values.OfText(o.SubnetID), "max_price": price,
		})
	}
	return types.ListValueMust(types.ObjectType{AttrTypes: offeringTypes}, offered)
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
		"max_bandwidth_out": types.Int64Value(i.MaxBandwidthOut), "charge_type": values.OfText(i.ChargeType),
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
