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

// FaultKinds are all kinds of faults.
var FaultKinds = []string{
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
	Delay world.Duration `json:"delay,omitempty"`
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

// Subject is what a call is about, for the choice of faults.
type Subject struct {
	Zone, InstanceType, Pool string
	InstanceIDs              []string
}

// Faults are those that still have calls to hit.
type Faults struct {
	mu    sync.Mutex
	list  []*Fault
	added int
}

// Add files a fault and returns its id.
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

// All returns the faults that still have calls to hit.
func (l *Faults) All() []Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Fault, len(l.list))
	for i, f := range l.list {
		out[i] = *f
	}
	return out
}

// Clear removes the faults with these ids, or all of them.
func (l *Faults) Clear(ids ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(f *Fault) bool {
		return len(ids) == 0 || slices.Contains(ids, f.ID)
	})
}

// next finds the first fault that hits this call, and spends it. Without one
// it is the zero Fault, which does nothing.
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

// Fits reports whether a value is the one that is wanted; none wanted fits all.
func Fits(want, is string) bool { return want == "" || want == is }

// refusal is the error of the kinds that answer with one instead of running.
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

// fate is what becomes of the instances of a launch that it hits.
func (f Fault) fate() world.Fate {
	switch f.Kind {
	case FaultLaunchFailed:
		return world.LaunchFails
	case FaultLaunchHangs:
		return world.LaunchHangs
	}
	return world.LaunchWorks
}

// beforeEffect reports the kinds that keep the call from running.
func (f Fault) beforeEffect() bool {
	return f.Kind == FaultHTTP502 || f.Kind == FaultResetBefore || f.Kind == FaultTimeout
}
