package control_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// holdings are what an account uses in ap-singapore-2, and what is left to buy
// of the type that the tests launch.
func holdings(a *cvmsimtest.Client) map[string]any {
	quota := a.OK("cvm", "DescribeAccountQuota", cvmsimtest.FilterBy("zone", "ap-singapore-2"))["AccountQuotaOverview"].(object)["AccountQuota"].(object)
	out := map[string]any{}
	for _, set := range []string{"SpotPaidQuotaSet", "PostPaidQuotaSet", "PrePaidQuotaSet"} {
		out[set] = quota[set].([]any)[0].(object)["UsedQuota"]
	}
	for _, charge := range []string{"SPOTPAID", "POSTPAID_BY_HOUR", "PREPAID"} {
		offers := a.OK("cvm", "DescribeZoneInstanceConfigInfos",
			cvmsimtest.FilterBy("zone", "ap-singapore-2", "instance-type", "GN7.2XLARGE32", "instance-charge-type", charge))
		out[charge] = offers["InstanceTypeQuotaSet"].([]any)[0].(object)["Status"]
	}
	return out
}

func checkHoldings(t *testing.T, a *cvmsimtest.Client, when string, want map[string]any) {
	t.Helper()
	got := holdings(a)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: %s is %v, want %v", when, name, got[name], value)
		}
	}
}

// Converting an instance moves what it holds, and keeps it from a termination
// that doesn't mean it twice.
func TestConvertToPrepaid(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"SPOTPAID", "POSTPAID_BY_HOUR"} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			sim := cvmsimtest.Start(t, cvmsimtest.Frozen, func(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay = -1, -1 })
			a := cvmsimtest.NewClient(t, sim)
			for _, charge := range []string{from, "PREPAID"} { // one of each
				if status, answer := cvmsimtest.Control(t, sim, http.MethodPost, "stock",
					`{"availability_zone":"ap-singapore-2","instance_type":"GN7.2XLARGE32","stock":1,"charge_type":"`+charge+`"}`); status != http.StatusOK {
					t.Fatal(answer)
				}
			}
			id := a.Run(object{"InstanceChargeType": from})[0]
			checkHoldings(t, a, "launched", map[string]any{from: "SOLD_OUT", "PREPAID": "SELL", "PrePaidQuotaSet": 0.0})
			cvmsimtest.Step(t, sim, time.Hour)
			if status, answer := cvmsimtest.Control(t, sim, http.MethodPost, "state",
				`{"instance_ids":["`+id+`"],"charge_type":"PREPAID"}`); status != http.StatusOK {
				t.Fatal(answer)
			}
			checkHoldings(t, a, "converted", map[string]any{
				from: "SELL", "PREPAID": "SOLD_OUT", "SpotPaidQuotaSet": 0.0, "PostPaidQuotaSet": 0.0, "PrePaidQuotaSet": 1.0,
			})
			in := a.Describe(object{"InstanceIds": []string{id}})[0]
			expires := sim.Server.Now().UTC().AddDate(0, 1, 0).Format("2006-01-02T15:04:05Z")
			if in["InstanceChargeType"] != "PREPAID" || in["ExpiredTime"] != expires || in["RenewFlag"] != "NOTIFY_AND_MANUAL_RENEW" ||
				in["InstanceState"] != "RUNNING" {
				t.Errorf("converted: %v, expires %v (want %s), %v, %v", in["InstanceChargeType"], in["ExpiredTime"], expires, in["RenewFlag"],
					in["InstanceState"])
			}
			a.OK("cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
			if state := a.Describe(object{"InstanceIds": []string{id}})[0]["InstanceState"]; state != "SHUTDOWN" {
				t.Errorf("terminated once: %v", state)
			}
			a.OK("cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
			if left := a.Describe(object{"InstanceIds": []string{id}}); len(left) != 0 {
				t.Errorf("terminated twice: %v", left)
			}
			checkHoldings(t, a, "gone", map[string]any{from: "SELL", "PREPAID": "SELL", "PrePaidQuotaSet": 0.0})
		})
	}
}

// A converted instance is not reclaimed.
func TestConvertEndsAReclaim(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Frozen)
	id := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{})[0]
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{id}, Notice: cvmsim.Duration(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if err := sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: []string{id}, ChargeType: "PREPAID"}); err != nil {
		t.Fatal(err)
	}
	cvmsimtest.Step(t, sim, time.Hour)
	if all := sim.Server.Instances(); len(all) != 1 || all[0].State != "RUNNING" {
		t.Errorf("the world has %+v", all)
	}
}
