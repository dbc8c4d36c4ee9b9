package api_test

import (
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvm"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/sts"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/tag"
)

// faultsHit are the faults of all calls so far, in their order.
// actionsByName are the actions of all APIs.
func actionsByName() map[string]*api.Action {
	table := map[string]*api.Action{}
	for _, a := range slices.Concat(cvm.Actions(), tag.Actions(), sts.Actions()) {
		table[a.Name] = a
	}
	return table
}

func faultsHit(sim *cvmsimtest.Sim) []string {
	var hit []string
	for _, c := range sim.Server.Calls() {
		hit = append(hit, c.Fault)
	}
	return hit
}

// Every action can be hit, after some calls and for some, by its name and by
// none.
func TestFaultsReachEveryAction(t *testing.T) {
	t.Parallel()
	const code = "FailedOperation.OnRequest"
	actions := actionsByName()
	for _, needed := range []string{
		"DescribeZoneInstanceConfigInfos", "DescribeAccountQuota", "DescribeImages", "GetCallerIdentity", "AssumeRole",
		"AssumeRoleWithWebIdentity", "TagResources", "UnTagResources",
	} {
		if actions[needed] == nil {
			t.Errorf("there is no action %s", needed)
		}
	}
	for action, a := range actions {
		for _, named := range []string{action, "*", ""} {
			t.Run(action+" by "+named, func(t *testing.T) {
				t.Parallel()
				sim := cvmsimtest.Start(t)
				client := cvmsimtest.NewClient(t, sim)
				cvmsimtest.AddFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultError, Code: code, Action: named, After: 1, Count: 2})
				var hits []bool
				for range 4 { // without parameters, which is refused later than by a fault
					hits = append(hits, cvmsimtest.CodeOf(client.Call(a.Service, action, nil)) == code)
				}
				if !slices.Equal(hits, []bool{false, true, true, false}) {
					t.Errorf("hit: %v", hits)
				}
			})
		}
	}
}

// Every kind lets calls pass first, hits several in a row, and is over.
func TestEveryKindHitsInARow(t *testing.T) {
	t.Parallel()
	for _, kind := range api.FaultKinds {
		for _, action := range []string{"RunInstances", "*"} {
			t.Run(kind+" of "+action, func(t *testing.T) {
				t.Parallel()
				sim := cvmsimtest.Start(t)
				a := cvmsimtest.NewClient(t, sim)
				cvmsimtest.AddFault(t, sim, cvmsim.Fault{
					Kind: kind, Action: action, After: 1, Count: 2, Code: "FailedOperation.OnRequest", Delay: cvmsim.Duration(time.Millisecond),
				})
				for range 4 {
					resp, err := http.DefaultClient.Do(a.Signed("cvm", "RunInstances", cvmsimtest.Launch(nil)))
					if err != nil {
						continue // no answer is what some kinds are about
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				if hit := faultsHit(sim); !slices.Equal(hit, []string{"", kind, kind, ""}) {
					t.Errorf("hit: %q", hit)
				}
				if left := sim.Server.Faults(); len(left) != 0 {
					t.Errorf("left over: %+v", left)
				}
			})
		}
	}
}

// A fault of any action counts the calls of all of them.
func TestFaultOfAnyActionInARow(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	cvmsimtest.AddFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultThrottle, Action: "*", After: 2, Count: 3})
	a.OK("sts", "GetCallerIdentity", nil)
	a.OK("cvm", "DescribeAccountQuota", nil)
	a.Refused("RequestLimitExceeded", "cvm", "DescribeZoneInstanceConfigInfos", nil)
	a.Refused("RequestLimitExceeded", "tag", "GetResources", nil)
	a.Refused("RequestLimitExceeded", "sts", "GetCallerIdentity", nil)
	a.OK("cvm", "DescribeInstances", nil)
}

// A fault can be about one instance, zone or type, whatever call names it.
func TestFaultsAboutOneThing(t *testing.T) {
	t.Parallel()
	const code = "FailedOperation.OnRequest"
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	ids := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Count: 2})
	cvmsimtest.AddFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultError, Code: code, InstanceID: ids[0], Count: -1})
	cvmsimtest.AddFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultError, Code: code, AvailabilityZone: "ap-singapore-3", Count: -1})
	for _, action := range []string{"DescribeInstances", "DescribeInstancesStatus", "TerminateInstances"} {
		for i, want := range []bool{true, false} {
			if hit := cvmsimtest.CodeOf(a.Call("cvm", action, object{"InstanceIds": ids[i : i+1]})) == code; hit != want {
				t.Errorf("%s of instance %d: hit is %v", action, i, hit)
			}
		}
	}
	for zone, want := range map[string]bool{"ap-singapore-3": true, "ap-singapore-2": false} {
		if hit := cvmsimtest.CodeOf(a.Call("cvm", "RunInstances", cvmsimtest.Launch(object{"Placement": object{"Zone": zone}}))) == code; hit != want {
			t.Errorf("RunInstances in %s: hit is %v", zone, hit)
		}
	}
}
