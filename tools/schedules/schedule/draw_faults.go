package schedule

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// actions are those that gpupool calls for a pool, the more important ones more
// than once.
var actions = []string{
	"RunInstances", "RunInstances", "RunInstances", "DescribeInstances", "DescribeInstances", "TerminateInstances",
	"TerminateInstances", "GetCallerIdentity", "DescribeZoneInstanceConfigInfos", "DescribeAccountQuota", "*",
}

// Kinds are all kinds of faults that the local CVM has.
var Kinds = []string{
	cvmsim.FaultThrottle, cvmsim.FaultError, cvmsim.FaultSoldOut, cvmsim.FaultLaunchFailed, cvmsim.FaultLaunchHangs,
	cvmsim.FaultHTTP502, cvmsim.FaultHTTP502After, cvmsim.FaultBadJSON, cvmsim.FaultSlow, cvmsim.FaultTimeoutAfter,
	cvmsim.FaultTimeout, cvmsim.FaultResetAfter, cvmsim.FaultResetBefore, cvmsim.FaultSlowAcceptance, cvmsim.FaultSlowAnswer,
}

// codes are those of faults of the kind error.
var codes = []string{
	"InternalError", "UnauthorizedOperation", "LimitExceeded.UserSpotQuota", "InvalidParameterValue.InsufficientPrice", "RequestLimitExceeded.UinLimitExceeded",
}

func (d *drawing) fault() cvmsim.Fault {
	f := cvmsim.Fault{
		Kind: Kinds[d.IntN(len(Kinds))], Action: actions[d.IntN(len(actions))],
		After: d.IntN(4), Count: 1 + d.IntN(d.IntN(6)+1),
	}
	switch f.Kind {
	case cvmsim.FaultSoldOut, cvmsim.FaultLaunchFailed, cvmsim.FaultLaunchHangs:
		f.Action = "RunInstances"
	case cvmsim.FaultError:
		f.Code = codes[d.IntN(len(codes))]
	case cvmsim.FaultSlow, cvmsim.FaultTimeout, cvmsim.FaultTimeoutAfter: // of our time
		f.Delay, f.Count = cvmsim.Duration(d.between(200*time.Millisecond, 1200*time.Millisecond)), 1+d.IntN(2)
	case cvmsim.FaultSlowAcceptance, cvmsim.FaultSlowAnswer: // of the world's
		f.Delay = cvmsim.Duration(d.between(time.Second, 4*time.Minute))
	}
	return f
}

// processes draws what runs, and who is killed when. For a kill in the middle of a
// call, that call is made slow.
func (d *drawing) processes(r *Round) {
	if d.oneIn(2) { // a run is ahead of it
		r.Terraform.Start = d.between(0, 2*time.Second)
	}
	if d.oneIn(2) || d.lived == 0 && d.oneIn(2) {
		r.Terraform.Kill = d.kill(r, 2500*time.Millisecond)
		r.Terraform.Kill.Victim = []Victim{Both, Both, Both, Core, Provider}[d.IntN(5)]
	}
	for n := range 2 {
		p := Process{Start: d.between(0, 1800*time.Millisecond), Wait: n == 0}
		if d.oneIn(3) {
			p.Kill = d.kill(r, 400*time.Millisecond)
		}
		r.Reconciles = append(r.Reconciles, p)
	}
}

func (d *drawing) kill(r *Round, longest time.Duration) *Kill {
	if d.oneIn(3) {
		return &Kill{Victim: Both, After: d.between(0, longest)}
	}
	k := &Kill{Victim: Both, Nth: 1 + d.IntN(2), After: d.between(0, 30*time.Millisecond)}
	k.Action = []string{"RunInstances", "RunInstances", "DescribeInstances", "DescribeInstances", "GetCallerIdentity"}[d.IntN(5)]
	if r.Operation == Destroy {
		k.Action = []string{"TerminateInstances", "DescribeInstances"}[d.IntN(2)]
	}
	r.Faults = append(r.Faults, cvmsim.Fault{
		Kind:   []string{cvmsim.FaultSlow, cvmsim.FaultTimeout, cvmsim.FaultTimeoutAfter}[d.IntN(3)],
		Action: k.Action, After: k.Nth - 1, Delay: cvmsim.Duration(d.between(300*time.Millisecond, time.Second)),
	})
	if k.Action == "RunInstances" && d.oneIn(2) {
		d.refuseAgain(r)
	}
	return k
}

// refuseAgain has a launch that was interrupted refused when it is repeated, while no
// listing shows what it may have made.
func (d *drawing) refuseAgain(r *Round) {
	f := cvmsim.Fault{Kind: cvmsim.FaultSoldOut, Action: "RunInstances", Count: 1 + d.IntN(3)}
	if d.oneIn(2) {
		f.Kind, f.Code = cvmsim.FaultError, codes[2]
	}
	r.Faults = append(r.Faults, f)
	r.Weather.ListingDelay, r.Weather.TagDelay = time.Minute, d.between(0, time.Minute)
}
