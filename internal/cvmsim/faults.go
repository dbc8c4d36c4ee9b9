package cvmsim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kinds of faults. Those named …_after let the call take effect first.
const (
	FaultThrottle     = "throttle"       // RequestLimitExceeded
	FaultError        = "error"          // the code given
	FaultSoldOut      = "sold_out"       // RunInstances: ResourcesSoldOut.SpecifiedInstanceType
	FaultLaunchFailed = "launch_failed"  // RunInstances: ids, then LAUNCH_FAILED
	FaultLaunchHangs  = "launch_hangs"   // RunInstances: ids, then PENDING for ever
	FaultHTTP502      = "http_502"       // HTTP 502 with HTML, no effect
	FaultHTTP502After = "http_502_after" // HTTP 502 with HTML, after the effect
	FaultBadJSON      = "bad_json"       // an answer cut short, after the effect
	FaultSlow         = "slow"           // the effect at once, the answer late, in real time
	FaultTimeoutAfter = "timeout_after"  // the effect, then no answer for delay
	FaultTimeout      = "timeout_before" // no effect and no answer for delay
	FaultResetAfter   = "reset_after"    // the effect, then a TCP reset
	FaultResetBefore  = "reset_before"   // a TCP reset, no effect

	// By the world's clock, which goes on by delay: nobody waits. How long the
	// cloud may take to accept a launch is documented nowhere.
	FaultSlowAcceptance = "slow_acceptance" // delay, then the effect and the answer
	FaultSlowAnswer     = "slow_answer"     // the effect, then delay and the answer
)

var faultKinds = []string{
	FaultThrottle, FaultError, FaultSoldOut, FaultLaunchFailed, FaultLaunchHangs, FaultHTTP502, FaultHTTP502After,
	FaultBadJSON, FaultSlow, FaultTimeoutAfter, FaultTimeout, FaultResetAfter, FaultResetBefore,
	FaultSlowAcceptance, FaultSlowAnswer,
}

// launchFaults hit RunInstances unless they name another action.
var launchFaults = []string{FaultSoldOut, FaultLaunchFailed, FaultLaunchHangs, FaultSlowAcceptance, FaultSlowAnswer}

const (
	defaultFaultDelay = 30 * time.Second
	defaultSlowDelay  = time.Second
	defaultWorldDelay = 2 * time.Minute
)

// Fault is something that goes wrong on request.
type Fault struct {
	ID   string `json:"id,omitempty"` // given by the server
	Kind string `json:"kind"`
	// Action is the one that it hits, "*" any; empty means RunInstances for
	// launchFaults, and otherwise any.
	Action string `json:"action,omitempty"`
	// Count is how many calls it hits: 0 means 1, -1 all.
	Count int `json:"count,omitempty"`
	// After is how many matching calls pass unharmed first.
	After int `json:"after,omitempty"`
	// Delay is how long an answer is held back, or what the world's clock goes
	// on by during the call.
	Delay Duration `json:"delay,omitempty"`
	// Code and Message are those of kind error; Code also replaces that of
	// throttle and sold_out, as in RequestLimitExceeded.UinLimitExceeded.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// What a call must be about; empty matches all.
	Region           string `json:"region,omitempty"`
	AvailabilityZone string `json:"availability_zone,omitempty"`
	InstanceType     string `json:"instance_type,omitempty"`
	InstanceID       string `json:"instance_id,omitempty"`
	Pool             string `json:"pool,omitempty"` // tag gpupool/pool of a launch
	// Hits counts the calls that it has hit.
	Hits int `json:"hits"`
}

// subject is what a call is about, for the choice of faults.
type subject struct {
	zone, itype, pool string
	instanceIDs       []string
}

// aboutCall tells what parameters are about.
func aboutCall(params any) subject {
	switch p := params.(type) {
	case *runInstancesRequest:
		return aboutLaunch(p.launchParams)
	case *inquiryPriceRunInstancesRequest:
		return aboutLaunch(p.launchParams)
	case *modifyInstancesAttributeRequest:
		return subject{instanceIDs: p.InstanceIDs}
	case *describeInstancesStatusRequest:
		return subject{instanceIDs: p.InstanceIDs}
	case *terminateInstancesRequest:
		return subject{instanceIDs: p.InstanceIDs}
	case *describeInstancesRequest:
		return subject{instanceIDs: p.InstanceIDs}
	}
	return subject{}
}

func aboutLaunch(p launchParams) subject {
	s := subject{itype: or(p.InstanceType, ""), zone: or(or(p.Placement, placementParams{}).Zone, "")}
	for _, spec := range p.TagSpecification {
		for _, t := range spec.Tags {
			if or(t.Key, "") == poolTag {
				s.pool = or(t.Value, "")
			}
		}
	}
	return s
}

// AddFault files a fault and returns its id.
func (s *Server) AddFault(f Fault) (string, error) {
	if !slices.Contains(faultKinds, f.Kind) {
		return "", fieldError("kind", "must be one of %s, not %q", strings.Join(faultKinds, ", "), f.Kind)
	}
	if f.Action != "" && f.Action != "*" && actions[f.Action] == nil {
		return "", fieldError("action", "%q is not an action of this server", f.Action)
	}
	if f.Kind == FaultError && f.Code == "" {
		return "", fieldError("code", "is required for the kind error")
	}
	if f.Count < -1 {
		return "", fieldError("count", "must be -1 (always), or how many calls")
	}
	if f.After < 0 {
		return "", fieldError("after", "must not be negative")
	}
	if f.Delay < 0 {
		return "", fieldError("delay", "must not be negative")
	}
	if f.Action == "" && slices.Contains(launchFaults, f.Kind) {
		f.Action = "RunInstances"
	}
	if f.Action == "*" {
		f.Action = ""
	}
	if f.Count == 0 {
		f.Count = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultSeq++
	f.ID, f.Hits = fmt.Sprintf("fault-%d", s.faultSeq), 0
	s.faults = append(s.faults, &f)
	return f.ID, nil
}

// Faults returns the faults that still have calls to hit.
func (s *Server) Faults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Fault, len(s.faults))
	for i, f := range s.faults {
		out[i] = *f
	}
	return out
}

// ClearFaults removes the faults with these ids, or all of them.
func (s *Server) ClearFaults(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.DeleteFunc(s.faults, func(f *Fault) bool {
		return len(ids) == 0 || slices.Contains(ids, f.ID)
	})
}

// nextFault finds the first fault that hits this call, and spends it.
func (s *Server) nextFault(action, region string, about subject) (Fault, bool) {
	for i, f := range s.faults {
		if !f.matches(action, region, about) {
			continue
		}
		if f.After > 0 {
			f.After--
			continue
		}
		f.Hits++
		if f.Count > 0 {
			f.Count--
		}
		hit := *f
		if f.Count == 0 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		return hit, true
	}
	return Fault{}, false
}

func (f *Fault) matches(action, region string, about subject) bool {
	return fits(f.Action, action) && fits(f.Region, region) && fits(f.AvailabilityZone, about.zone) &&
		fits(f.InstanceType, about.itype) && fits(f.Pool, about.pool) &&
		(f.InstanceID == "" || slices.Contains(about.instanceIDs, f.InstanceID))
}

func fits(want, is string) bool { return want == "" || want == is }

// refusal is the error of the kinds that answer with one instead of running.
func (f Fault) refusal(a *action) *apiError {
	var failure *apiError
	switch f.Kind {
	case FaultThrottle:
		failure = requestLimitExceeded(a)
	case FaultSoldOut:
		failure = fail("ResourcesSoldOut.SpecifiedInstanceType", "The specified instance type is sold out.")
	case FaultError:
		failure = fail(f.Code, "The operation failed.")
	default:
		return nil
	}
	if f.Code != "" {
		failure.Code = f.Code
	}
	if f.Message != "" {
		failure.Message = f.Message
	}
	return failure
}

// passes is how much of the world's time goes by during the call, before it
// takes effect and after.
func (f Fault) passes() (before, after time.Duration) {
	delay := cmp.Or(time.Duration(f.Delay), defaultWorldDelay)
	switch f.Kind {
	case FaultSlowAcceptance:
		return delay, 0
	case FaultSlowAnswer:
		return 0, delay
	}
	return 0, 0
}

// beforeEffect reports the kinds that keep the call from running.
func (f Fault) beforeEffect() bool {
	return f.Kind == FaultHTTP502 || f.Kind == FaultResetBefore || f.Kind == FaultTimeout
}
