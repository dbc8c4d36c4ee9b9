package cvm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// The market that demos rely on: two zones sell GN7.2XLARGE32 for less than
// 3.50, another one is sold out.
func TestInitialMarket(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	got := map[string]object{}
	for _, o := range a.Offers("instance-type", "GN7.2XLARGE32", "instance-charge-type", "SPOTPAID") {
		got[o["Zone"].(string)] = object{
			"Status": o["Status"], "Category": o["StatusCategory"], "Reason": o["SoldOutReason"],
			"Price": o["Price"].(object)["UnitPriceDiscount"], "List": o["Price"].(object)["UnitPrice"],
			"Unit": o["Price"].(object)["ChargeUnit"], "Discount": o["Price"].(object)["Discount"],
			"Cpu": o["Cpu"], "Memory": o["Memory"], "GpuCount": o["GpuCount"], "Remark": o["Remark"],
		}
	}
	offer := func(status, category, reason string, price, discount float64) object {
		return object{
			"Status": status, "Category": category, "Reason": reason, "Price": price, "List": 9.5, "Unit": "HOUR",
			"Discount": discount, "Cpu": 8.0, "Memory": 32.0, "GpuCount": 1.0, "Remark": "NVIDIA T4",
		}
	}
	want := map[string]object{
		"ap-singapore-2": offer("SELL", "EnoughStock", "", 1.9, 20),
		"ap-singapore-3": offer("SELL", "EnoughStock", "", 2.09, 22),
		"ap-singapore-4": offer("SOLD_OUT", "WithoutStock", "ResourcesSoldOut.SpecifiedInstanceType", 1.995, 21),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	a.OK("cvm", "RunInstances", cvmsimtest.Launch(object{"InstanceCount": 12}))
}

func TestMarketMoves(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	pair := []string{"zone", "ap-singapore-2", "instance-type", "GN7.2XLARGE32", "instance-charge-type", "SPOTPAID"}
	for stock, category := range map[int64]string{0: "WithoutStock", 4: "UnderStock", 19: "NormalStock", 20: "EnoughStock"} {
		if err := sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", Stock: &stock}); err != nil {
			t.Fatal(err)
		}
		if got := a.Offers(pair...)[0]["StatusCategory"]; got != category {
			t.Errorf("stock %d is %v, want %s", stock, got, category)
		}
	}
	if err := sim.Server.SetPrice(cvmsim.PriceRequest{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", Price: "4.25"}); err != nil {
		t.Fatal(err)
	}
	if got := a.Offers(pair...)[0]["Price"].(object)["UnitPriceDiscount"]; got != 4.25 {
		t.Errorf("the price is %v", got)
	}
	one := int64(1)
	if err := sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: "ap-singapore-2", InstanceType: "GN8.LARGE56", Stock: &one}); err != nil {
		t.Fatal(err)
	}
	a.Run(object{"InstanceType": "GN8.LARGE56"}) // sold from now on
}

func TestOfferFilters(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	filtered := a.Offers("zone", "ap-singapore-1", "instance-family", "PNV4", "instance-charge-type", "POSTPAID_BY_HOUR")
	sorted := a.Offers("instance-charge-type", "SPOTPAID", "sort-keys", "cpu:desc")
	if len(filtered) == 0 || len(sorted) < 2 {
		t.Fatalf("%d offers pass the filters, and %d are sorted", len(filtered), len(sorted))
	}
	for _, o := range filtered {
		want := object{"Zone": "ap-singapore-1", "InstanceFamily": "PNV4", "InstanceChargeType": "POSTPAID_BY_HOUR"}
		if d := cmp.Diff(want, cvmsimtest.Pick(o, "Zone", "InstanceFamily", "InstanceChargeType")); d != "" {
			t.Error(d)
		}
	}
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1]["Cpu"].(float64) < sorted[i]["Cpu"].(float64) {
			t.Fatalf("%v before %v", sorted[i-1]["Cpu"], sorted[i]["Cpu"])
		}
	}
	a.Refused("InvalidFilter", "cvm", "DescribeZoneInstanceConfigInfos", cvmsimtest.FilterBy("sort-keys", "price"))
	a.Refused("InvalidFilter", "cvm", "DescribeZoneInstanceConfigInfos", cvmsimtest.FilterBy("color", "red"))
	a.Refused("InvalidZone.MismatchRegion", "cvm", "DescribeZoneInstanceConfigInfos", cvmsimtest.FilterBy("zone", "ap-tokyo-1"))
	values := make([]string, 101)
	a.Refused("InvalidFilterValue.LimitExceeded", "cvm", "DescribeZoneInstanceConfigInfos",
		object{"Filters": []object{{"Name": "instance-type", "Values": values}}})
}

// A zone may have a name that isn't its region's and a number.
func TestZoneOfAnotherName(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	const zone = "ap-singapore-ez-1"
	for _, charge := range []string{"SPOTPAID", "POSTPAID_BY_HOUR"} {
		id := a.Run(object{"Placement": object{"Zone": zone}, "InstanceType": "GN8.LARGE56", "InstanceChargeType": charge})[0]
		if in := a.Describe(object{"InstanceIds": []string{id}})[0]; in["Placement"].(object)["Zone"] != zone {
			t.Errorf("%s: %v", charge, in["Placement"])
		}
		if offers := a.Offers("zone", zone, "instance-charge-type", charge); len(offers) == 0 || offers[0]["Status"] != "SELL" || offers[0]["GpuCount"] != 1.0 {
			t.Errorf("%s: offers %v", charge, offers)
		}
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	images := a.OK("cvm", "DescribeImages", object{"ImageIds": []string{"img-a1b2c3d4"}})["ImageSet"].([]any)
	if len(images) != 1 || images[0].(object)["ImageState"] != "NORMAL" {
		t.Errorf("images: %v", images)
	}
	if public := a.OK("cvm", "DescribeImages", cvmsimtest.FilterBy("platform", "Ubuntu"))["ImageSet"].([]any); len(public) != 1 {
		t.Errorf("public images: %v", public)
	}
	for kind, want := range map[string][]string{
		"PUBLIC_IMAGE": {"img-487zeit5", "img-eb30mz89", "img-9qabwvbn"}, "SHARED_IMAGE": {"img-shared00"}, "PRIVATE_IMAGE": {"img-import00"},
	} {
		var got []string
		for _, i := range a.OK("cvm", "DescribeImages", cvmsimtest.FilterBy("image-type", kind))["ImageSet"].([]any) {
			got = append(got, i.(object)["ImageId"].(string))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
	}
	if images[0].(object)["ImageType"] != "PRIVATE_IMAGE" {
		t.Errorf("an image of the account's making: %v", images)
	}
	a.Refused("InvalidImageId.Malformed", "cvm", "DescribeImages", object{"ImageIds": []string{"ami-1"}})
	a.Refused("InvalidParameter.InvalidParameterCoexistImageIdsFilters", "cvm", "DescribeImages", object{
		"ImageIds": []string{"img-a1b2c3d4"}, "Filters": cvmsimtest.FilterBy("platform", "Ubuntu")["Filters"]})
	a.Region = "ap-guangzhou"
	a.Refused("InvalidParameterValue.ZoneNotSupported", "cvm", "RunInstances", cvmsimtest.Launch(object{"Placement": object{"Zone": "ap-guangzhou-2"}}))
}
