package decide_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
)

// TestMessages tells what a pool that held ins-1 and ins-2 says of what happened.
func TestMessages(t *testing.T) {
	t.Parallel()
	failed := func(i *spotpool.Instance) {
		i.State, i.OperationError = spotpool.StateLaunchFailed, "the disk is sold out"
	}
	for name, c := range map[string]struct {
		now     []spotpool.Instance
		ended   bool // by the pool
		want    []string
		avoided bool // the place comes last for a while
	}{
		"nothing happened": {[]spotpool.Instance{instance("ins-1"), instance("ins-2")}, false, nil, false},
		"reclaimed, and gone": {
			[]spotpool.Instance{instance("ins-1")}, false,
			[]string{"ins-2 (GN7.2XLARGE32 in ap-singapore-2) is gone: reclaimed by Tencent Cloud, or terminated or untagged by hand"}, true,
		},
		"both reclaimed": {
			nil, false,
			[]string{"ins-1, ins-2 (GN7.2XLARGE32 in ap-singapore-2) are gone: reclaimed by Tencent Cloud, or terminated or untagged by hand"}, true,
		},
		"reclaimed, and terminating": {
			[]spotpool.Instance{instance("ins-1"), instance("ins-2", inState(spotpool.StateTerminating))}, false,
			[]string{"ins-2 (GN7.2XLARGE32 in ap-singapore-2) is TERMINATING: reclaimed by Tencent Cloud, or terminated by hand"}, true,
		},
		"reclaimed, and in the recycle bin": {
			[]spotpool.Instance{instance("ins-1"), instance("ins-2", inState(spotpool.StateShutdown))}, false,
			[]string{"ins-2 (GN7.2XLARGE32 in ap-singapore-2) is SHUTDOWN: reclaimed by Tencent Cloud, or terminated by hand"}, true,
		},
		"failed to launch": {
			[]spotpool.Instance{instance("ins-1"), instance("ins-2", failed)}, false,
			[]string{"ins-2 (GN7.2XLARGE32 in ap-singapore-2) is LAUNCH_FAILED: the disk is sold out"}, true,
		},
		"ended by the pool, and gone":        {[]spotpool.Instance{instance("ins-1")}, true, nil, false},
		"ended by the pool, and terminating": {[]spotpool.Instance{instance("ins-1"), instance("ins-2", inState(spotpool.StateTerminating))}, true, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := seen(pool(), instance("ins-1"), instance("ins-2"))
			s.Journal = decide.Decide(s).Journal
			if c.ended {
				s.Journal = s.Journal.Terminate([]string{"ins-2"}, s.Now)
			}
			s.Observation.Instances = c.now
			p := decide.Decide(s)
			if diff := cmp.Diff(c.want, p.Messages.Texts(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
			if avoided := len(p.Journal.Cooldowns) > 0; avoided != c.avoided {
				t.Errorf("cooldowns: %+v", p.Journal.Cooldowns)
			}
			s.Journal = p.Journal
			if again := decide.Decide(s).Messages; len(again) > 0 {
				t.Errorf("noticed again: %q", again)
			}
		})
	}
}

func TestUnknownInstancesAreNotReported(t *testing.T) {
	t.Parallel()
	p := decide.Decide(seen(pool(size(0, 2)), instance("ins-1", inState(spotpool.StateTerminating))))
	if len(p.Messages) > 0 || len(p.Journal.Cooldowns) > 0 {
		t.Errorf("notices %q, cooldowns %+v", p.Messages, p.Journal.Cooldowns)
	}
}

func TestAnOnDemandInstanceIsNotReclaimed(t *testing.T) {
	t.Parallel()
	s := seen(pool(size(1, 2), func(d *spotpool.Declaration) { d.InstanceChargeType = spotpool.OnDemand }), instance("ins-1", onDemand))
	s.Journal = decide.Decide(s).Journal
	s.Observation.Instances = nil
	p := decide.Decide(s)
	shouldDecide(t, p, "launch 1 on-demand GN7.2XLARGE32 in ap-singapore-2")
	if len(p.Journal.Cooldowns) > 0 {
		t.Errorf("where it ended is avoided: %+v", p.Journal.Cooldowns)
	}
}

// A former instance stays in the journal for a while, with the time of its end: the usage of
// its pods depends on that.
func TestPastInstancesAreRemembered(t *testing.T) {
	t.Parallel()
	s := seen(pool(), instance("ins-1"), instance("ins-2"), instance("ins-3"))
	s.Journal = decide.Decide(s).Journal.Terminate([]string{"ins-2"}, s.Now)
	ended := s.Now
	s.Observation.Instances = []spotpool.Instance{instance("ins-1")}
	s.Now = s.Now.Add(time.Hour)
	s.Journal = decide.Decide(s).Journal
	if diff := cmp.Diff([]fleet.Past{{InstanceID: "ins-2", SeqTag: 1, EndedAt: ended}, {InstanceID: "ins-3", SeqTag: 1, NoticedAt: s.Now}},
		s.Journal.Past); diff != "" {
		t.Errorf("past instances (-want +got):\n%s", diff)
	}
	s.Now = s.Now.Add(48*time.Hour + time.Second)
	if past := decide.Decide(s).Journal.Past; len(past) > 0 {
		t.Errorf("two days later: %+v", past)
	}
}
