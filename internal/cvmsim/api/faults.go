package api

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
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
	FaultBadJSON      = "bad_json"       // a truncated response, after the effect
	FaultSlow         = "slow"           // the effect at once, the response late, in real time
	FaultTimeoutAfter = "timeout_after"  // the effect, then no response for delay
	FaultTimeout      = "timeout_before" // no effect and no response for delay
	FaultResetAfter   = "reset_after"    // the effect, then a TCP reset
	FaultResetBefore  = "reset_before"   // a TCP reset, no effect

	// These advance the world's clock by delay without waiting. It is not documented how long
	// Tencent Cloud may take to accept a launch.
	FaultSlowAcceptance = "slow_acceptance" // delay, then the effect and the response
	FaultSlowAnswer     = "slow_answer"     // the effect, then delay and the response
)

// FaultKinds are all kinds of faults.
var FaultKinds = []string{
	FaultThrottle, FaultError, FaultSoldOut, FaultLaunchFailed, FaultLaunchHangs, FaultHTTP502, FaultHTTP502After,
	FaultBadJSON, FaultSlow, FaultTimeoutAfter, FaultTimeout, FaultResetAfter, FaultResetBefore,
	FaultSlowAcceptance, FaultSlowAnswer,
}

// launchFaults apply to RunInstances unless they name another action.
var launchFaults = []string{FaultSoldOut, FaultLaunchFailed, FaultLaunchHangs, FaultSlowAcceptance, FaultSlowAnswer}

const (
	defaultFaultDelay = 30 * time.Second
	defaultSlowDelay  = time.Second
	defaultWorldDelay = 2 * time.Minute
)

// Fault is a failure on request.
type Fault struct {
	ID   string `json:"id,omitempty"` // set by the server
	Kind string `json:"kind"`
	// Action is the one that fails, "*" any. If empty it is RunInstances for launchFaults, and
	// otherwise any.
	Action string `json:"action,omitempty"`
	// Count is how many calls fail: 0 means 1, -1 all.
	Count int `json:"count,omitempty"`
	// After is how many matching calls succeed first.
	After int `json:"after,omitempty"`
	// Delay is how long a response is delayed, or by how much the world's clock advances during the
	// call.
	Delay world.Duration `json:"delay,omitempty"`
	// Code and Message are those of kind error; Code also replaces that of
	// throttle and sold_out, as in RequestLimitExceeded.UinLimitExceeded.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// The scope of the fault; empty matches all.
	Region           string `json:"region,omitempty"`
	AvailabilityZone string `json:"availability_zone,omitempty"`
	InstanceType     string `json:"instance_type,omitempty"`
	InstanceID       string `json:"instance_id,omitempty"`
	Pool             string `json:"pool,omitempty"` // tag gpupool/pool of a launch
	// Hits counts the calls that failed.
	Hits int `json:"hits"`
}

// Subject is the scope of a call, to match faults.
type Subject struct {
	Zone, InstanceType, Pool string
	InstanceIDs              []string
}

// Faults are those that still apply to calls.
type Faults struct {
	mu    sync.Mutex
	list  []*Fault
	added int
}

// Add adds a fault and returns its ID.
func (l *Faults) Add(f Fault) string {
	if f.Action == "" && slices.Contains(launchFaults, f.Kind) {
		f.Action = "RunInstances"
	}
	if f.Action == "*" {
		f.Action = ""
	}
	if f.Count == 0 {
		f.Count = 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.added++
	f.ID, f.Hits = fmt.Sprintf("fault-%d", l.added), 0
	l.list = append(l.list, &f)
	return f.ID
}

// All returns the faults that still apply to calls.
func (l *Faults) All() []Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Fault, len(l.list))
	for i, f := range l.list {
		out[i] = *f
	}
	return out
}

// Clear removes the faults with these IDs, or all of them.
func (l *Faults) Clear(ids ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(f *Fault) bool {
		return len(ids) == 0 || slices.Contains(ids, f.ID)
	})
}

// next returns the first fault that matches this call, and counts the hit. Without one it returns
// the zero Fault, which does nothing.
func (l *Faults) next(action, region string, about Subject) Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, f := range l.list {
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
			l.list = slices.Delete(l.list, i, i+1)
		}
		return hit
	}
	return Fault{}
}

func (f *Fault) matches(action, region string, about Subject) bool {
	return Fits(f.Action, action) && Fits(f.Region, region) && Fits(f.AvailabilityZone, about.Zone) &&
		Fits(f.InstanceType, about.InstanceType) && Fits(f.Pool, about.Pool) &&
		(f.InstanceID == "" || slices.Contains(about.InstanceIDs, f.InstanceID))
}

// Fits reports whether a value matches; an empty pattern matches all.
func Fits(want, is string) bool { return want == "" || want == is }

// refusal returns the error of the kinds that respond with one instead of running.
func (f Fault) refusal(a *Action) *wire.Error {
	var failure *wire.Error
	switch f.Kind {
	case FaultThrottle:
		failure = requestLimitExceeded(a)
	case FaultSoldOut:
		failure = wire.Fail("ResourcesSoldOut.SpecifiedInstanceType", "The specified instance type is sold out.")
	case FaultError:
		failure = wire.Fail(f.Code, "The operation failed.")
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

// passes returns by how much the world's clock advances before the call takes effect, and after.
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

func (f Fault) fate() world.Fate {
	switch f.Kind {
	case FaultLaunchFailed:
		return world.LaunchFails
	case FaultLaunchHangs:
		return world.LaunchHangs
	}
	return world.LaunchWorks
}

func (f Fault) beforeEffect() bool {
	return f.Kind == FaultHTTP502 || f.Kind == FaultResetBefore || f.Kind == FaultTimeout
}
