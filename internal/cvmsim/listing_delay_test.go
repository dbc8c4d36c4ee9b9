package cvmsim_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// frozen keeps the base clock still, so that the world's moves by steps alone.
func frozen(o *cvmsim.Options) {
	now := time.Now()
	o.Clock = func() time.Time { return now }
}

// sightings asks for an instance in every way in which the API shows one, and
// returns how often each found it.
func sightings(a *api, id string) map[string]int {
	name := "qcs::cvm:ap-singapore:uin/:instance/" + id
	byTag := []object{{"TagKey": "gpupool/pool", "TagValue": []string{"train"}}}
	count := func(list any) int { items, _ := list.([]any); return len(items) }
	return map[string]int{
		"all":              len(a.describe(nil)),
		"by id":            len(a.describe(object{"InstanceIds": []string{id}})),
		"by tag":           len(a.describe(filterBy("tag:gpupool/pool", "train"))),
		"by another field": len(a.describe(filterBy("zone", "ap-singapore-2"))),
		"states":           count(a.ok("cvm", "DescribeInstancesStatus", nil)["InstanceStatusSet"]),
		"state by id":      count(a.ok("cvm", "DescribeInstancesStatus", object{"InstanceIds": []string{id}})["InstanceStatusSet"]),
		"tagged":           count(a.ok("tag", "DescribeResourcesByTags", object{"TagFilters": byTag})["Rows"]),
		"resources":        count(a.ok("tag", "GetResources", object{"TagFilters": byTag})["ResourceTagMappingList"]),
		"resource by name": count(a.call("tag", "GetResources", object{"ResourceList": []string{name}})["ResourceTagMappingList"]),
		"tags by id": count(a.ok("tag", "DescribeResourceTagsByResourceIds", object{
			"ServiceType": "cvm", "ResourcePrefix": "instance", "ResourceRegion": "ap-singapore", "ResourceIds": []string{id},
		})["Tags"]),
	}
}

func checkSightings(t *testing.T, a *api, id string, want int) {
	t.Helper()
	for way, n := range sightings(a, id) {
		if n != want {
			t.Errorf("%s: found %d times, want %d", way, n, want)
		}
	}
}

// An instance that isn't listed yet is in the world, and in no answer.
func TestListingDelay(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, frozen, slow)
	a := newAPI(t, sim)
	if status, answer := control(t, sim, http.MethodPost, "settings", `{"listing_delay":"30s"}`); status != http.StatusOK {
		t.Fatal(answer)
	}
	id := a.run(nil)[0]
	for _, wait := range []time.Duration{0, 30*time.Second - 1} {
		step(t, sim, wait)
		checkSightings(t, a, id, 0)
	}
	a.refused("InvalidInstanceId.NotFound", "cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
	a.refused("InvalidInstanceId.NotFound", "cvm", "ModifyInstancesAttribute", object{"InstanceIds": []string{id}, "InstanceName": "n"})
	a.refused("ResourceNotFound.RecordNotFound", "tag", "ModifyResourceTags", object{
		"Resource": "qcs::cvm:ap-singapore:uin/:instance/" + id, "ReplaceTags": []object{{"TagKey": "k", "TagValue": "v"}},
	})
	all := sim.Server.Instances()
	if len(all) != 1 || all[0].ListedAt == nil || all[0].ListedAt.Before(all[0].CreatedAt.Add(30*time.Second)) {
		t.Errorf("the world has %+v", all)
	}
	quota := a.ok("cvm", "DescribeAccountQuota", filterBy("zone", "ap-singapore-2", "quota-type", "SpotPaidQuotaSet"))
	spot := quota["AccountQuotaOverview"].(object)["AccountQuota"].(object)["SpotPaidQuotaSet"].([]any)[0].(object)
	if spot["UsedQuota"] != 8.0 {
		t.Errorf("quota: %v", spot)
	}
	step(t, sim, 1)
	checkSightings(t, a, id, 1)
	if at := sim.Server.Instances()[0].ListedAt; at != nil {
		t.Errorf("still to be listed at %v", at)
	}
	step(t, sim, time.Hour) // it runs
	a.ok("cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
}

// What an instance waits for is decided at its launch.
func TestListingDelayOfLaterLaunches(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, frozen, slow, func(o *cvmsim.Options) { o.ListingDelay = time.Minute })
	a := newAPI(t, sim)
	first := a.run(nil)[0]
	none := cvmsim.Duration(0)
	if err := sim.Server.Configure(cvmsim.Settings{ListingDelay: &none}); err != nil {
		t.Fatal(err)
	}
	second := a.run(nil)[0]
	listed := func(want ...string) {
		t.Helper()
		found := a.describe(nil)
		if len(found) != len(want) {
			t.Fatalf("%d are listed, want %v", len(found), want)
		}
		for i, id := range want {
			if found[i]["InstanceId"] != id {
				t.Errorf("number %d is %v, want %s", i, found[i]["InstanceId"], id)
			}
		}
	}
	listed(second)
	step(t, sim, time.Minute)
	listed(first, second) // in the order of launches
}

// A failed launch may be over before anybody saw it, a reclaim too, and tags
// that came meanwhile show with the instance.
func TestWhatHappensBeforeTheListing(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, frozen, func(o *cvmsim.Options) {
		o.ListingDelay, o.TagDelay, o.LaunchFailedLinger = time.Hour, time.Minute, time.Minute
	})
	a := newAPI(t, sim)
	addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultLaunchFailed})
	a.run(nil)
	reclaimed, kept := a.run(nil)[0], a.run(nil)[0]
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{reclaimed}}); err != nil {
		t.Fatal(err)
	}
	step(t, sim, 59*time.Minute)
	if all := sim.Server.Instances(); len(all) != 1 || all[0].InstanceID != kept {
		t.Errorf("the world has %+v", all)
	}
	checkSightings(t, a, kept, 0)
	step(t, sim, time.Minute)
	checkSightings(t, a, kept, 1)
}

func TestListingDelaySurvives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(dir string) *cvmsimtest.Sim {
		return cvmsimtest.Start(t, frozen, slow, func(o *cvmsim.Options) { o.StateDir, o.ListingDelay = dir, time.Hour })
	}
	before := keep(dir)
	id := newAPI(t, before).run(nil)[0]
	after := keep(copied(t, dir))
	a := newAPI(t, after)
	checkSightings(t, a, id, 0)
	step(t, after, time.Hour)
	checkSightings(t, a, id, 1)
}
