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

// Instances that Tencent Cloud refuses to terminate are no longer chosen: another one is, if
// that leaves the minimum working.
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

// A run that may launch nothing more still terminates instances above maximum, retries no
// pending launch, and keeps working instances.
func TestAHaltedRunStillTrims(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(2, 2)), instance("ins-1"), instance("ins-2"), instance("ins-3", inState(spotpool.StateStopped)))
	s.SoFar.Halted = "the account's balance does not suffice"
	shouldDecide(t, decide.Decide(s), "terminate ins-3")

	s = opened(seen(pool(size(2, 4), func(d *spotpool.Declaration) {
		d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxUnavailable: 1}
	}),
		instance("ins-1", drifted)), 1)
	s.SoFar.Halted = "the account's balance does not suffice"
	p := decide.Decide(s)
	shouldDecide(t, p)

	s = seen(pool(), instance("ins-1"))
	s.SoFar.Halted = "the account's balance does not suffice"
	p = decide.Decide(s)
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), "the account's balance does not suffice")
}

// An instance with the pool's uid and contradictory data may be the pool's. Until that is
// clear, a launch could be one too many.
func TestAContradictionHoldsLaunches(t *testing.T) {
	t.Parallel()
	doubtful := func(i *spotpool.Instance) { i.Region, i.AvailabilityZone = "", "ap-tokyo-1" }
	const why = "ins-2 in ap-tokyo-1 has this pool's uid and contradictory data: nothing is launched. Check the console, and remove the tag " +
		"gpupool/uid from instances of other pools"
	p := decide.Decide(seen(pool(), instance("ins-1"), instance("ins-2", doubtful)))
	shouldDecide(t, p)
	shouldSay(t, "short", p.Short.Texts(), why)
	p = decide.Decide(seen(pool(size(1, 4)), instance("ins-1"), instance("ins-2", doubtful)))
	shouldSay(t, "warnings", p.Warnings.Texts(), why)
	if p.Total != 1 {
		t.Errorf("total %d, want the one that is the pool's for certain", p.Total)
	}
}

// An instance that was converted to PREPAID is to be kept.
func TestAConvertedInstanceIsKept(t *testing.T) {
	t.Parallel()
	prepaid := func(i *spotpool.Instance) { i.ChargeType = "PREPAID" }
	p := decide.Decide(seen(pool(size(1, 1)), instance("ins-1", prepaid, drifted), instance("ins-2")))
	shouldDecide(t, p, "terminate ins-2")
	p = decide.Decide(seen(pool(size(0, 0)), instance("ins-1", prepaid)))
	shouldDecide(t, p)
	shouldSay(t, "warnings", p.Warnings.Texts(), "ins-1 (RUNNING) has another charge type now: the pool counts it and never terminates it. To detach it, "+
		"remove the tag gpupool/uid")
	if instance("ins-1", prepaid).Protection() == "" || instance("ins-1", onDemand).Protection() != "" {
		t.Error("the protection is reported wrongly")
	}
}
