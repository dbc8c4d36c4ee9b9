package cvmsim

import (
	"slices"
	"strings"
	"time"
)

type terminateInstancesRequest struct {
	InstanceIDs             []string `json:"InstanceIds,omitempty"`
	ReleaseAddress          *bool    `json:"ReleaseAddress,omitempty"`
	ReleasePrepaidDataDisks *bool    `json:"ReleasePrepaidDataDisks,omitempty"`
}

// About says which instances the call is about.
func (p *terminateInstancesRequest) About() subject { return subject{InstanceIDs: p.InstanceIDs} }

type emptyResponse struct{}

// terminateInstances lets all instances go, or none. The first call for a
// prepaid instance puts it into the recycle bin, the second one removes it (cvm
// client.go, TerminateInstances).
func terminateInstances(w *world, c *call, p *terminateInstancesRequest) (*emptyResponse, *apiError) {
	found, failure := existing(w, c.Region, p.InstanceIDs)
	if failure != nil {
		return nil, failure
	}
	for _, in := range found {
		if in.ChargeType != found[0].ChargeType {
			return nil, fail("UnsupportedOperation.InstanceMixedPricingModel", "The instances have different charge types.")
		}
		if failure := refuseTermination(in); failure != nil {
			return nil, failure
		}
	}
	for _, in := range found {
		in.OperationRequestID = c.requestID
		if in.State != stateShutdown && (in.ChargeType == chargePrepaid || w.settings.RecycleBin) {
			w.recycle(in)
			continue
		}
		w.beginTermination(in, c.now, "TerminateInstances")
	}
	w.advance(c.now)
	c.record.InstanceIDs, c.record.TookEffect = p.InstanceIDs, true
	return &emptyResponse{}, nil
}

// existing finds instances that must all exist in the region. One that isn't
// listed yet doesn't exist for a call: assumed, documented nowhere.
func existing(w *world, region string, ids []string) ([]*instance, *apiError) {
	if len(ids) == 0 {
		return nil, missing("InstanceIds")
	}
	if failure := checkInstanceIDs(ids); failure != nil {
		return nil, failure
	}
	found := make([]*instance, 0, len(ids))
	for _, id := range ids {
		in := w.visible(id)
		if in == nil || in.Region != region {
			return nil, fail("InvalidInstanceId.NotFound", "The instance `%s` does not exist.", id)
		}
		if slices.Contains(found, in) {
			return nil, fail("InvalidParameterValue", "The instance `%s` is given twice.", id)
		}
		found = append(found, in)
	}
	return found, nil
}

// terminable are the states that TerminateInstances accepts.
var terminable = []string{stateRunning, "STOPPED", stateShutdown, "RESCUE_MODE", "SERVICE_LIVE_MIGRATE", "CORRUPTED"}

func refuseTermination(in *instance) *apiError {
	if in.Protected {
		return fail("UnsupportedOperation.InstancesProtected", "The instance `%s` is protected from termination.", in.ID)
	}
	if slices.Contains(terminable, in.State) {
		return nil
	}
	return fail("UnsupportedOperation.InstanceState"+camel(in.State), "The instance `%s` is %s, which can't be terminated.", in.ID, in.State)
}

// recycle puts an instance into the recycle bin, from where a second
// termination removes it.
func (w *world) recycle(in *instance) {
	in.State, in.IsolatedSource = stateShutdown, "MANMADE"
	in.Operation, in.OperationState = "TerminateInstances", "SUCCESS"
	in.SettleAt = time.Time{}
	w.release(in)
	w.touch(in.key())
}

// camel turns LAUNCH_FAILED into LaunchFailed.
func camel(state string) string {
	var b strings.Builder
	for _, word := range strings.Split(strings.ToLower(state), "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
