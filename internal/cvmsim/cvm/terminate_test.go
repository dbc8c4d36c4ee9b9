package cvm_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// One id that can't be terminated fails the whole call.
func TestTerminateRefusals(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	spot := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{})[0]
	many := make([]string, 101)
	for i := range many {
		many[i] = spot
	}
	for name, test := range map[string]struct {
		ids  []string
		code string
	}{
		"none":           {nil, "MissingParameter"},
		"malformed":      {[]string{spot, "i-1"}, "InvalidInstanceId.Malformed"},
		"unknown":        {[]string{spot, "ins-nothere0"}, "InvalidInstanceId.NotFound"},
		"another region": {[]string{cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{AvailabilityZone: "ap-tokyo-1"})[0]}, "InvalidInstanceId.NotFound"},
		"twice":          {[]string{spot, spot}, "InvalidParameterValue"},
		"101":            {many, "InvalidParameterValue.LimitExceeded"},
		"mixed": {
			[]string{spot, cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{ChargeType: "POSTPAID_BY_HOUR"})[0]}, "UnsupportedOperation.InstanceMixedPricingModel",
		},
		"protected": {[]string{spot, cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Protected: true})[0]}, "UnsupportedOperation.InstancesProtected"},
		"pending":   {[]string{spot, cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{State: "PENDING"})[0]}, "UnsupportedOperation.InstanceStatePending"},
		"launch failed": {
			[]string{spot, cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{State: "LAUNCH_FAILED"})[0]}, "UnsupportedOperation.InstanceStateLaunchFailed",
		},
		"terminating": {
			[]string{spot, cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{State: "TERMINATING"})[0]}, "UnsupportedOperation.InstanceStateTerminating",
		},
		"rebooting": {[]string{spot, cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{State: "REBOOTING"})[0]}, "UnsupportedOperation.InstanceStateRebooting"},
		"entering rescue": {
			[]string{spot, cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{State: "ENTER_RESCUE_MODE"})[0]}, "UnsupportedOperation.InstanceStateEnterRescueMode",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cvmsimtest.NewClient(t, sim).Refused(test.code, "cvm", "TerminateInstances", object{"InstanceIds": test.ids})
		})
	}
	if state := a.Describe(object{"InstanceIds": []string{spot}})[0]["InstanceState"]; state != "RUNNING" {
		t.Errorf("a refused call left its first instance %v", state)
	}
}

func TestTerminate(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Slow)
	a := cvmsimtest.NewClient(t, sim)
	ids := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Count: 2})
	a.OK("cvm", "TerminateInstances", object{"InstanceIds": ids})
	if in := a.Describe(object{"InstanceIds": ids})[0]; in["InstanceState"] != "TERMINATING" {
		t.Errorf("at once: %v", in["InstanceState"])
	}
	cvmsimtest.Step(t, sim, time.Minute)
	if left := a.Describe(object{"InstanceIds": ids}); len(left) != 0 {
		t.Errorf("after the delay: %v", left)
	}
	a.Refused("InvalidInstanceId.NotFound", "cvm", "TerminateInstances", object{"InstanceIds": ids})
}

func TestRecycleBin(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.RecycleBin, o.TerminateDelay = true, -1 })
	a := cvmsimtest.NewClient(t, sim)
	ids := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{})
	a.OK("cvm", "TerminateInstances", object{"InstanceIds": ids})
	if in := a.Describe(object{"InstanceIds": ids})[0]; in["InstanceState"] != "SHUTDOWN" || in["IsolatedSource"] != "MANMADE" {
		t.Errorf("after the first call: %v, %v", in["InstanceState"], in["IsolatedSource"])
	}
	a.OK("cvm", "TerminateInstances", object{"InstanceIds": ids})
	if left := a.Describe(object{"InstanceIds": ids}); len(left) != 0 {
		t.Errorf("after the second call: %v", left)
	}
}

func TestTerminationProtection(t *testing.T) {
	t.Parallel()
	a := cvmsimtest.NewClient(t, cvmsimtest.Start(t))
	ids := a.Run(object{"DisableApiTermination": true})
	a.Refused("UnsupportedOperation.InstancesProtected", "cvm", "TerminateInstances", object{"InstanceIds": ids})
	if in := a.Describe(nil)[0]; in["DisableApiTermination"] != true {
		t.Errorf("DisableApiTermination is %v", in["DisableApiTermination"])
	}
}
