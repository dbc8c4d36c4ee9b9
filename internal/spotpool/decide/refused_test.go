package decide_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// A refused end holds nothing up: what has room is launched.
func TestARefusedEndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(4, 4)), instance("ins-1"), instance("ins-2"), instance("ins-3", inState(spotpool.StateShutdown)))
	shouldDecide(t, decide.Decide(s), "terminate ins-3", "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
	s.SoFar.Refused = []string{"ins-3"}
	shouldDecide(t, decide.Decide(s), "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")
}

// What the cloud refuses to end is no longer taken for ending: another one goes in
// its place, where that leaves the minimum working.
func TestARefusedEndLetsAnotherGo(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(2, 2)), instance("ins-1"), instance("ins-2"), instance("ins-3"))
	s.Journal = decide.Decide(s).Journal
	shouldDecide(t, decide.Decide(s), "terminate ins-1")
	s.Journal = s.Journal.Terminate([]string{"ins-1"}, noon)
	s.Journal.Fleet = s.Journal.Keep([]string{"ins-1"}, noon)
	s.SoFar.Refused = []string{"ins-1"}
	shouldDecide(t, decide.Decide(s), "terminate ins-2")
}

// A run that may not launch any more still ends what is above maximum, asks for no
// open launch again, and gives no working instance up.
func TestAHaltedRunStillTrims(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(2, 2)), instance("ins-1"), instance("ins-2"), instance("ins-3", inState(spotpool.StateStopped)))
	s.SoFar.Halted = "the account's balance does not suffice"
	shouldDecide(t, decide.Decide(s), "terminate ins-3")

	s = opened(seen(pool(size(2, 4), func(d *spotpool.Declaration) {
		d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxUnavailable: 1}
	}),
		instance("ins-1", outdated)), 1)
	s.SoFar.Halted = "the account's balance does not suffice"
	p := decide.Decide(s)
	shouldDecide(t, p)

	s = seen(pool(), instance("ins-1"))
	s.SoFar.Halted = "the account's balance does not suffice"
	p = decide.Decide(s)
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "the account's balance does not suffice")
}

// An instance with the pool's uid in an answer that contradicts itself may be the
// pool's: until that is clear, a launch could be one too many.
func TestAContradictionHoldsLaunches(t *testing.T) {
	t.Parallel()
	doubtful := func(i *spotpool.Instance) { i.Region, i.AvailabilityZone = "", "ap-tokyo-1" }
	const why = "ins-2 in ap-tokyo-1 carries this pool's uid, and what the cloud says of it contradicts itself: nothing is launched beside it. Look at it " +
		"in the console, and take the tag gpupool/uid off what is not the pool's"
	p := decide.Decide(seen(pool(), instance("ins-1"), instance("ins-2", doubtful)))
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), why)
	p = decide.Decide(seen(pool(size(1, 4)), instance("ins-1"), instance("ins-2", doubtful)))
	shouldSay(t, "warnings", p.Warnings, why)
	if p.Held != 1 {
		t.Errorf("%d are held, want the one that is the pool's for certain", p.Held)
	}
}

// Someone who converts an instance to PREPAID means to keep it.
func TestAConvertedInstanceIsKept(t *testing.T) {
	t.Parallel()
	prepaid := func(i *spotpool.Instance) { i.ChargeType = "PREPAID" }
	p := decide.Decide(seen(pool(size(1, 1)), instance("ins-1", prepaid, outdated), instance("ins-2")))
	shouldDecide(t, p, "terminate ins-2")
	p = decide.Decide(seen(pool(size(0, 0)), instance("ins-1", prepaid)))
	shouldDecide(t, p)
	shouldSay(t, "warnings", p.Warnings, "ins-1 (RUNNING) is paid for in another way by now: someone converted it, so the pool counts it and never ends "+
		"it. To let go, take the tag gpupool/uid off")
	if instance("ins-1", prepaid).Protection() == "" || instance("ins-1", onDemand).Protection() != "" {
		t.Error("what is protected is told wrongly")
	}
}
