package cvmsim_test

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
	a := newAPI(t, sim)
	spot := seed(t, sim, cvmsim.SeedRequest{})[0]
	many := make([]string, 101)
	for i := range many {
		many[i] = spot
	}
	for name, test := range map[string]struct {
		ids  []string
		code string
	}{
		"none":            {nil, "MissingParameter"},
		"malformed":       {[]string{spot, "i-1"}, "InvalidInstanceId.Malformed"},
		"unknown":         {[]string{spot, "ins-nothere0"}, "InvalidInstanceId.NotFound"},
		"another region":  {[]string{seed(t, sim, cvmsim.SeedRequest{AvailabilityZone: "ap-tokyo-1"})[0]}, "InvalidInstanceId.NotFound"},
		"twice":           {[]string{spot, spot}, "InvalidParameterValue"},
		"101":             {many, "InvalidParameterValue.LimitExceeded"},
		"mixed":           {[]string{spot, seed(t, sim, cvmsim.SeedRequest{ChargeType: "POSTPAID_BY_HOUR"})[0]}, "UnsupportedOperation.InstanceMixedPricingModel"},
		"protected":       {[]string{spot, seed(t, sim, cvmsim.SeedRequest{Protected: true})[0]}, "UnsupportedOperation.InstancesProtected"},
		"pending":         {[]string{spot, seed(t, sim, cvmsim.SeedRequest{State: "PENDING"})[0]}, "UnsupportedOperation.InstanceStatePending"},
		"launch failed":   {[]string{spot, seed(t, sim, cvmsim.SeedRequest{State: "LAUNCH_FAILED"})[0]}, "UnsupportedOperation.InstanceStateLaunchFailed"},
		"terminating":     {[]string{spot, seed(t, sim, cvmsim.SeedRequest{State: "TERMINATING"})[0]}, "UnsupportedOperation.InstanceStateTerminating"},
		"rebooting":       {[]string{spot, seed(t, sim, cvmsim.SeedRequest{State: "REBOOTING"})[0]}, "UnsupportedOperation.InstanceStateRebooting"},
		"entering rescue": {[]string{spot, seed(t, sim, cvmsim.SeedRequest{State: "ENTER_RESCUE_MODE"})[0]}, "UnsupportedOperation.InstanceStateEnterRescueMode"},
	} {
		t.Run(name, func(t *testing.T) {
			newAPI(t, sim).refused(test.code, "cvm", "TerminateInstances", object{"InstanceIds": test.ids})
		})
	}
	if state := a.describe(object{"InstanceIds": []string{spot}})[0]["InstanceState"]; state != "RUNNING" {
		t.Errorf("a refused call left its first instance %v", state)
	}
}

func TestTerminate(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, slow)
	a := newAPI(t, sim)
	ids := seed(t, sim, cvmsim.SeedRequest{Count: 2})
	a.ok("cvm", "TerminateInstances", object{"InstanceIds": ids})
	if in := a.describe(object{"InstanceIds": ids})[0]; in["InstanceState"] != "TERMINATING" {
		t.Errorf("at once: %v", in["InstanceState"])
	}
	step(t, sim, time.Minute)
	if left := a.describe(object{"InstanceIds": ids}); len(left) != 0 {
		t.Errorf("after the delay: %v", left)
	}
	a.refused("InvalidInstanceId.NotFound", "cvm", "TerminateInstances", object{"InstanceIds": ids})
}

func TestRecycleBin(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.RecycleBin, o.TerminateDelay = true, -1 })
	a := newAPI(t, sim)
	ids := seed(t, sim, cvmsim.SeedRequest{})
	a.ok("cvm", "TerminateInstances", object{"InstanceIds": ids})
	if in := a.describe(object{"InstanceIds": ids})[0]; in["InstanceState"] != "SHUTDOWN" || in["IsolatedSource"] != "MANMADE" {
		t.Errorf("after the first call: %v, %v", in["InstanceState"], in["IsolatedSource"])
	}
	a.ok("cvm", "TerminateInstances", object{"InstanceIds": ids})
	if left := a.describe(object{"InstanceIds": ids}); len(left) != 0 {
		t.Errorf("after the second call: %v", left)
	}
}

func TestModifyAttribute(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	ids := seed(t, sim, cvmsim.SeedRequest{Count: 2})
	modify := func(params object) object {
		params["InstanceIds"] = ids
		return params
	}
	a.ok("cvm", "ModifyInstancesAttribute", modify(object{"DisableApiTermination": true}))
	a.refused("UnsupportedOperation.InstancesProtected", "cvm", "TerminateInstances", object{"InstanceIds": ids})
	a.ok("cvm", "ModifyInstancesAttribute", modify(object{"InstanceName": "renamed"}))
	if in := a.describe(nil)[1]; in["InstanceName"] != "renamed" || in["DisableApiTermination"] != true {
		t.Errorf("%v, %v", in["InstanceName"], in["DisableApiTermination"])
	}
	a.refused("InvalidParameterValue", "cvm", "ModifyInstancesAttribute", modify(object{"InstanceName": "a", "HostName": "host"}))
	a.refused("MissingParameter", "cvm", "ModifyInstancesAttribute", modify(object{}))
	a.refused("InvalidInstanceName.TooLong", "cvm", "ModifyInstancesAttribute", modify(object{"InstanceName": string(make([]byte, 61))}))
	a.refused("InvalidSgId.Malformed", "cvm", "ModifyInstancesAttribute", modify(object{"SecurityGroups": []string{"x"}}))
	ids = append(ids, "ins-nothere0")
	a.refused("InvalidInstanceId.NotFound", "cvm", "ModifyInstancesAttribute", modify(object{"InstanceName": "b"}))
}
