package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// TestVictimOrder ends one instance after the other, all but one, and compares
// the order: what does not work, drifted, dearest, most crowded zone, newest.
func TestVictimOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		instances []spotpool.Instance
		want      []string // in the order in which they are ended
	}{
		"the newest": {
			[]spotpool.Instance{
				instance("ins-1", launched(ago(3*time.Hour))), instance("ins-2", launched(ago(time.Hour))), instance("ins-3", launched(ago(2*time.Hour))),
			},
			[]string{"ins-2", "ins-3"},
		},
		"the first id of those launched together": {
			[]spotpool.Instance{instance("ins-3"), instance("ins-1"), instance("ins-2")},
			[]string{"ins-1", "ins-2"},
		},
		"of the most crowded zone, then evenly": {
			[]spotpool.Instance{
				instance("ins-1", inZone(zone2), sameType), instance("ins-2", inZone(zone2), sameType), instance("ins-3", inZone(zone2), sameType),
				instance("ins-4", inZone(zone4), sameType, launched(ago(time.Minute))),
			},
			[]string{"ins-1", "ins-2", "ins-4"},
		},
		"the dearest before the crowd": {
			[]spotpool.Instance{instance("ins-1"), instance("ins-2"), instance("ins-3", inZone(zone3))},
			[]string{"ins-3", "ins-1"},
		},
		"drifted ones before the dearest": {
			[]spotpool.Instance{instance("ins-1"), instance("ins-2", drifted), instance("ins-3", inZone(zone3))},
			[]string{"ins-2", "ins-3"},
		},
		"what does not work before drifted ones": {
			[]spotpool.Instance{
				instance("ins-1", inState(spotpool.StateStopped)), instance("ins-2", drifted),
				instance("ins-3", func(i *spotpool.Instance) { i.Restricted = true }),
				instance("ins-4"),
			},
			[]string{"ins-1", "ins-3", "ins-2"},
		},
		"protected ones never": {
			[]spotpool.Instance{
				instance("ins-1", protected, drifted), instance("ins-2", func(i *spotpool.Instance) { i.APIProtected = true }), instance("ins-3"),
			},
			[]string{"ins-3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var order []string
			left := slices.Clone(c.instances)
			for maximum := len(left) - 1; maximum > 0; maximum-- {
				p := decide.Decide(seen(pool(size(0, maximum)), left...))
				if len(p.Decisions) == 0 {
					break
				}
				id := p.Decisions[0].InstanceIDs[0]
				order = append(order, id)
				left = slices.DeleteFunc(left, func(i spotpool.Instance) bool { return i.ID == id })
			}
			if diff := cmp.Diff(c.want, order); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			// All at once gives the same.
			p := decide.Decide(seen(pool(size(0, len(c.instances)-len(c.want))), c.instances...))
			if diff := cmp.Diff(c.want, p.Decisions[0].InstanceIDs); diff != "" {
				t.Errorf("all at once (-want +got):\n%s", diff)
			}
		})
	}
}

// sameType makes the price the same in every zone: it is not offered.
func sameType(i *spotpool.Instance) { i.InstanceType = "GN6.7XLARGE48" }

func TestScaleIn(t *testing.T) {
	t.Parallel()
	pending := inState(spotpool.StatePending)
	fresh := launched(ago(time.Minute))
	for name, c := range map[string]struct {
		situation decide.Situation
		want      []string
		notice    string
		warning   string
	}{
		"above minimum is not above maximum": {seen(pool(size(1, 3)), instance("ins-1"), instance("ins-2"), instance("ins-3")), nil, "", ""},
		"above maximum": {
			seen(pool(size(1, 1)), instance("ins-1"), instance("ins-2"), instance("ins-3")), []string{"terminate ins-1, ins-2"}, "", "",
		},
		"stuck and stopped instances are held": {
			seen(pool(size(1, 1)), instance("ins-1"), instance("ins-2", inState(spotpool.StateStopped))), []string{"terminate ins-2"}, "", "",
		},
		"failed and terminating ones are not": {
			seen(pool(size(1, 1)), instance("ins-1"), instance("ins-2", inState(spotpool.StateLaunchFailed)),
				instance("ins-3", inState(spotpool.StateTerminating))), nil, "", "",
		},
		"the newest is pending: it is waited for, and no older one ended for it": {
			seen(pool(size(1, 1)), instance("ins-1"), instance("ins-2", pending, fresh)), nil,
			"1 more above maximum 1 can be terminated once they no longer start or stop", "",
		},
		"one that has been pending for too long is not waited for": {
			seen(pool(size(0, 1)), instance("ins-1"), instance("ins-2", pending)), []string{"terminate ins-1"}, "",
			"ins-2 (PENDING) has been starting for longer than the launch timeout of 15m: counted in the total but not as capacity. Tencent Cloud does not " +
				"terminate starting instances: if this persists, open a ticket",
		},
		"what works is not ended below minimum for one that can't be ended": {
			seen(pool(size(1, 1)), instance("ins-1"), instance("ins-2", inState("FREEZING"))), nil, "",
			"1 instance above maximum 1 cannot be terminated: protected, refused by Tencent Cloud, starting for too long, or in an unknown state. Lift the " +
				"protection, or raise maximum",
		},
		"no more of what works than minimum spares": {
			seen(pool(size(2, 3)), instance("ins-1"), instance("ins-2"), instance("ins-3"), instance("ins-4", inState("FREEZING")),
				instance("ins-5", inState("FREEZING"))), []string{"terminate ins-1"}, "",
			"1 instance above maximum 3 cannot be terminated: protected, refused by Tencent Cloud, starting for too long, or in an unknown state. Lift the " +
				"protection, or raise maximum",
		},
		"what stops is waited for, and no working one ended for it": {
			seen(pool(size(2, 2)), instance("ins-1"), instance("ins-2"), instance("ins-3", inState(spotpool.StateStopping)),
				instance("ins-4", inState(spotpool.StateStopping))), nil,
			"2 more above maximum 2 can be terminated once they no longer start or stop", "",
		},
		"all are protected": {
			seen(pool(size(1, 1)), instance("ins-1", protected), instance("ins-2", protected)), nil, "",
			"1 instance above maximum 1 cannot be terminated: protected, refused by Tencent Cloud, starting for too long, or in an unknown state. Lift the " +
				"protection, or raise maximum",
		},
		"an unknown state is left unchanged": {
			seen(pool(size(0, 1)), instance("ins-1"), instance("ins-2", inState("FREEZING"))), []string{"terminate ins-1"}, "",
			"ins-2 (FREEZING) is in a state that gpupool does not handle: counted in the total but not as capacity, and never terminated",
		},
		"an open launch may not exist: nothing is ended for it": {
			opened(seen(pool(size(1, 1)), instance("ins-1")), 3), []string{
				"retry launch 7: 3 spot GN7.2XLARGE32 in ap-singapore-2",
			}, "", "",
		},
		"an isolated instance makes way for its replacement": {
			seen(pool(size(2, 2)), instance("ins-1"), instance("ins-2", inState(spotpool.StateShutdown))), []string{"terminate ins-2"}, "", "",
		},
		"an isolated instance is not in the way": {
			seen(pool(size(2, 3)), instance("ins-1"), instance("ins-2", inState(spotpool.StateShutdown))),
			[]string{"launch 1 spot GN7.2XLARGE32 in ap-singapore-2"}, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := decide.Decide(c.situation)
			shouldDecide(t, p, c.want...)
			if c.notice != "" {
				shouldSay(t, "notices", p.Messages.Texts(), c.notice)
			}
			if c.warning != "" {
				shouldSay(t, "warnings", p.Warnings.Texts(), c.warning)
			}
		})
	}
}

func TestATerminationSaysWhomAndWhy(t *testing.T) {
	t.Parallel()
	p := decide.Decide(seen(pool(size(1, 1)), instance("ins-1"), instance("ins-2", inZone(zone3)),
		instance("ins-3", inState(spotpool.StateStopped), drifted)))
	if len(p.Decisions) != 1 {
		t.Fatalf("decisions: %q", p.Decisions)
	}
	want := "terminate ins-3, ins-2: total 3 is above maximum 1; chosen: " +
		"ins-3 (spot GN7.2XLARGE32 in ap-singapore-2, stopped, drifted, 2.00 CNY an hour, launched 2026-03-01T11:00:00Z), " +
		"ins-2 (spot GN7.2XLARGE32 in ap-singapore-3, 3.00 CNY an hour, launched 2026-03-01T11:00:00Z)"
	if got := p.Decisions[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestALargeTerminationIsReadable(t *testing.T) {
	t.Parallel()
	var many []spotpool.Instance
	for n := range 60 {
		many = append(many, instance(fmt.Sprintf("ins-%03d", n)))
	}
	p := decide.Decide(seen(pool(size(0, 10)), many...))
	if len(p.Decisions) != 1 || len(p.Decisions[0].InstanceIDs) != 50 {
		t.Fatalf("decisions: %q", p.Decisions)
	}
	if got, want := p.Decisions[0].Summary(), "terminate 50 instances, ins-000, ins-001, ins-002, ins-003 and 46 more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An end that was asked for and does not show yet is asked for again, rather
// than that of another instance.
func TestAnEndThatDoesNotShowIsRepeated(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(1, 1)), instance("ins-1"), instance("ins-2"))
	p := decide.Decide(s)
	shouldDecide(t, p, "terminate ins-1")
	s.Journal = p.Journal.Terminate(p.Decisions[0].InstanceIDs, s.Now)
	s.Observation.Offers[0].Price = 0 // what was the dearest then may not be it now
	s.Observation.Instances[1].LaunchedAt = noon
	p = decide.Decide(s)
	shouldDecide(t, p, "terminate ins-1")
	shouldSay(t, "reasons", p.Decisions[0].Reasons.Texts(),
		"chosen: ins-1 (spot GN7.2XLARGE32 in ap-singapore-2, its end was asked for before, launched 2026-03-01T11:00:00Z)")
}

// An end that does not come about is taken not to have been asked for: later,
// the instance is reclaimed like any other.
func TestAnEndThatNeverComesIsForgotten(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(1, 2)), instance("ins-1"))
	s.Journal = decide.Decide(s).Journal.Terminate([]string{"ins-1"}, s.Now)
	for _, minutes := range []int{0, 10, 11} {
		s.Now = noon.Add(time.Duration(minutes) * time.Minute)
		p := decide.Decide(s)
		if want := minutes <= 10; p.Members[0].Ending != want {
			t.Errorf("after %d minutes, ending is %t", minutes, p.Members[0].Ending)
		}
		s.Journal = p.Journal
	}
	s.Observation.Instances = nil
	if messages := decide.Decide(s).Messages; len(messages) != 1 {
		t.Errorf("notices: %q", messages)
	}
}
