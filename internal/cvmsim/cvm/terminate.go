package cvm

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type terminateInstancesRequest struct {
	named
	ReleaseAddress          *bool `json:"ReleaseAddress,omitempty"`
	ReleasePrepaidDataDisks *bool `json:"ReleasePrepaidDataDisks,omitempty"`
}

// terminateInstances terminates all instances or none. The first call for a prepaid instance moves
// it into the recycle bin, the second one removes it (cvm client.go, TerminateInstances).
func terminateInstances(w *world.World, c *api.Call, p *terminateInstancesRequest) (*api.Empty, *wire.Error) {
	found, failure := existing(w, c.Region, p.named)
	if failure != nil {
		return nil, failure
	}
	for _, in := range found {
		if in.ChargeType != found[0].ChargeType {
			return nil, wire.Fail("UnsupportedOperation.InstanceMixedPricingModel", "The instances have different charge types.")
		}
		if failure := refuseTermination(in); failure != nil {
			return nil, failure
		}
	}
	for _, in := range found {
		in.OperationRequestID = c.RequestID
		if in.State != world.StateShutdown && (in.ChargeType == world.ChargePrepaid || w.Settings.RecycleBin) {
			w.Recycle(in)
			continue
		}
		w.BeginTermination(in, c.Now, "TerminateInstances")
	}
	w.Advance(c.Now)
	c.TookEffect(p.InstanceIDs...)
	return &api.Empty{}, nil
}

// existing finds instances that must all exist in the region. It is assumed, and documented
// nowhere, that an unlisted instance does not exist for a call.
func existing(w *world.World, region string, p named) ([]*world.Instance, *wire.Error) {
	if len(p.InstanceIDs) == 0 {
		return nil, wire.Missing("InstanceIds")
	}
	if failure := p.check(); failure != nil {
		return nil, failure
	}
	var found []*world.Instance
	for _, id := range p.InstanceIDs {
		in := w.Instances.Visible(region, id)
		if in == nil {
			return nil, wire.Fail("InvalidInstanceId.NotFound", "The instance `%s` does not exist.", id)
		}
		if slices.Contains(found, in) {
			return nil, wire.Fail("InvalidParameterValue", "The instance `%s` is given twice.", id)
		}
		found = append(found, in)
	}
	return found, nil
}

// terminable are the states that TerminateInstances accepts.
var terminable = []string{world.StateRunning, "STOPPED", world.StateShutdown, "RESCUE_MODE", "SERVICE_LIVE_MIGRATE", "CORRUPTED"}

func refuseTermination(in *world.Instance) *wire.Error {
	if in.Protected {
		return wire.Fail("UnsupportedOperation.InstancesProtected", "The instance `%s` is protected from termination.", in.ID)
	}
	if slices.Contains(terminable, in.State) {
		return nil
	}
	return wire.Fail("UnsupportedOperation.InstanceState"+camel(in.State), "The instance `%s` is %s, which cannot be terminated.", in.ID, in.State)
}

// camel turns LAUNCH_FAILED into LaunchFailed.
func camel(state string) string {
	var b strings.Builder
	for _, word := range strings.Split(strings.ToLower(state), "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
