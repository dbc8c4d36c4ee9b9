package spotpool_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestAValidDeclaration(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*spotpool.Declaration){
		"small":                        func(*spotpool.Declaration) {},
		"everything set":               func(d *spotpool.Declaration) { d.Configuration = full() },
		"empty":                        size(0, 0),
		"as large as can be":           size(0, spotpool.MaxPoolSize),
		"a name of one letter":         func(d *spotpool.Declaration) { d.Name = "a" },
		"a name of fifty":              func(d *spotpool.Declaration) { d.Name = strings.Repeat("a", 50) },
		"user data of 16 KB as base64": func(d *spotpool.Declaration) { d.UserData = strings.Repeat("x", 12288) },
		"tags in Chinese": func(d *spotpool.Declaration) {
			d.Tags = map[string]string{"团队": "甲 组", "a+-=._:/@()[],;><": "1"}
		},
		"the longest tag": func(d *spotpool.Declaration) {
			d.Tags = map[string]string{strings.Repeat("键", 127): strings.Repeat("值", 255)}
		},
		"twenty cloud disks and a local": func(d *spotpool.Declaration) { d.DataDisks = append(disks(20, "CLOUD_BSSD"), disks(1, "LOCAL_SSD")...) },
		"a type of the newest kind":      func(d *spotpool.Declaration) { d.Offerings[0].InstanceType = "HCCPNV5v.29XLARGE1800" },
		"a zone of a financial region": func(d *spotpool.Declaration) {
			d.Region = "ap-shenzhen-fsi"
			d.Offerings = []spotpool.Offering{offering("ap-shenzhen-fsi-3", t4)}
		},
		"a zone beside the numbered ones": func(d *spotpool.Declaration) { d.Offerings[0].AvailabilityZone = "ap-singapore-ez-1" },
		"a public address": func(d *spotpool.Declaration) {
			d.InternetMaxBandwidthOut, d.InternetChargeType = 10, "TRAFFIC_POSTPAID_BY_HOUR"
		},
		"rolling":      refreshing(spotpool.RefreshRolling, 1, 0),
		"falling back": falling(2),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if problems := pool(change).Validate(); len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

func disks(n int, kind string) []spotpool.DataDisk {
	list := make([]spotpool.DataDisk, n)
	for k := range list {
		list[k] = spotpool.DataDisk{Type: kind, Size: 100}
	}
	return list
}

func TestEachProblemIsNamed(t *testing.T) {
	t.Parallel()
	type declaration = spotpool.Declaration
	for name, c := range map[string]struct {
		change func(*declaration)
		want   string // attribute: summary
	}{
		"an upper-case name":        {func(d *declaration) { d.Name = "Train" }, `name: "Train" is not a valid name of a pool`},
		"a name with a hyphen last": {func(d *declaration) { d.Name = "train-" }, `name: "train-" is not a valid name of a pool`},
		"a name of 51": {
			func(d *declaration) { d.Name = strings.Repeat("a", 51) }, `name: "` + strings.Repeat("a", 51) + `" is not a valid name of a pool`,
		},
		"no name":                {func(d *declaration) { d.Name = "" }, `name: "" is not a valid name of a pool`},
		"a budget's name":        {func(d *declaration) { d.Budget = "a_b" }, `budget: "a_b" is not a valid name of a budget`},
		"minimum above maximum":  {size(5, 4), `minimum: minimum is 5, above maximum 4`},
		"a negative minimum":     {size(-1, 4), `minimum: minimum is -1, below 0`},
		"a maximum out of range": {size(1, 10001), `maximum: 10001 is out of range: it must be between 0 and 10000`},
		"no offering":            {func(d *declaration) { d.Offerings = nil }, `offerings: the pool has no offering`},
		"an offering twice": {
			func(d *declaration) { d.Offerings[1] = offering(zone2, t4) }, `offerings[1]: GN7.2XLARGE32 in ap-singapore-2 is listed already, as offerings[0]`,
		},
		"a zone of another region": {
			func(d *declaration) { d.Offerings[1].AvailabilityZone = "ap-tokyo-1" },
			`offerings[1].availability_zone: the zone "ap-tokyo-1" is not one of the pool's region "ap-singapore"`,
		},
		"a zone of the region inside": {
			func(d *declaration) {
				d.Region = "ap-shanghai"
				d.Offerings = []spotpool.Offering{offering("ap-shanghai-1", t4), offering("ap-shanghai-fsi-1", t4)}
			}, `offerings[1].availability_zone: the zone "ap-shanghai-fsi-1" is not one of the pool's region "ap-shanghai"`,
		},
		"a region for a zone": {
			func(d *declaration) { d.Offerings[1].AvailabilityZone = "ap-singapore" },
			`offerings[1].availability_zone: the zone "ap-singapore" is not one of the pool's region "ap-singapore"`,
		},
		"no number": {
			func(d *declaration) { d.Offerings[1].AvailabilityZone = "ap-singapore-" },
			`offerings[1].availability_zone: invalid availability zone "ap-singapore-"`,
		},
		"no zone": {
			func(d *declaration) { d.Offerings[1].AvailabilityZone = "" }, `offerings[1].availability_zone: the offering has no availability zone`,
		},
		"an instance type": {func(d *declaration) { d.Offerings[0].InstanceType = "GN7" }, `offerings[0].instance_type: invalid instance type "GN7"`},
		"no subnet":        {func(d *declaration) { d.Offerings[0].SubnetID = "" }, `offerings[0].subnet_id: invalid ID "": it must begin with "subnet-"`},
		"a VPC for a subnet": {
			func(d *declaration) { d.Offerings[0].SubnetID = "vpc-a1b2c3d4" }, `offerings[0].subnet_id: invalid ID "vpc-a1b2c3d4": it must begin with "subnet-"`,
		},
		"a short id":       {func(d *declaration) { d.VPCID = "vpc-a1b2c3d" }, `vpc_id: invalid ID "vpc-a1b2c3d": it must begin with "vpc-"`},
		"an upper-case id": {func(d *declaration) { d.ImageID = "img-A1B2C3D4" }, `image_id: invalid ID "img-A1B2C3D4": it must begin with "img-"`},
		"a security group": {
			func(d *declaration) { d.SecurityGroupIDs = []string{"default"} }, `security_group_ids[0]: invalid ID "default": it must begin with "sg-"`,
		},
		"a key twice": {
			func(d *declaration) { d.KeyIDs = []string{"skey-a1b2c3d4", "skey-a1b2c3d4"} }, `key_ids[1]: "skey-a1b2c3d4" is listed already, as key_ids[0]`,
		},
		"a region": {func(d *declaration) {
			d.Region = "singapore"
			d.Offerings[0].AvailabilityZone = "singapore-2"
			d.Offerings = d.Offerings[:1]
		}, `region: invalid region "singapore"`},
		"a strategy":            {func(d *declaration) { d.AllocationStrategy = "cheapest" }, `allocation_strategy: "cheapest" is not known`},
		"a charge type":         {func(d *declaration) { d.InstanceChargeType = "PREPAID" }, `instance_charge_type: "PREPAID" is not known`},
		"a refresh strategy":    {func(d *declaration) { d.Refresh.Strategy = "surge" }, `refresh.strategy: "surge" is not known`},
		"a way to be destroyed": {func(d *declaration) { d.OnDestroy = "keep" }, `on_destroy: "keep" is not known`},
		"a launch timeout":      {func(d *declaration) { d.LaunchTimeout = 0 }, `launch_timeout: 0s is out of range: it must be between 1s and 7d`},
		"a cooldown": {
			func(d *declaration) { d.Cooldown = spotpool.Duration(8 * 24 * time.Hour) }, `cooldown: 8d is out of range: it must be between 1s and 7d`,
		},
		"no launches in a run": {
			func(d *declaration) { d.MaxLaunchesPerRun = 0 }, `max_launches_per_run: max_launches_per_run is 0: no run could launch instances`,
		},
		"a base above maximum": {func(d *declaration) { d.OnDemandBase = 5 }, `on_demand_base: on_demand_base is 5, and the pool has 0 to 4 instances`},
		"a fallback of on-demand instances": {
			func(d *declaration) { falling(1)(d); d.InstanceChargeType = spotpool.OnDemand },
			`on_demand_fallback: there is nothing to fall back from: the pool's instances are POSTPAID_BY_HOUR`,
		},
		"a fallback to nothing": {falling(0), `on_demand_fallback.maximum: 0 on-demand instances are out of range: it must be between 1 and maximum 4`},
		"a fallback at no time": {
			func(d *declaration) { falling(1)(d); d.OnDemandFallback.After = 0 }, `on_demand_fallback.after: 0s is out of range: it must be between 1s and 7d`,
		},
		"rolling without room": {
			func(d *declaration) { size(2, 2)(d); refreshing(spotpool.RefreshRolling, 1, 0)(d) },
			`refresh: minimum and maximum are both 2, so a rolling refresh with max_unavailable 0 has no room to replace instances`,
		},
		"rolling without a step": {
			refreshing(spotpool.RefreshRolling, 0, 0), `refresh: a rolling refresh with max_surge 0 and max_unavailable 0 cannot replace instances`,
		},
		"a negative surge": {refreshing(spotpool.RefreshNone, -1, 0), `refresh.max_surge: max_surge is -1, below 0`},
		"a cap on on-demand instances": {
			func(d *declaration) { d.InstanceChargeType, d.Offerings[1].SpotMaxPrice = spotpool.OnDemand, yuan("1") },
			`offerings[1].spot_max_price: on-demand instances have a fixed price, and no cap`,
		},
		"a project": {func(d *declaration) { d.ProjectID = -1 }, `project_id: project_id is -1, below 0`},
		"a role's ARN": {
			func(d *declaration) { d.CamRoleName = "qcs::cam::uin/1:roleName/x" }, `cam_role_name: invalid CAM role name "qcs::cam::uin/1:roleName/x"`,
		},
		"a disk's type": {func(d *declaration) { d.SystemDiskType = "SSD" }, `system_disk_type: "SSD" is not known`},
		"a disk's size": {
			func(d *declaration) { d.SystemDiskSize = 5 },
			`system_disk_size: 5 GiB is out of range: it must be between 20 and 2048`,
		},
		"a step of a disk": {
			func(d *declaration) { d.DataDisks = []spotpool.DataDisk{{Type: "CLOUD_BSSD", Size: 105}} },
			`data_disks[0].data_disk_size: 105 GiB is not a multiple of 10, the step of data disks`,
		},
		"too many disks": {
			func(d *declaration) { d.DataDisks = disks(21, "CLOUD_BSSD") }, `data_disks: 21 data disks are too many: an instance has at most 20`,
		},
		"two local disks": {
			func(d *declaration) { d.DataDisks = disks(2, "LOCAL_SSD") }, `data_disks: 2 local data disks are too many: an instance has at most 1`,
		},
		"a bandwidth": {
			func(d *declaration) { d.InternetMaxBandwidthOut = -1 },
			`internet_max_bandwidth_out: -1 Mbit/s is out of range: it must be between 0 and 10000`,
		},
		"prepaid bandwidth": {
			func(d *declaration) {
				d.InternetMaxBandwidthOut, d.InternetChargeType = 1, "BANDWIDTH_PREPAID"
			}, `internet_charge_type: BANDWIDTH_PREPAID is for prepaid instances, and a pool's are paid by the hour`,
		},
		"too much user data": {
			func(d *declaration) { d.UserData = strings.Repeat("x", 12289) },
			`user_data_raw: user data of 12289 bytes is too long: it has 16388 bytes as base64, and RunInstances takes 16384 (that is 12288 bytes before)`,
		},
		"binary user data": {func(d *declaration) { d.UserData = "\xff\xfe" }, `user_data_raw: user data is not UTF-8 text`},
		"too many tags": {
			func(d *declaration) { d.Tags = tags(47) },
			`tags: 47 tags are too many: an instance has at most 50, and 4 of them are the pool's own (gpupool/config, gpupool/pool, gpupool/seq, gpupool/uid)`,
		},
		"one of our tags": {
			func(d *declaration) { d.Tags = map[string]string{"gpupool/uid": "x"} },
			`tags["gpupool/uid"]: the tag key "gpupool/uid" begins with "gpupool/", which is reserved`,
		},
		"a reserved tag": {
			func(d *declaration) { d.Tags = map[string]string{"project-x": "x"} },
			`tags["project-x"]: the tag key "project-x" begins with "project", which is reserved`,
		},
		"a tag's character": {
			func(d *declaration) { d.Tags = map[string]string{"a": "50%"} }, `tags["a"]: the tag's value "50%" has the character '%', which is not allowed`,
		},
		"an empty tag":  {func(d *declaration) { d.Tags = map[string]string{"a": ""} }, `tags["a"]: the tag's value is empty`},
		"a tag's space": {func(d *declaration) { d.Tags = map[string]string{" a": "b"} }, `tags[" a"]: the tag's key " a" has spaces at its ends`},
		"a tag's key of 128": {
			func(d *declaration) { d.Tags = map[string]string{strings.Repeat("k", 128): "b"} },
			`tags["` + strings.Repeat("k", 128) + `"]: the tag's key has 128 characters, and may have 127`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range pool(c.change).Validate() {
				got = append(got, p.Attribute+": "+reason.Renderer{}.Text(p.Reason))
				if remedy := (reason.Renderer{}).Remedy(p.Reason); !strings.HasSuffix(remedy, ".") {
					t.Errorf("%s: the remedy %q is no sentence", p.Attribute, remedy)
				}
			}
			if diff := cmp.Diff([]string{c.want}, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func tags(n int) map[string]string {
	m := map[string]string{}
	for k := range n {
		m[fmt.Sprintf("tag%d", k)] = "x"
	}
	return m
}

func TestAllProblemsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	attributes := map[string]bool{}
	for _, p := range (spotpool.Declaration{}).WithDefaults().Validate() {
		attributes[p.Attribute] = true
	}
	for _, want := range []string{"name", "region", "offerings", "vpc_id", "image_id"} {
		if !attributes[want] {
			t.Errorf("no problem with %s", want)
		}
	}
}

// Messages never contain the value of a secret.
func TestProblemsDoNotContainUserData(t *testing.T) {
	t.Parallel()
	d := pool(func(d *spotpool.Declaration) { d.UserData = strings.Repeat("password=hunter2 \xff", 2000) })
	problems := append(d.Validate(), d.Warnings()...)
	if len(problems) == 0 {
		t.Fatal("the user data is valid")
	}
	for _, p := range problems {
		if strings.Contains(p.String(), "hunter2") {
			t.Errorf("a problem shows user data: %.200s", p)
		}
	}
}

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	bare := spotpool.Declaration{
		Name: "train", Region: region, Offerings: []spotpool.Offering{offering(zone2, t4)}, OnDemandFallback: &spotpool.OnDemandFallback{Maximum: 1},
		Maximum:       1,
		Configuration: spotpool.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4"},
	}
	if problems := bare.WithDefaults().Validate(); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	if bare.OnDemandFallback.After != 0 {
		t.Error("WithDefaults changed the declaration it was given")
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*spotpool.Declaration)
		want   string // attribute; empty: none
	}{
		"nothing odd": {func(*spotpool.Declaration) {}, ""},
		"minimum can't be paid for": {func(d *spotpool.Declaration) {
			d.Offerings[0].SpotMaxPrice, d.Offerings[1].SpotMaxPrice, d.MaxHourlyCost = yuan("4"), yuan("3"), yuan("5.99")
		}, "max_hourly_cost"},
		"minimum can just be paid for": {func(d *spotpool.Declaration) {
			d.Offerings[0].SpotMaxPrice, d.Offerings[1].SpotMaxPrice, d.MaxHourlyCost = yuan("4"), yuan("3"), yuan("6")
		}, ""},
		"a base above minimum": {func(d *spotpool.Declaration) { d.OnDemandBase = 3 }, "on_demand_base"},
		"a base of on-demand instances": {
			func(d *spotpool.Declaration) { d.OnDemandBase, d.InstanceChargeType = 1, spotpool.OnDemand }, "on_demand_base",
		},
		"a fallback without room": {func(d *spotpool.Declaration) { size(2, 2)(d); falling(1)(d) }, "on_demand_fallback"},
		"an opportunity that never comes": {
			func(d *spotpool.Declaration) { size(2, 2)(d); refreshing(spotpool.RefreshOpportunistic, 0, 0)(d) }, "refresh.strategy",
		},
		"more surge than room":                   {refreshing(spotpool.RefreshRolling, 3, 0), "refresh.max_surge"},
		"everything unavailable":                 {refreshing(spotpool.RefreshRolling, 0, 2), "refresh.max_unavailable"},
		"user data that is base64":               {func(d *spotpool.Declaration) { d.UserData = "IyEvYmluL3NoCmVjaG8gaGkK" }, "user_data_raw"},
		"user data that only looks like base64":  {func(d *spotpool.Declaration) { d.UserData = "abcd" }, ""},
		"a budget that ends instances":           {drainedByBudget, "on_budget_exceeded"},
		"no room for a tag that protects":        {func(d *spotpool.Declaration) { d.Tags = tags(46) }, "tags"},
		"as many tags as leave room for another": {func(d *spotpool.Declaration) { d.Tags = tags(45) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := pool(c.change)
			if problems := d.Validate(); len(problems) > 0 {
				t.Fatalf("problems: %v", problems)
			}
			var got []string
			for _, p := range d.Warnings() {
				got = append(got, p.Attribute)
			}
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
