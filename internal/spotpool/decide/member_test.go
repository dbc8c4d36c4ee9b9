package decide_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
)

func TestConditionsOfStates(t *testing.T) {
	t.Parallel()
	fresh, old := launched(ago(14*time.Minute)), launched(ago(15*time.Minute))
	for name, c := range map[string]struct {
		instance       spotpool.Instance
		want           decide.Condition
		held, capacity bool
	}{
		"running":                          {instance("ins-1"), decide.Running, true, true},
		"running, expired":                 {instance("ins-1", func(i *spotpool.Instance) { i.Restricted = true }), decide.Restricted, true, false},
		"pending":                          {instance("ins-1", inState(spotpool.StatePending), fresh), decide.Launching, true, true},
		"pending for the launch timeout":   {instance("ins-1", inState(spotpool.StatePending), old), decide.Stuck, true, false},
		"pending without a time":           {instance("ins-1", inState(spotpool.StatePending), launched(time.Time{})), decide.Launching, true, true},
		"starting":                         {instance("ins-1", inState(spotpool.StateStarting)), decide.Launching, true, true},
		"rebooting, and launched long ago": {instance("ins-1", inState(spotpool.StateRebooting), old), decide.Launching, true, true},
		"stopping":                         {instance("ins-1", inState(spotpool.StateStopping)), decide.Stopped, true, false},
		"stopped":                          {instance("ins-1", inState(spotpool.StateStopped)), decide.Stopped, true, false},
		"in the recycle bin":               {instance("ins-1", inState(spotpool.StateShutdown)), decide.Isolated, true, false},
		"failed to launch":                 {instance("ins-1", inState(spotpool.StateLaunchFailed)), decide.Failed, false, false},
		"terminating":                      {instance("ins-1", inState(spotpool.StateTerminating)), decide.Terminating, false, false},
		"in rescue mode":                   {instance("ins-1", inState(spotpool.StateRescueMode)), decide.Unusable, true, false},
		"in a state that did not exist when this was written": {instance("ins-1", inState("HIBERNATING")), decide.Unusable, true, false},
		"in no state": {instance("ins-1", inState("")), decide.Unusable, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := decide.Decide(seen(pool(size(1, 9)), c.instance))
			if got := p.Members[0].Condition; got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
			count := func(b bool) int {
				if b {
					return 1
				}
				return 0
			}
			if p.Total != count(c.held) || p.Capacity != count(c.capacity) || p.Shortfall != 1-count(c.capacity) {
				t.Errorf("total %d, capacity %d, shortfall %d", p.Total, p.Capacity, p.Shortfall)
			}
			if launches := len(p.Decisions); launches != 1-count(c.capacity) {
				t.Errorf("decisions: %q", p.Decisions)
			}
		})
	}
}

// An instance that starts or reboots is given the launch timeout from when that
// was first seen, however old it is.
func TestAnInstanceThatNeverComesUpIsStuck(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(1, 4)), instance("ins-1", inState(spotpool.StateRebooting)))
	for _, minutes := range []int{0, 7, 14} {
		s.Now = noon.Add(time.Duration(minutes) * time.Minute)
		p := decide.Decide(s)
		shouldDecide(t, p)
		s.Journal = p.Journal
	}
	s.Now = noon.Add(15 * time.Minute)
	p := decide.Decide(s)
	shouldDecide(t, p, "launch 1 spot GN7.2XLARGE32 in ap-singapore-2")

	s.Journal = p.Journal
	s.Observation.Instances[0].State = spotpool.StateRunning
	s.Journal = decide.Decide(s).Journal
	s.Observation.Instances[0].State = spotpool.StateRebooting
	shouldDecide(t, decide.Decide(s)) // a later reboot has a time of its own
}

func TestForeignInstances(t *testing.T) {
	t.Parallel()
	foreign := []spotpool.Instance{
		instance("ins-1", func(i *spotpool.Instance) { i.PoolUID = "ffff" }),
		instance("ins-2", func(i *spotpool.Instance) { i.PoolUID = "" }),
		instance("ins-3", func(i *spotpool.Instance) { i.AccountID = "200" }),
		instance("ins-4", func(i *spotpool.Instance) { i.Region = "ap-tokyo" }),
	}
	p := decide.Decide(seen(pool(size(0, 0)), foreign...))
	shouldDecide(t, p)
	if p.Total != 0 || len(p.Members) > 0 || len(p.Journal.Known) > 0 {
		t.Errorf("total %d, members %v, recorded %v", p.Total, p.Members, p.Journal.Known)
	}
	shouldSay(t, "warnings", p.Warnings.Texts(),
		"ins-3 (account 200, ap-singapore), ins-4 (account 100012345678, ap-tokyo) have this pool's uid, but not its account or region: ignored")

	unowned := pool(func(d *spotpool.Declaration) { d.UID = "" })
	if own := fleet.Tagged(unowned, seen(unowned, foreign...).Observation); len(own) > 0 {
		t.Errorf("a pool without a uid has none of its own: %v", own)
	}
}

func TestAnInstanceListedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	p := decide.Decide(seen(pool(), instance("ins-1"), instance("ins-2"), instance("ins-1")))
	if p.Total != 2 || p.Capacity != 2 {
		t.Errorf("total %d and capacity %d, want 2 and 2", p.Total, p.Capacity)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	p := decide.Decide(opened(seen(pool(size(5, 9)), instance("ins-1"), instance("ins-2", drifted, inZone(zone3)),
		instance("ins-3", inState(spotpool.StateStopped))), 2))
	want := spotpool.Counts{Capacity: 2, Total: 5, Shortfall: 3, Drifted: 1, HourlyPrice: yuan("7")}
	if diff := cmp.Diff(want, p.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if p.Bounds != (spotpool.Bounds{Minimum: 5, Maximum: 9}) || p.Currency != "CNY" {
		t.Errorf("it is declared with %+v, and has prices in %s", p.Bounds, p.Currency)
	}
}
