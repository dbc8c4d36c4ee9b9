package cvmsim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// holdings are what an account uses in ap-singapore-2, and what is left to buy
// of the type that the tests launch.
func holdings(a *api) map[string]any {
	quota := a.ok("cvm", "DescribeAccountQuota", filterBy("zone", "ap-singapore-2"))["AccountQuotaOverview"].(object)["AccountQuota"].(object)
	out := map[string]any{}
	for _, set := range []string{"SpotPaidQuotaSet", "PostPaidQuotaSet", "PrePaidQuotaSet"} {
		out[set] = quota[set].([]any)[0].(object)["UsedQuota"]
	}
	for _, charge := range []string{"SPOTPAID", "POSTPAID_BY_HOUR", "PREPAID"} {
		offers := a.ok("cvm", "DescribeZoneInstanceConfigInfos", filterBy("zone", "ap-singapore-2", "instance-type", "GN7.2XLARGE32", "instance-charge-type", charge))
		out[charge] = offers["InstanceTypeQuotaSet"].([]any)[0].(object)["Status"]
	}
	return out
}

func checkHoldings(t *testing.T, a *api, when string, want map[string]any) {
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
			sim := cvmsimtest.Start(t, frozen, func(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay = -1, -1 })
			a := newAPI(t, sim)
			for _, charge := range []string{from, "PREPAID"} { // one of each
				if status, answer := control(t, sim, http.MethodPost, "stock", `{"availability_zone":"ap-singapore-2","instance_type":"GN7.2XLARGE32","stock":1,"charge_type":"`+charge+`"}`); status != http.StatusOK {
					t.Fatal(answer)
				}
			}
			id := a.run(object{"InstanceChargeType": from})[0]
			checkHoldings(t, a, "launched", map[string]any{from: "SOLD_OUT", "PREPAID": "SELL", "PrePaidQuotaSet": 0.0})
			step(t, sim, time.Hour)
			if status, answer := control(t, sim, http.MethodPost, "state", `{"instance_ids":["`+id+`"],"charge_type":"PREPAID"}`); status != http.StatusOK {
				t.Fatal(answer)
			}
			checkHoldings(t, a, "converted", map[string]any{
				from: "SELL", "PREPAID": "SOLD_OUT", "SpotPaidQuotaSet": 0.0, "PostPaidQuotaSet": 0.0, "PrePaidQuotaSet": 1.0,
			})
			in := a.describe(object{"InstanceIds": []string{id}})[0]
			expires := sim.Server.Now().UTC().AddDate(0, 1, 0).Format("2006-01-02T15:04:05Z")
			if in["InstanceChargeType"] != "PREPAID" || in["ExpiredTime"] != expires || in["RenewFlag"] != "NOTIFY_AND_MANUAL_RENEW" || in["InstanceState"] != "RUNNING" {
				t.Errorf("converted: %v, expires %v (want %s), %v, %v", in["InstanceChargeType"], in["ExpiredTime"], expires, in["RenewFlag"], in["InstanceState"])
			}
			a.ok("cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
			if state := a.describe(object{"InstanceIds": []string{id}})[0]["InstanceState"]; state != "SHUTDOWN" {
				t.Errorf("terminated once: %v", state)
			}
			a.ok("cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
			if left := a.describe(object{"InstanceIds": []string{id}}); len(left) != 0 {
				t.Errorf("terminated twice: %v", left)
			}
			checkHoldings(t, a, "gone", map[string]any{from: "SELL", "PREPAID": "SELL", "PrePaidQuotaSet": 0.0})
		})
	}
}

// What is converted while the cloud takes it back stays.
func TestConvertEndsAReclaim(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, frozen)
	id := seed(t, sim, cvmsim.SeedRequest{})[0]
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{id}, Notice: cvmsim.Duration(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if err := sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: []string{id}, ChargeType: "PREPAID"}); err != nil {
		t.Fatal(err)
	}
	step(t, sim, time.Hour)
	if all := sim.Server.Instances(); len(all) != 1 || all[0].State != "RUNNING" {
		t.Errorf("the world has %+v", all)
	}
}

func TestPrepaidLaunch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(dir string) *cvmsimtest.Sim {
		return cvmsimtest.Start(t, frozen, func(o *cvmsim.Options) { o.StateDir = dir })
	}
	sim := keep(dir)
	a := newAPI(t, sim)
	prepaid := func(count int, renew string) object {
		return launch(object{"InstanceChargeType": "PREPAID", "InstanceCount": count, "InstanceChargePrepaid": object{"Period": 12, "RenewFlag": renew}})
	}
	a.refused("InvalidParameterValue", "cvm", "RunInstances", prepaid(1, "PERHAPS"))
	a.ok("cvm", "RunInstances", prepaid(1, "NOTIFY_AND_AUTO_RENEW"))
	number := int64(500)
	if err := sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: "PREPAID", Stock: &number}); err != nil {
		t.Fatal(err)
	}
	a.refused("LimitExceeded.PrepayQuota", "cvm", "RunInstances", prepaid(100, "NOTIFY_AND_MANUAL_RENEW"))
	expires := sim.Server.Now().UTC().AddDate(1, 0, 0).Format("2006-01-02T15:04:05Z")
	for when, a := range map[string]*api{"now": a, "after a restart": newAPI(t, keep(copied(t, dir)))} {
		if in := a.describe(nil)[0]; in["ExpiredTime"] != expires || in["RenewFlag"] != "NOTIFY_AND_AUTO_RENEW" {
			t.Errorf("%s: expires %v (want %s), %v", when, in["ExpiredTime"], expires, in["RenewFlag"])
		}
	}
}
