package world_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// An instance that isn't listed yet is in the world, and in no answer.
func TestListingDelay(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Frozen, cvmsimtest.Slow)
	a := cvmsimtest.NewClient(t, sim)
	if status, answer := cvmsimtest.Control(t, sim, http.MethodPost, "settings", `{"listing_delay":"30s"}`); status != http.StatusOK {
		t.Fatal(answer)
	}
	id := a.Run(nil)[0]
	for _, wait := range []time.Duration{0, 30*time.Second - 1} {
		cvmsimtest.Step(t, sim, wait)
		cvmsimtest.CheckListings(t, a, id, 0)
	}
	a.Refused("InvalidInstanceId.NotFound", "cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
	a.Refused("ResourceNotFound.RecordNotFound", "tag", "ModifyResourceTags", object{
		"Resource": "qcs::cvm:ap-singapore:uin/:instance/" + id, "ReplaceTags": []object{{"TagKey": "k", "TagValue": "v"}},
	})
	all := sim.Server.Instances()
	if len(all) != 1 || all[0].ListedAt == nil || all[0].ListedAt.Before(all[0].CreatedAt.Add(30*time.Second)) {
		t.Errorf("the world has %+v", all)
	}
	quota := a.OK("cvm", "DescribeAccountQuota", cvmsimtest.FilterBy("zone", "ap-singapore-2", "quota-type", "SpotPaidQuotaSet"))
	spot := quota["AccountQuotaOverview"].(object)["AccountQuota"].(object)["SpotPaidQuotaSet"].([]any)[0].(object)
	if spot["UsedQuota"] != 8.0 {
		t.Errorf("quota: %v", spot)
	}
	cvmsimtest.Step(t, sim, 1)
	cvmsimtest.CheckListings(t, a, id, 1)
	if at := sim.Server.Instances()[0].ListedAt; at != nil {
		t.Errorf("still to be listed at %v", at)
	}
	cvmsimtest.Step(t, sim, time.Hour) // it runs
	a.OK("cvm", "TerminateInstances", object{"InstanceIds": []string{id}})
}

// The launch decides the delay of its instances.
func TestListingDelayOfLaterLaunches(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Frozen, cvmsimtest.Slow, func(o *cvmsim.Options) { o.ListingDelay = time.Minute })
	a := cvmsimtest.NewClient(t, sim)
	first := a.Run(nil)[0]
	none := cvmsim.Duration(0)
	if err := sim.Server.Configure(cvmsim.Settings{ListingDelay: &none}); err != nil {
		t.Fatal(err)
	}
	second := a.Run(nil)[0]
	listed := func(want ...string) {
		t.Helper()
		found := a.Describe(nil)
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
	cvmsimtest.Step(t, sim, time.Minute)
	listed(first, second) // in the order of launches
}

// A failed launch or an interruption may end before the instance is listed, and earlier tags
// are listed with it.
func TestEventsBeforeTheListing(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Frozen, func(o *cvmsim.Options) {
		o.ListingDelay, o.TagDelay, o.LaunchFailedLinger = time.Hour, time.Minute, time.Minute
	})
	a := cvmsimtest.NewClient(t, sim)
	cvmsimtest.AddFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultLaunchFailed})
	a.Run(nil)
	reclaimed, kept := a.Run(nil)[0], a.Run(nil)[0]
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{reclaimed}}); err != nil {
		t.Fatal(err)
	}
	cvmsimtest.Step(t, sim, 59*time.Minute)
	if all := sim.Server.Instances(); len(all) != 1 || all[0].InstanceID != kept {
		t.Errorf("the world has %+v", all)
	}
	cvmsimtest.CheckListings(t, a, kept, 0)
	cvmsimtest.Step(t, sim, time.Minute)
	cvmsimtest.CheckListings(t, a, kept, 1)
}

func TestListingDelaySurvives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(dir string) *cvmsimtest.Sim {
		return cvmsimtest.Start(t, cvmsimtest.Frozen, cvmsimtest.Slow, func(o *cvmsim.Options) { o.StateDir, o.ListingDelay = dir, time.Hour })
	}
	before := keep(dir)
	id := cvmsimtest.NewClient(t, before).Run(nil)[0]
	after := keep(cvmsimtest.CopyOf(t, dir))
	a := cvmsimtest.NewClient(t, after)
	cvmsimtest.CheckListings(t, a, id, 0)
	cvmsimtest.Step(t, after, time.Hour)
	cvmsimtest.CheckListings(t, a, id, 1)
}
