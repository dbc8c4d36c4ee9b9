package cvm_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

func TestLaunchLimits(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	zone := func(z string) object { return object{"Placement": object{"Zone": z}} }
	spot := func(options object) object {
		return object{"InstanceMarketOptions": object{"MarketType": "spot", "SpotOptions": options}}
	}
	vpc := func(vpc, subnet string) object {
		return object{"VirtualPrivateCloud": object{"VpcId": vpc, "SubnetId": subnet}}
	}
	data := func(n int) object { return object{"UserData": base64.StdEncoding.EncodeToString(make([]byte, n))} }
	disks := make([]object, 22)
	for i := range disks {
		disks[i] = object{"DiskSize": 50, "DiskType": "CLOUD_BSSD"}
	}
	many := []string{}
	for i := range 51 {
		many = append(many, fmt.Sprint("key", i), "v")
	}
	for name, test := range map[string]struct {
		changes object
		code    string
	}{
		"as is":               {nil, ""},
		"count 0":             {object{"InstanceCount": 0}, "InvalidParameterValue.Range"},
		"count 501":           {object{"InstanceCount": 501}, "InvalidParameterValue.Range"},
		"no placement":        {object{"Placement": nil}, "MissingParameter"},
		"no image":            {object{"ImageId": nil}, "MissingParameter"},
		"zone elsewhere":      {zone("ap-tokyo-1"), "InvalidZone.MismatchRegion"},
		"zone nowhere":        {zone("ap-singapore-9"), "InvalidZone.MismatchRegion"},
		"type malformed":      {object{"InstanceType": "big one"}, "InvalidInstanceType.Malformed"},
		"type unknown":        {object{"InstanceType": "GN99.HUGE"}, "InvalidParameterValue.InstanceTypeNotFound"},
		"type not sold here":  {object{"InstanceType": "GN8.LARGE56"}, "ResourceUnavailable.InstanceType"},
		"image malformed":     {object{"ImageId": "ami-1"}, "InvalidImageId.Malformed"},
		"key malformed":       {object{"LoginSettings": object{"KeyIds": []string{"key"}}}, "InvalidKeyPairId.Malformed"},
		"vpc malformed":       {vpc("vpc-1", "subnet-a1b2c3d4"), "InvalidParameterValue.VpcIdMalformed"},
		"subnet malformed":    {vpc("vpc-a1b2c3d4", "subnet-1"), "InvalidParameterValue.SubnetIdMalformed"},
		"vpc alone":           {object{"VirtualPrivateCloud": object{"VpcId": "vpc-a1b2c3d4"}}, "MissingParameter"},
		"network well formed": {vpc("vpc-a1b2c3d4", "subnet-a1b2c3d4"), ""},
		"group malformed":     {object{"SecurityGroupIds": []string{"sg-1"}}, "InvalidSgId.Malformed"},
		"group well formed":   {object{"SecurityGroupIds": []string{"sg-a1b2c3d4"}}, ""},
		"token of 64":         {object{"ClientToken": strings.Repeat("t", 64)}, ""},
		"token of 65":         {object{"ClientToken": strings.Repeat("t", 65)}, "InvalidClientToken.TooLong"},
		"token not ASCII":     {object{"ClientToken": "tök"}, "InvalidParameterValue"},
		"name of 128":         {object{"InstanceName": strings.Repeat("n", 128)}, ""},
		"name of 129":         {object{"InstanceName": strings.Repeat("n", 129)}, "InvalidInstanceName.TooLong"},
		"host name":           {object{"HostName": "-x"}, "InvalidParameterValue.IllegalHostName"},
		"16 KB":               {data(16 << 10), ""},
		"over 16 KB":          {data(16<<10 + 1), "InvalidParameterValue.TooLarge"},
		"not base64":          {object{"UserData": "#!/bin/sh"}, "InvalidParameterValue.InvalidUserDataFormat"},
		"22 disks":            {object{"DataDisks": disks}, "InvalidParameterValue.LimitExceeded"},
		"21 disks":            {object{"DataDisks": disks[:21]}, ""},
		"disk type":           {object{"SystemDisk": object{"DiskType": "FLOPPY"}}, "InvalidParameterValue"},
		"disk size":           {object{"SystemDisk": object{"DiskSize": 10}}, "InvalidParameterValue.Range"},
		"bid at market":       {spot(object{"MaxPrice": "1.90", "SpotInstanceType": "one-time"}), ""},
		"bid below market":    {spot(object{"MaxPrice": "1.899999999", "SpotInstanceType": "one-time"}), "InvalidParameterValue.InsufficientPrice"},
		"bid no decimal":      {spot(object{"MaxPrice": "1,90"}), "InvalidParameterValue"},
		"bid with a sign":     {spot(object{"MaxPrice": "-1"}), "InvalidParameterValue"},
		"upper-case one-time": {spot(object{"SpotInstanceType": "ONE-TIME"}), "InvalidParameterValue"},
		"options without spot": {
			object{"InstanceChargeType": "POSTPAID_BY_HOUR", "InstanceMarketOptions": object{"MarketType": "spot"}}, "InvalidParameterCombination",
		},
		"charge type":            {object{"InstanceChargeType": "FREE"}, "InvalidParameterValue"},
		"prepaid without period": {object{"InstanceChargeType": "PREPAID"}, "MissingParameter"},
		"prepaid, 13 months":     {object{"InstanceChargeType": "PREPAID", "InstanceChargePrepaid": object{"Period": 13}}, "InvalidPeriod"},
		"two logins": {
			object{"LoginSettings": object{"KeyIds": []string{"skey-a1b2c3d4"}, "KeepImageLogin": "true"}}, "InvalidParameterCombination",
		},
		"key and password":       {object{"LoginSettings": object{"KeyIds": []string{"skey-a1b2c3d4"}, "Password": "Abcdef12"}}, "InvalidParameterCombination"},
		"image's own login":      {object{"LoginSettings": object{"KeepImageLogin": "true"}}, ""},
		"public image's login":   {object{"ImageId": "img-487zeit5", "LoginSettings": object{"KeepImageLogin": "TRUE"}}, "InvalidParameterCombination"},
		"shared image's login":   {object{"ImageId": "img-shared00", "LoginSettings": object{"KeepImageLogin": "true"}}, ""},
		"imported image's login": {object{"ImageId": "img-import00", "LoginSettings": object{"KeepImageLogin": "true"}}, ""},
		"public image, key":      {object{"ImageId": "img-487zeit5"}, ""},
		"public image, no login": {object{"ImageId": "img-487zeit5", "LoginSettings": object{"KeepImageLogin": "false"}}, ""},
		"no login":               {object{"LoginSettings": nil}, ""},
		"weak password":          {object{"LoginSettings": object{"Password": "abcdefgh"}}, "InvalidPassword"},
		"strong password":        {object{"LoginSettings": object{"Password": "abcdefg1"}}, ""},
		"tag key reserved":       {object{"TagSpecification": cvmsimtest.TagSpec("qcs:x", "1")}, "FailedOperation.TagKeyReserved"},
		"tag key illegal":        {object{"TagSpecification": cvmsimtest.TagSpec("a*b", "1")}, "FailedOperation.IllegalTagKey"},
		"tag key too long":       {object{"TagSpecification": cvmsimtest.TagSpec(strings.Repeat("k", 128), "1")}, "FailedOperation.IllegalTagKey"},
		"tag value empty":        {object{"TagSpecification": cvmsimtest.TagSpec("k", "")}, "FailedOperation.IllegalTagValue"},
		"tag value padded":       {object{"TagSpecification": cvmsimtest.TagSpec("k", " v")}, "FailedOperation.IllegalTagValue"},
		"tag twice":              {object{"TagSpecification": cvmsimtest.TagSpec("k", "1", "k", "2")}, "InvalidParameterValue.DuplicateTags"},
		"51 tags":                {object{"TagSpecification": cvmsimtest.TagSpec(many...)}, "InvalidParameterValue.TagQuotaLimitExceeded"},
		"50 tags":                {object{"TagSpecification": cvmsimtest.TagSpec(many[2:]...)}, ""},
		"tagged resource":        {object{"TagSpecification": []object{{"ResourceType": "moon"}}}, "InvalidParameterValue"},
		"two placement sets":     {object{"DisasterRecoverGroupIds": []string{"ps-a1b2c3d4", "ps-a1b2c3d5"}}, "InvalidParameterValue.LimitExceeded"},
		"timer too near": {
			object{"ActionTimer": object{"TimerAction": "TerminateInstances", "ActionTime": "2020-01-01T00:00:00Z"}}, "InvalidParameterValue.Range",
		},
		"address without traffic": {object{"InternetAccessible": object{"PublicIpAssigned": true}},
			"InvalidParameterCombination"},
		"fixed addresses, other count": {object{"InstanceCount": 2, "VirtualPrivateCloud": object{
			"VpcId": "vpc-a1b2c3d4", "SubnetId": "subnet-a1b2c3d4", "PrivateIpAddresses": []string{"10.9.9.9"}}}, "InvalidParameterValue.AmountNotEqual"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dry := cvmsimtest.Launch(test.changes)
			dry["DryRun"] = true
			if got := cvmsimtest.CodeOf(cvmsimtest.NewClient(t, sim).Call("cvm", "RunInstances", dry)); got != test.code {
				t.Errorf("got %q, want %q", got, test.code)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(sim.Server.Instances()); n != 0 {
			t.Errorf("the dry runs launched %d instances", n)
		}
	})
}

func TestLaunchSettles(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Slow)
	a := cvmsimtest.NewClient(t, sim)
	ids := a.Run(object{"InstanceCount": 2, "InstanceName": "gpu-{R:7}", "InternetAccessible": object{"InternetMaxBandwidthOut": 1}})
	if !regexp.MustCompile(`^ins-[a-z0-9]{8}$`).MatchString(ids[0]) || ids[0] == ids[1] {
		t.Fatalf("ids are %v", ids)
	}
	first := a.Describe(object{"InstanceIds": ids})[0]
	want := object{
		"InstanceState": "PENDING", "InstanceName": "gpu-7", "InstanceChargeType": "SPOTPAID", "RestrictState": "NORMAL",
		"LatestOperation": "RunInstances", "LatestOperationState": "OPERATING", "CPU": 8.0, "Memory": 32.0,
		"GPUInfo":       object{"GPUCount": 1.0, "GPUId": []any{}, "GPUType": "NVIDIA T4"},
		"Tags":          []any{object{"Key": "gpupool/pool", "Value": "train"}},
		"LoginSettings": object{"KeyIds": []any{"skey-a1b2c3d4"}}, "ExpiredTime": nil, "LatestOperationErrorMsg": nil,
	}
	got := object{}
	for name := range want {
		got[name] = first[name]
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(cvmsimtest.Texts(first["PrivateIpAddresses"])) != 1 || len(cvmsimtest.Texts(first["PublicIpAddresses"])) != 1 {
		t.Errorf("addresses: %v, %v", first["PrivateIpAddresses"], first["PublicIpAddresses"])
	}
	if _, err := time.Parse("2006-01-02T15:04:05Z", first["CreatedTime"].(string)); err != nil {
		t.Error(err)
	}
	cvmsimtest.Step(t, sim, time.Minute)
	if state := a.Describe(object{"InstanceIds": ids})[1]["InstanceState"]; state != "RUNNING" {
		t.Errorf("after the launch delay: %v", state)
	}
}

func TestNoPublicAddressByDefault(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	in := a.Describe(object{"InstanceIds": a.Run(nil)})[0]
	if in["PublicIpAddresses"] != nil || len(cvmsimtest.Texts(in["PrivateIpAddresses"])) != 1 {
		t.Errorf("addresses: %v, %v", in["PrivateIpAddresses"], in["PublicIpAddresses"])
	}
	if in["InstanceName"] != "未命名" {
		t.Errorf("name: %v", in["InstanceName"])
	}
}

// Without enough stock or quota nothing is launched, not a part.
func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	stock := func(r cvmsim.StockRequest) {
		r.AvailabilityZone, r.InstanceType = "ap-singapore-2", "GN7.2XLARGE32"
		if err := sim.Server.SetStock(r); err != nil {
			t.Fatal(err)
		}
	}
	number := func(n int64) *int64 { return &n }
	stock(cvmsim.StockRequest{Stock: number(3), VCPUQuota: number(1000)})
	a.Refused("InvalidParameterValue.InsufficientOffering", "cvm", "RunInstances", cvmsimtest.Launch(object{"InstanceCount": 4}))
	a.Run(object{"InstanceCount": 3})
	a.Refused("ResourcesSoldOut.SpecifiedInstanceType", "cvm", "RunInstances", cvmsimtest.Launch(nil))
	stock(cvmsim.StockRequest{Stock: number(100), VCPUQuota: number(32)})
	a.Refused("LimitExceeded.UserSpotQuota", "cvm", "RunInstances", cvmsimtest.Launch(object{"InstanceCount": 2}))
	a.Run(nil)
	a.Refused("LimitExceeded.UserSpotQuota", "cvm", "RunInstances", cvmsimtest.Launch(nil))
	stock(cvmsim.StockRequest{ChargeType: "POSTPAID_BY_HOUR", Stock: number(1), InstanceQuota: number(1)})
	onDemand := func(n int) object {
		return cvmsimtest.Launch(object{"InstanceChargeType": "POSTPAID_BY_HOUR", "InstanceCount": n})
	}
	a.Refused("ResourceInsufficient.SpecifiedInstanceType", "cvm", "RunInstances", onDemand(2))
	stock(cvmsim.StockRequest{ChargeType: "POSTPAID_BY_HOUR", Stock: number(9)})
	a.Refused("LimitExceeded.CvmInstanceQuota", "cvm", "RunInstances", onDemand(2))
	balance := "9.49"
	if err := sim.Server.Configure(cvmsim.Settings{Balance: &balance}); err != nil {
		t.Fatal(err)
	}
	a.Refused("InvalidAccount.InsufficientBalance", "cvm", "RunInstances", onDemand(1))
	if n := len(sim.Server.Instances()); n != 4 {
		t.Errorf("there are %d instances, want the 4 of the two launches that had enough", n)
	}
}

func TestStockAndQuotaComeBack(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Slow)
	a := cvmsimtest.NewClient(t, sim)
	one := int64(1)
	if err := sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", Stock: &one}); err != nil {
		t.Fatal(err)
	}
	ids := a.Run(nil)
	cvmsimtest.Step(t, sim, time.Minute)
	a.OK("cvm", "TerminateInstances", object{"InstanceIds": ids})
	cvmsimtest.Step(t, sim, time.Minute)
	ids = a.Run(nil) // terminated: its place is on sale again
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: ids}); err != nil {
		t.Fatal(err)
	}
	a.Refused("ResourcesSoldOut.SpecifiedInstanceType", "cvm", "RunInstances", cvmsimtest.Launch(nil)) // reclaimed: it isn't
	if used := spotQuota(t, a, "ap-singapore-2")["UsedQuota"]; used != 0.0 {
		t.Errorf("the quota still counts %v vCPU", used)
	}
}

func spotQuota(t *testing.T, a *cvmsimtest.Client, zone string) object {
	t.Helper()
	answer := a.OK("cvm", "DescribeAccountQuota", cvmsimtest.FilterBy("zone", zone, "quota-type", "SpotPaidQuotaSet"))
	set := answer["AccountQuotaOverview"].(object)["AccountQuota"].(object)["SpotPaidQuotaSet"].([]any)
	if len(set) != 1 {
		t.Fatalf("got %d quotas", len(set))
	}
	return set[0].(object)
}

func TestAccountQuota(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	a.Run(object{"InstanceCount": 3})
	want := object{"UsedQuota": 24.0, "RemainingQuota": 104.0, "TotalQuota": 128.0, "Zone": "ap-singapore-2"}
	if d := cmp.Diff(want, spotQuota(t, a, "ap-singapore-2")); d != "" {
		t.Error(d)
	}
}

func TestRegionWithoutSpot(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	a.Region = "sa-saopaulo"
	a.Refused("UnsupportedOperation.SpotUnsupportedRegion", "cvm", "RunInstances", cvmsimtest.Launch(object{"Placement": object{"Zone": "sa-saopaulo-1"}}))
	if set := a.OK("cvm", "DescribeZoneInstanceConfigInfos",
		cvmsimtest.FilterBy("instance-charge-type", "SPOTPAID"))["InstanceTypeQuotaSet"].([]any); len(set) != 0 {
		t.Errorf("%d spot offers in a region without spot", len(set))
	}
}

// A ClientToken stands for one launch for ever, whatever became of it.
func TestClientToken(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	ids := a.Run(object{"ClientToken": "one"})
	if again := a.Run(object{"ClientToken": "one"}); !slices.Equal(ids, again) {
		t.Errorf("the same token: %v, then %v", ids, again)
	}
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: ids}); err != nil {
		t.Fatal(err)
	}
	if again := a.Run(object{"ClientToken": "one"}); !slices.Equal(ids, again) {
		t.Errorf("after the instance died: %v, then %v", ids, again)
	}
	a.Refused("InvalidParameter.ParameterConflict", "cvm", "RunInstances", cvmsimtest.Launch(object{"ClientToken": "one", "InstanceCount": 2}))
	if n := len(sim.Server.Instances()); n != 0 {
		t.Errorf("%d instances live", n)
	}
	effects := 0
	for _, c := range sim.Server.Calls() {
		if c.TookEffect {
			effects++
		}
	}
	if effects != 1 {
		t.Errorf("%d launches took effect, want 1", effects)
	}
	if other := a.Run(object{"ClientToken": "two"}); slices.Equal(ids, other) {
		t.Error("another token got the same instances")
	}
}

// A launch that was refused leaves its token free.
func TestTokenOfRefusedLaunch(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	if _, err := sim.Server.AddFault(cvmsim.Fault{Kind: cvmsim.FaultSoldOut}); err != nil {
		t.Fatal(err)
	}
	a.Refused("ResourcesSoldOut.SpecifiedInstanceType", "cvm", "RunInstances", cvmsimtest.Launch(object{"ClientToken": "one"}))
	if ids := a.Run(object{"ClientToken": "one"}); len(ids) != 1 {
		t.Errorf("got %v", ids)
	}
}

func TestNumberedNames(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	cvmsimtest.NewClient(t, sim).Run(object{"InstanceCount": 2, "InstanceName": "server"})
	cvmsimtest.NewClient(t, sim).Run(object{"InstanceName": "single"})
	var names []string
	for _, in := range sim.Server.Instances() {
		names = append(names, in.Name)
	}
	if d := cmp.Diff([]string{"server1", "server2", "single"}, names); d != "" {
		t.Error(d)
	}
}

func TestFixedAddressInUse(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	fixed := object{"VirtualPrivateCloud": object{"VpcId": "vpc-a1b2c3d4", "SubnetId": "subnet-a1b2c3d4", "PrivateIpAddresses": []string{"10.9.9.9"}}}
	a.Run(fixed)
	a.Refused("VpcIpIsUsed", "cvm", "RunInstances", cvmsimtest.Launch(fixed))
}

func TestActionTimer(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	a.Run(object{"ActionTimer": object{"TimerAction": "TerminateInstances", "ActionTime": time.Now().Add(10 * time.Minute).UTC().Format(time.RFC3339)}})
	cvmsimtest.Step(t, sim, 9*time.Minute)
	if n := len(sim.Server.Instances()); n != 1 {
		t.Fatalf("%d instances before the time", n)
	}
	cvmsimtest.Step(t, sim, 2*time.Minute)
	if n := len(sim.Server.Instances()); n != 0 {
		t.Errorf("%d instances after the time", n)
	}
}

func TestLaunchFailedGoesByItself(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Slow)
	a := cvmsimtest.NewClient(t, sim)
	if _, err := sim.Server.AddFault(cvmsim.Fault{Kind: cvmsim.FaultLaunchFailed}); err != nil {
		t.Fatal(err)
	}
	ids := a.Run(nil)
	cvmsimtest.Step(t, sim, time.Minute)
	in := a.Describe(object{"InstanceIds": ids})[0]
	if in["InstanceState"] != "LAUNCH_FAILED" || in["LatestOperationState"] != "FAILED" || in["LatestOperationErrorMsg"] == nil {
		t.Errorf("%v, %v, %v", in["InstanceState"], in["LatestOperationState"], in["LatestOperationErrorMsg"])
	}
	a.Refused("UnsupportedOperation.InstanceStateLaunchFailed", "cvm", "TerminateInstances", object{"InstanceIds": ids})
	cvmsimtest.Step(t, sim, time.Minute)
	if left := a.Describe(object{"InstanceIds": ids}); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
}
