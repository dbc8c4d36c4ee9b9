package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// Pool names the pool that is played with.
type Pool struct {
	Region, Name  string
	LaunchTimeout time.Duration
}

// Machines are the pool's, of whatever uid and state.
func (p Pool) Machines(all []cvmsim.Instance) []cvmsim.Instance {
	var own []cvmsim.Instance
	for _, i := range all {
		if i.Pool == p.Name && i.Region == p.Region {
			own = append(own, i)
		}
	}
	return own
}

// Held counts the machines that maximum limits.
func Held(machines []cvmsim.Instance) int {
	n := 0
	for _, i := range machines {
		if i.State != "TERMINATING" && i.State != "LAUNCH_FAILED" {
			n++
		}
	}
	return n
}

// Capacity counts the machines that work, or will soon.
func (p Pool) Capacity(machines []cvmsim.Instance, now time.Time) int {
	n := 0
	for _, i := range machines {
		switch i.State {
		case "RUNNING":
			if i.RestrictState == "NORMAL" {
				n++
			}
		case "PENDING":
			if now.Sub(i.CreatedAt) < p.LaunchTimeout {
				n++
			}
		}
	}
	return n
}

// Launch is a call of RunInstances that just took effect.
type Launch struct {
	Call     cvmsim.Call
	Machines []cvmsim.Instance // of the pool, right after it
	Now      time.Time
	Terms    Terms // in force
	// Destroyed are the UIDs of pools that a program reported as destroyed.
	Destroyed []string
}

// Broken returns what a launch broke: the maximum, the shortfall that it was for, or a
// destroyed pool.
func (p Pool) Broken(l Launch) []string {
	var broken []string
	if held := Held(l.Machines); held > l.Terms.Maximum {
		broken = append(broken, fmt.Sprintf("above maximum: launch %s leaves the pool with %d machines, and %d are allowed (%s)", l.Call.ClientToken, held,
			l.Terms.Maximum, l.Terms))
	}
	if capacity, most := p.Capacity(l.Machines, l.Now), l.Terms.Minimum+l.Terms.surge(); capacity > most {
		broken = append(broken, fmt.Sprintf("more than the shortfall: launch %s of %d brings the capacity to %d, and %d were wanted (%s)", l.Call.ClientToken,
			len(l.Call.InstanceIDs), capacity, most, l.Terms))
	}
	uids := map[string]bool{}
	for _, i := range l.Machines {
		if i.State != "TERMINATING" && i.State != "LAUNCH_FAILED" {
			uids[i.UID] = true
		}
		if slices.Contains(l.Call.InstanceIDs, i.InstanceID) && slices.Contains(l.Destroyed, i.UID) {
			broken = append(broken, fmt.Sprintf("launch %s is of uid %s, which was reported as destroyed", l.Call.ClientToken, i.UID))
		}
	}
	if len(uids) > 1 {
		broken = append(broken, fmt.Sprintf("two pools of one name: machines of the uids %s", strings.Join(slices.Sorted(maps.Keys(uids)), ", ")))
	}
	return broken
}

// Asked returns what is wrong with a call of RunInstances, effective or not. Each must be of an
// open launch in the journal, which is written before the call, and closed once its outcome is
// known.
func Asked(call cvmsim.Call, open []string) []string {
	var broken []string
	if !slices.Contains(open, call.ClientToken) {
		broken = append(broken, fmt.Sprintf("launch %q was asked for, and the journal has no such launch open (it has %q)", call.ClientToken, open))
	}
	if strings.HasSuffix(call.Outcome, "ParameterConflict") {
		broken = append(broken, fmt.Sprintf("launch %q was repeated with another body", call.ClientToken))
	}
	return broken
}

var changes = []string{"TerminateInstances", "TagResources", "UnTagResources", "ModifyInstancesAttribute"}

// Touched returns the foreign machines that were changed or named in a call.
func Touched(calls []cvmsim.Call, all, foreign []cvmsim.Instance) []string {
	var broken []string
	now := map[string]cvmsim.Instance{}
	for _, i := range all {
		now[i.InstanceID] = i
	}
	for _, was := range foreign {
		if is := now[was.InstanceID]; is.State != was.State || !maps.Equal(is.Tags, was.Tags) {
			broken = append(broken, fmt.Sprintf("the foreign instance %s was %s %v, and is %q %v", was.InstanceID, was.State, was.Tags, is.State, is.Tags))
		}
		for _, c := range calls {
			if slices.Contains(changes, c.Action) && slices.Contains(c.InstanceIDs, was.InstanceID) {
				broken = append(broken, fmt.Sprintf("%s was called for the foreign instance %s", c.Action, was.InstanceID))
			}
		}
	}
	return broken
}

// Left returns the existing machines of a UID, in any state.
func Left(uid string, all []cvmsim.Instance) []string {
	var left []string
	for _, i := range all {
		if i.UID == uid {
			left = append(left, i.InstanceID+" "+i.State)
		}
	}
	return left
}

// Unrecovered returns how machines are out of sync after a run without faults.
func (p Pool) Unrecovered(declared Terms, machines []cvmsim.Instance, now time.Time) []string {
	var broken []string
	if held := Held(machines); held > declared.Maximum {
		broken = append(broken, fmt.Sprintf("the next clean run left %d machines, and maximum is %d", held, declared.Maximum))
	}
	if capacity := p.Capacity(machines, now); capacity < declared.Minimum {
		broken = append(broken, fmt.Sprintf("the next clean run left the capacity at %d, and minimum is %d", capacity, declared.Minimum))
	}
	return broken
}
