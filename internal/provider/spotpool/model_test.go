package spotpool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"pgregory.net/rapid"

	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// declarations draws declarations with every attribute set or left out.
func declarations() *rapid.Generator[core.Declaration] {
	word := rapid.StringMatching(`[a-z][a-z0-9-]{0,8}[a-z0-9]`)
	price := rapid.Map(rapid.Int64Range(0, 9_000_000), func(n int64) core.Price { return core.Price(n) })
	duration := rapid.Map(rapid.Int64Range(1, 100_000), func(n int64) core.Duration { return core.Duration(time.Duration(n) * time.Second) })
	count := rapid.IntRange(0, 50)
	disk := rapid.Custom(func(t *rapid.T) core.DataDisk {
		return core.DataDisk{Type: rapid.SampledFrom([]string{"CLOUD_BSSD", "CLOUD_SSD"}).Draw(t, "type"), Size: rapid.Int64Range(20, 500).Draw(t, "size")}
	})
	offering := rapid.Custom(func(t *rapid.T) core.Offering {
		return core.Offering{
			AvailabilityZone: word.Draw(t, "zone"), InstanceType: word.Draw(t, "instance type"),
			SubnetID: word.Draw(t, "subnet"), SpotMaxPrice: price.Draw(t, "max price"),
		}
	})
	return rapid.Custom(func(t *rapid.T) core.Declaration {
		d := core.Declaration{
			Name: word.Draw(t, "name"), Region: word.Draw(t, "region"), UID: word.Draw(t, "uid"),
			AccountID: word.Draw(t, "account"), Generation: rapid.Int64Range(1, 99).Draw(t, "generation"),
			Minimum: count.Draw(t, "minimum"), Maximum: count.Draw(t, "maximum"),
			Offerings:          rapid.SliceOfN(offering, 1, 4).Draw(t, "offerings"),
			AllocationStrategy: rapid.SampledFrom([]core.AllocationStrategy{core.Priority, core.LowestPrice, core.Balanced}).Draw(t, "strategy"),
			InstanceChargeType: rapid.SampledFrom([]core.ChargeType{core.Spot, core.OnDemand}).Draw(t, "charge type"),
			MaxHourlyCost:      price.Draw(t, "cost"), LaunchTimeout: duration.Draw(t, "launch timeout"),
			Cooldown: duration.Draw(t, "cooldown"), MaxLaunchesPerRun: count.Draw(t, "launches"), OnDemandBase: count.Draw(t, "base"),
			Refresh: core.Refresh{
				Strategy: rapid.SampledFrom([]core.RefreshStrategy{core.RefreshNone, core.RefreshRolling}).Draw(t, "refresh"),
				MaxSurge: count.Draw(t, "surge"), MaxUnavailable: count.Draw(t, "unavailable"),
			},
			OnBudgetExceeded:   rapid.SampledFrom([]core.OnBudgetExceeded{core.ExceededKeep, core.ExceededDrain}).Draw(t, "on budget exceeded"),
			BudgetGracePeriod:  duration.Draw(t, "drain grace"),
			SurplusAfter:       rapid.SampledFrom([]*core.Duration{new(core.Duration), new(core.DefaultSurplusAfter)}).Draw(t, "surplus after"),
			DeletionProtection: rapid.Bool().Draw(t, "protection"),
			OnDestroy:          rapid.SampledFrom([]core.OnDestroy{core.DestroyDelete, core.DestroyRetain}).Draw(t, "on destroy"),
			Configuration: core.Configuration{
				VPCID: word.Draw(t, "vpc"), ImageID: word.Draw(t, "image"), ProjectID: rapid.Int64Range(0, 9).Draw(t, "project"),
			},
		}
		if rapid.Bool().Draw(t, "with fallback") {
			d.OnDemandFallback = &core.OnDemandFallback{After: duration.Draw(t, "after"), Maximum: count.Draw(t, "stand-ins")}
		}
		if rapid.Bool().Draw(t, "with everything") {
			d.Budget, d.UserData, d.CamRoleName = word.Draw(t, "budget"), word.Draw(t, "user data"), word.Draw(t, "role")
			d.SecurityGroupIDs = rapid.SliceOfN(word, 1, 3).Draw(t, "groups")
			d.KeyIDs = rapid.SliceOfN(word, 1, 3).Draw(t, "keys")
			d.Tags = rapid.MapOfN(word, word, 1, 3).Draw(t, "tags")
			d.DataDisks = rapid.SliceOfN(disk, 1, 2).Draw(t, "disks")
			d.SystemDiskType, d.SystemDiskSize = word.Draw(t, "system disk"), int64(count.Draw(t, "system disk size"))
			d.InternetMaxBandwidthOut = int64(count.Draw(t, "bandwidth"))
			d.InternetChargeType = rapid.SampledFrom([]string{"", "TRAFFIC_POSTPAID_BY_HOUR"}).Draw(t, "traffic")
		}
		return d
	})
}

func TestDeclarationSurvivesTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := declarations().Draw(t, "declaration")
		var diags diag.Diagnostics
		if diff := cmp.Diff(d, imported(d).declaration(&diags)); diff != "" || diags.HasError() {
			t.Fatalf("the declaration changed on its way through the model (%v):\n%s", diags, diff)
		}
	})
}

func TestModelTakesOverWhatAnotherRecorded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after := declarations().Draw(t, "before"), declarations().Draw(t, "after")
		after.UID, after.AccountID, after.Generation = before.UID, before.AccountID, before.Generation
		var diags diag.Diagnostics
		if diff := cmp.Diff(after, imported(before).declared(after).declaration(&diags)); diff != "" {
			t.Fatalf("the record's declaration did not get into the model:\n%s", diff)
		}
	})
}

// An equivalent value stays as its author wrote it; else each refresh would show a change.
func TestModelKeepsTheWordingOfWhatIsUnchanged(t *testing.T) {
	t.Parallel()
	d := core.Declaration{
		Name: "train", Region: "ap-singapore", UID: "u", AccountID: "1", Minimum: 1, Maximum: 2,
		Offerings: []core.Offering{{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4",
			SpotMaxPrice: 3_500_000}},
		MaxHourlyCost: 12_000_000, Cooldown: core.Duration(time.Hour), LaunchTimeout: core.Duration(15 * time.Minute),
		OnDemandFallback: &core.OnDemandFallback{After: core.Duration(time.Hour), Maximum: 1},
	}.WithDefaults()
	m := imported(d)
	m.MaxHourlyCost, m.Cooldown = types.StringValue("12"), types.StringValue("3600s")
	m.Tags = types.MapValueMust(types.StringType, map[string]attr.Value{})
	m.KeyIDs = types.ListValueMust(types.StringType, []attr.Value{})
	m.Budget = types.StringNull()
	m.Offerings = types.ListValueMust(types.ObjectType{AttrTypes: offeringTypes}, []attr.Value{
		types.ObjectValueMust(offeringTypes, map[string]attr.Value{
			"availability_zone": types.StringValue("ap-singapore-2"), "instance_type": types.StringValue("GN7.2XLARGE32"),
			"subnet_id": types.StringValue("subnet-a1b2c3d4"), "spot_max_price": types.StringValue("3.5"),
		}),
	})
	m.OnDemandFallback = types.ObjectValueMust(fallbackTypes, map[string]attr.Value{"after": types.StringValue("60m"), "maximum": types.Int64Value(1)})
	if diff := cmp.Diff(m, m.declared(d), cmp.AllowUnexported(model{})); diff != "" {
		t.Errorf("an unchanged declaration changed the model:\n%s", diff)
	}
	d.Maximum = 3
	want := m
	want.Maximum = types.Int64Value(3)
	if diff := cmp.Diff(want, m.declared(d), cmp.AllowUnexported(model{})); diff != "" {
		t.Errorf("a changed maximum changed more than that:\n%s", diff)
	}
}
