package tencent

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func observed(t *testing.T, client *Client, ids []string) []spotpool.Instance {
	t.Helper()
	list, _, err := client.ObserveInstances(t.Context(), testRegion, ids)
	if err != nil || len(list) != len(ids) {
		t.Fatalf("observed %d of %d, %v", len(list), len(ids), err)
	}
	return list
}

func setState(t *testing.T, sim *cvmsim.Server, request cvmsim.StateRequest) {
	t.Helper()
	if err := sim.SetState(request); err != nil {
		t.Fatal(err)
	}
}

// 150 instances of two charge types, some of them gone, ending or protected at the time of the
// call. The rest is terminated, and nothing else is.
func TestTerminateManyOfAllKinds(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	spot := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 130})
	hourly := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 20, ChargeType: "POSTPAID_BY_HOUR"})
	foreign := seed(t, sim, cvmsim.SeedRequest{UID: "uid-2", Count: 30})
	given := observed(t, client, slices.Concat(spot, hourly))

	vanished, ending, protected, busy := spot[3:7], spot[60:62], []string{spot[20], hourly[5]}, spot[110:111]
	setState(t, sim, cvmsim.StateRequest{InstanceIDs: vanished, State: "GONE"})
	setState(t, sim, cvmsim.StateRequest{InstanceIDs: ending, State: "TERMINATING"})
	yes := true
	setState(t, sim, cvmsim.StateRequest{InstanceIDs: protected, Protected: &yes})
	setState(t, sim, cvmsim.StateRequest{InstanceIDs: busy, State: "PENDING"})
	sim.ResetCalls()

	ended, err := client.Terminate(t.Context(), testRegion, given)
	left := slices.Concat(protected, busy)
	var want []string
	for _, i := range given {
		if !slices.Contains(left, i.ID) {
			want = append(want, i.ID)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, ended); diff != "" {
		t.Error(diff)
	}
	var not *NotTerminatedError
	if !errors.As(err, &not) || len(not.Reasons) != 3 {
		t.Fatalf("%v", err)
	}
	for _, id := range left {
		if !strings.Contains(err.Error(), id) {
			t.Errorf("the error does not name %s: %v", id, err)
		}
	}
	asked := map[string]bool{}
	for _, i := range given {
		asked[i.ID] = true
	}
	for _, call := range callsOf(sim, "TerminateInstances") {
		if len(call.InstanceIDs) > 100 {
			t.Errorf("a call for %d instances", len(call.InstanceIDs))
		}
		for _, id := range call.InstanceIDs {
			if !asked[id] {
				t.Errorf("terminated %s, which was not requested", id)
			}
		}
	}
	there := map[string]string{}
	for _, i := range sim.Instances() {
		there[i.InstanceID] = i.State
	}
	for _, id := range slices.Concat(foreign, left) {
		if there[id] == "" || there[id] == "TERMINATING" {
			t.Errorf("%s is %q", id, there[id])
		}
	}
	if n := len(callsOf(sim, "TerminateInstances")) + len(callsOf(sim, "DescribeInstances")); n > 20 {
		t.Errorf("%d calls", n)
	}
}

func TestTerminateLeavesWhatItMay(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 2})
	list := observed(t, client, ids)
	elsewhere, pending, failed, going := list[0], list[0], list[0], list[0]
	elsewhere.ID, elsewhere.Region = "ins-elsewher", "ap-tokyo"
	pending.ID, pending.State = "ins-pending0", spotpool.StatePending
	failed.ID, failed.State = "ins-failed00", spotpool.StateLaunchFailed
	going.ID, going.State = "ins-going000", spotpool.StateTerminating
	list[1].APIProtected = true
	ended, err := client.Terminate(t.Context(), testRegion, append(list, elsewhere, pending, failed, going))
	if want := slices.Sorted(slices.Values([]string{ids[0], failed.ID, going.ID})); !slices.Equal(ended, want) {
		t.Errorf("ended %v, want %v", ended, want)
	}
	var not *NotTerminatedError
	if !errors.As(err, &not) || len(not.Reasons) != 3 || not.Reasons[elsewhere.ID] == "" || not.Reasons[pending.ID] == "" || not.Reasons[list[1].ID] == "" {
		t.Errorf("%v", err)
	}
	if calls := callsOf(sim, "TerminateInstances"); len(calls) != 1 || !slices.Equal(calls[0].InstanceIDs, ids[:1]) {
		t.Errorf("%v", calls)
	}
}

// An instance that went to another pool between the observation and the call stays.
func TestTerminateChecksTheOwnerAgain(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 3})
	list := observed(t, client, ids)
	if err := client.Tag(t.Context(), testRegion, ids[:1], map[string]string{spotpool.TagUID: "uid-2"}); err != nil {
		t.Fatal(err)
	}
	setState(t, sim, cvmsim.StateRequest{InstanceIDs: ids[1:2], State: "GONE"}) // causes a refusal of the whole call
	ended, err := client.Terminate(t.Context(), testRegion, list)
	if want := slices.Sorted(slices.Values(ids[1:])); !slices.Equal(ended, want) || err == nil || !strings.Contains(err.Error(), ids[0]) {
		t.Errorf("ended %v, %v", ended, err)
	}
}

func TestTerminateOneThatTheCloudRefusesWithoutReason(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 9})
	addFault(t, sim, cvmsim.Fault{
		Kind: cvmsim.FaultError, Action: "TerminateInstances", Code: "UnsupportedOperation.SpecialInstanceType", InstanceID: ids[4], Count: -1,
	})
	ended, err := client.Terminate(t.Context(), testRegion, observed(t, client, ids))
	if len(ended) != 8 || slices.Contains(ended, ids[4]) || err == nil || !strings.Contains(err.Error(), ids[4]) {
		t.Errorf("ended %v, %v", ended, err)
	}
}

func TestTerminateOnceMoreAfterAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 3})
	list := observed(t, client, ids)
	addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultResetAfter, Action: "TerminateInstances"})
	ended, err := client.Terminate(t.Context(), testRegion, list)
	if err != nil || len(ended) != 3 {
		t.Errorf("ended %v, %v", ended, err)
	}
}

func TestTerminateStopsWhereNothingCanSucceed(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Count: 250})
	list := observed(t, client, ids)
	addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultError, Action: "TerminateInstances", Code: "UnauthorizedOperation", Count: -1})
	ended, err := client.Terminate(t.Context(), testRegion, list)
	if cloud := cloudError(t, err); len(ended) != 0 || cloud.Class != errorclass.Authorization || client.Calls()["TerminateInstances"] > 12 {
		t.Errorf("ended %v, %v, %v: want it to stop once a few were refused by themselves", ended, err, client.Calls())
	}
}
