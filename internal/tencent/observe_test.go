package tencent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func idsOf(list []spotpool.Instance) []string {
	var ids []string
	for _, i := range list {
		ids = append(ids, i.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestObserveRegionPages(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	var want []string
	for n := range 5 {
		want = append(want, seed(t, sim, cvmsim.SeedRequest{Pool: fmt.Sprint("p", n), UID: fmt.Sprint("uid-", n), Count: 50})...)
	}
	seed(t, sim, cvmsim.SeedRequest{Count: 130}) // foreign
	slices.Sort(want)
	seen, _, err := client.ObserveRegion(t.Context(), testRegion)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, idsOf(seen)); diff != "" {
		t.Error(diff)
	}
	if n := client.Calls()["DescribeInstances"]; n != 3 {
		t.Errorf("%d calls for 250 instances, want 3", n)
	}
}

// A zone that a pool may name is one in which its instances are the pool's own,
// and the other way round.
func TestAnInstanceIsOfTheZonesThatPoolsMayName(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{
		"ap-singapore-1", "ap-singapore-12", "ap-singapore-ez-1", "ap-singapore-edge", "ap-singapore-fsi-1",
		"ap-singapore", "ap-singapore-", "ap-singapore-+1", "ap-singapore--1", "ap-singapore-01", "ap-singapore-A", "ap-tokyo-1", "",
	} {
		url := answering(t, map[string]any{
			"GetCallerIdentity": map[string]any{"AccountId": "1"},
			"DescribeInstances": map[string]any{"TotalCount": 1, "InstanceSet": []any{map[string]any{
				"InstanceId": "ins-00000001", "Placement": map[string]any{"Zone": zone},
				"Tags": []any{map[string]any{"Key": spotpool.TagUID, "Value": "uid-1"}},
			}}},
		})
		seen, _, err := newClient(t, testConfig(url)).ObservePool(t.Context(), "ap-singapore", "uid-1", nil)
		if err != nil || len(seen) != 1 {
			t.Fatal(seen, err)
		}
		d := spotpool.Declaration{Name: "train", Region: "ap-singapore", Offerings: []spotpool.Offering{{AvailabilityZone: zone}}}
		valid := true
		for _, p := range d.Validate() {
			valid = valid && p.Attribute != "offerings[0].availability_zone"
		}
		if own := seen[0].Region == "ap-singapore"; own != valid {
			t.Errorf("%q: valid %v, its instances the pool's own %v", zone, valid, own)
		}
	}
}

// moving is a cloud whose instances come and go between two pages.
func moving(t *testing.T, rests bool) (string, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	_, url := record(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("X-TC-Action") == "GetCallerIdentity" {
			_, _ = fmt.Fprint(w, `{"Response":{"AccountId":"1"}}`)
			return
		}
		n := int(calls.Add(1))
		request := struct{ Offset, Limit int }{}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		total := 250
		if n > 1 && !rests || n == 2 {
			total = 250 - n
		}
		type instance struct {
			ID string `json:"InstanceId"`
		}
		set := []instance{}
		for i := request.Offset; i < min(total, request.Offset+request.Limit); i++ {
			set = append(set, instance{fmt.Sprintf("ins-%08d", i)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Response": map[string]any{"TotalCount": total, "InstanceSet": set}})
	}))
	return url, &calls
}

func TestAListingThatMovesIsBegunAgain(t *testing.T) {
	t.Parallel()
	t.Run("until it rests", func(t *testing.T) {
		t.Parallel()
		url, calls := moving(t, true)
		seen, _, err := newClient(t, testConfig(url)).ObserveRegion(t.Context(), testRegion)
		if err != nil || len(seen) != 250 || calls.Load() != 6 {
			t.Errorf("%d seen in %d calls, %v", len(seen), calls.Load(), err)
		}
	})
	t.Run("or three times", func(t *testing.T) {
		t.Parallel()
		url, calls := moving(t, false)
		seen, _, err := newClient(t, testConfig(url)).ObserveRegion(t.Context(), testRegion)
		if err != nil || calls.Load() != 9 || len(seen) < 240 || len(seen) > 250 {
			t.Errorf("%d seen in %d calls, %v", len(seen), calls.Load(), err)
		}
	})
}

func TestObservePool(t *testing.T) {
	t.Parallel()
	t.Run("one call where tags show all", func(t *testing.T) {
		t.Parallel()
		sim, client := startSim(t)
		mine := seed(t, sim, cvmsim.SeedRequest{Pool: "train", UID: "uid-1", Count: 100})
		seed(t, sim, cvmsim.SeedRequest{Pool: "train", UID: "uid-2", Count: 3})
		seed(t, sim, cvmsim.SeedRequest{Count: 3})
		seen, _, err := client.ObservePool(t.Context(), testRegion, "uid-1", mine)
		if err != nil || len(seen) != 100 || client.Calls()["DescribeInstances"] != 1 {
			t.Errorf("%d seen, %v, calls %v", len(seen), err, client.Calls())
		}
	})
	t.Run("an unused tag key", func(t *testing.T) {
		t.Parallel()
		sim, client := startSim(t)
		strict := true
		if err := sim.Configure(cvmsim.Settings{TagKeyNotFound: &strict}); err != nil {
			t.Fatal(err)
		}
		seen, at, err := client.ObservePool(t.Context(), testRegion, "uid-1", nil)
		if err != nil || len(seen) != 0 || at.IsZero() {
			t.Errorf("%v, %s, %v", seen, at, err)
		}
		if calls := callsOf(sim, "DescribeInstances"); len(calls) != 1 || calls[0].Outcome != codeTagKeyNotFound {
			t.Errorf("%v", calls)
		}
	})
}

func TestObserveByIDInBatches(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 240})
	list, _, err := client.ObserveInstances(t.Context(), testRegion, slices.Concat(ids, ids))
	if err != nil || len(list) != 240 || len(callsOf(sim, "DescribeInstances")) != 3 {
		t.Errorf("%d seen in %d calls, %v", len(list), len(callsOf(sim, "DescribeInstances")), err)
	}
}

func TestTransientFaultsOfReadsAreRetried(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{cvmsim.FaultThrottle, cvmsim.FaultHTTP502, cvmsim.FaultBadJSON, cvmsim.FaultResetBefore} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			sim, client := startSim(t)
			seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 5})
			addFault(t, sim, cvmsim.Fault{Kind: kind, Action: "DescribeInstances", Count: 3})
			seen, _, err := client.ObserveRegion(t.Context(), testRegion)
			if err != nil || len(seen) != 5 || client.Calls()["DescribeInstances"] != 4 {
				t.Errorf("%d seen, %v, calls %v", len(seen), err, client.Calls())
			}
		})
	}
}

// TestObservedInstance covers its fields and its tags.
func TestObservedInstance(t *testing.T) {
	t.Parallel()
	const wire = `{"Placement":{"Zone":"ap-singapore-2"},"InstanceId":"ins-00000001","InstanceType":"GN7.2XLARGE32","InstanceChargeType":"SPOTPAID",
		"InstanceState":"LAUNCH_FAILED","RestrictState":"PROTECTIVELY_ISOLATED","CreatedTime":"2026-02-03T04:05:06Z","ExpiredTime":null,
		"PrivateIpAddresses":["10.0.0.1"],"PublicIpAddresses":["203.0.113.1"],"GPUInfo":null,"DisableApiTermination":true,
		"VirtualPrivateCloud":{"VpcId":"vpc-1","SubnetId":"subnet-1"},"LatestOperationState":"FAILED","LatestOperationErrorMsg":"no stock",
		"Tags":[{"Key":"gpupool/uid","Value":"u"},{"Key":"gpupool/pool","Value":"p"},{"Key":"gpupool/seq","Value":"12"},{"Key":"gpupool/config","Value":"1:a"},{"Key":"gpupool/protected","Value":"true"},{"Key":"team","Value":"x"}]}`
	observed := func(instance any) spotpool.Instance {
		t.Helper()
		url := answering(t, map[string]any{
			"GetCallerIdentity": map[string]any{"AccountId": "1"},
			"DescribeInstances": map[string]any{"TotalCount": 1, "InstanceSet": []any{instance}},
		})
		seen, _, err := newClient(t, testConfig(url)).ObserveInstances(t.Context(), testRegion, []string{"ins-00000001"})
		if err != nil || len(seen) != 1 {
			t.Fatal(seen, err)
		}
		return seen[0]
	}
	want := spotpool.Instance{
		ID: "ins-00000001", Region: testRegion, AccountID: "1", PoolUID: "u", PoolName: "p", SeqTag: 12, ConfigurationTag: "1:a",
		AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-1", VPCID: "vpc-1", ChargeType: spotpool.Spot,
		State: spotpool.StateLaunchFailed, Restricted: true, Protected: true, APIProtected: true,
		LaunchedAt: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), PrivateIP: "10.0.0.1", PublicIP: "203.0.113.1", OperationError: "no stock",
	}
	if diff := cmp.Diff(want, observed(json.RawMessage(wire))); diff != "" {
		t.Error(diff)
	}
	elsewhere := map[string]any{"InstanceId": "ins-00000001", "Placement": map[string]any{"Zone": "ap-tokyo-1"}}
	if got := observed(elsewhere); got.Region != "" {
		t.Errorf("an instance of another region was taken for one of this: %+v", got)
	}
	for text, protected := range map[string]bool{"true": true, "": true, "yes": true, "false": false, "No": false, "0": false} {
		tagged := map[string]any{"InstanceId": "ins-00000001", "Tags": []any{map[string]any{"Key": spotpool.TagProtected, "Value": text}}}
		if got := observed(tagged); got.Protected != protected {
			t.Errorf("%s = %q: protected %v", spotpool.TagProtected, text, got.Protected)
		}
	}
}

// Reading an arbitrary response does not fail.
func FuzzInstanceFrom(f *testing.F) {
	f.Add([]byte(`{"InstanceId":"ins-1","Tags":[null,{"Key":"gpupool/seq","Value":"-1"}],"PrivateIpAddresses":[null],"CreatedTime":"x"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var i cvm.Instance
		if json.Unmarshal(data, &i) != nil {
			return
		}
		got := instanceFrom(&i, testRegion, "1")
		if got.SeqTag < 0 || got.Region != "" && got.Region != testRegion {
			t.Errorf("%+v", got)
		}
	})
}
