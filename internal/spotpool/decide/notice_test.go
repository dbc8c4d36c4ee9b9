package decide_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// taken is a node whose instance Tencent Cloud reclaims so long after noon.
func taken(after time.Duration) func(*node.Node) {
	return func(n *node.Node) { n.TakenAt = noon.Add(after) }
}

// noticed is a pool of 2, whose second instance is reclaimed in two minutes.
func noticed(changes ...func(*spotpool.Declaration)) decide.Situation {
	return interruptedAfter(2*time.Minute, changes...)
}

func interruptedAfter(after time.Duration, changes ...func(*spotpool.Declaration)) decide.Situation {
	s := remembered(seen(pool(append(changes, withNodes)...), instance("ins-1"), instance("ins-2")))
	return inCluster(s, nodeOf("ins-1"), nodeOf("ins-2", taken(after)))
}

func TestANoticeIsFollowedByAReplacementAndThenADrain(t *testing.T) {
	t.Parallel()
	const (
		// Not in ap-singapore-2, where Tencent Cloud reclaims instances.
		launch = "launch 1 spot GN7.2XLARGE32 in ap-singapore-3"
		drain  = "drain ins-2, the node node-ins-2"
	)
	with := func(s decide.Situation, change func(*decide.Situation)) decide.Situation {
		change(&s)
		return s
	}
	shouldDecideEach(t, map[string]decisionCase{
		"in two minutes": {situation: noticed(), want: []string{launch, drain}},
		"a moment ago":   {situation: interruptedAfter(-time.Minute), want: []string{launch, drain}},
		"maximum leaves no room": {
			situation: noticed(size(2, 2)), want: []string{drain}, short: "total 2, and maximum is 2: no room for 1 more",
		},
		"and says what that means": {
			situation: noticed(size(2, 2)), want: []string{drain}, short: "Tencent Cloud reclaims ins-2 at 2026-03-01T12:02:00Z, and its " +
				"replacement is launched later",
		},
		"enough others work": {situation: noticed(size(1, 2)), want: []string{drain}},
		"above maximum, the interrupted one goes by itself": {situation: noticed(size(1, 1)), want: []string{drain}},
		"the gate is closed": {
			situation: with(noticed(), func(s *decide.Situation) {
				s.Gate = spotpool.Gate{Closed: true, Reason: reason.OtherVersion("the budget is used up")}
			}),
			want: []string{drain}, short: "the budget is used up",
		},
		"a protected one": {
			situation: with(noticed(), func(s *decide.Situation) { protected(&s.Observation.Instances[1]) }), want: []string{launch, drain},
		},
		"one that is not paid as spot": {
			situation: with(noticed(), func(s *decide.Situation) { onDemand(&s.Observation.Instances[1]) }),
		},
		"one whose end was asked for": {
			situation: with(noticed(), func(s *decide.Situation) { s.Journal = s.Journal.Terminate([]string{"ins-2"}, ago(time.Minute)) }),
		},
		"a pool without nodes": {
			situation: with(noticed(), func(s *decide.Situation) { s.Declaration.Nodes = nil }),
		},
		"the cluster was not seen": {
			situation: with(noticed(), func(s *decide.Situation) { s.Observation.Cluster = node.Observation{} }),
			short:     "the cluster was not observed: nothing is drained, replaced or terminated",
		},
		"a time too far ahead": {situation: interruptedAfter(time.Hour)},
		"a time that is over":  {situation: interruptedAfter(-5 * time.Minute)},
		"an ambiguous node": {situation: inCluster(remembered(seen(pool(withNodes), instance("ins-1"), instance("ins-2"))), nodeOf("ins-1"),
			nodeOf("ins-2"), nodeOf("ins-9", taken(time.Minute)))},
	})

	s := noticed()
	s.SoFar.Drained = []string{"ins-2"}
	shouldDecide(t, decide.Decide(s), launch)
	p := decide.Decide(noticed())
	if p.Capacity != 1 || p.Total != 2 || p.Shortfall != 1 {
		t.Errorf("counts are %+v", p.Counts)
	}
	shouldSay(t, "reasons", p.Decisions[0].Reasons.Texts(), "capacity 1, as Tencent Cloud reclaims ins-2 at 2026-03-01T12:02:00Z, is below minimum 2")
	const news = "interruption notice: Tencent Cloud reclaims ins-2 (GN7.2XLARGE32 in ap-singapore-2) at 2026-03-01T12:02:00Z"
	shouldSay(t, "notices", p.Messages.Texts(), news)
	s.Journal = p.Journal
	if again := decide.Decide(s); len(again.Messages) > 0 {
		t.Errorf("told twice: %q", again.Messages)
	}
}

func TestAHoldStopsWhatANoticeAsksFor(t *testing.T) {
	t.Parallel()
	s := noticed()
	hold := held(noon, time.Hour)
	s.Hold = &hold
	p := decide.Decide(s)
	shouldDecide(t, p)
	shouldSay(t, "warnings", p.Warnings.Texts(), "Tencent Cloud reclaims ins-2 at 2026-03-01T12:02:00Z: on hold, its replacement is not launched, and no "+
		"node is drained")
}

// TestADrainForANotice plays a drain from the notice on, whether Tencent Cloud reclaims the
// instance or not.
func TestADrainForANotice(t *testing.T) {
	t.Parallel()
	for _, on := range []node.OnTimeout{node.Terminate, node.Keep} {
		how := func(d *spotpool.Declaration) { d.Nodes.Drain.OnTimeout = on }
		s := noticed(size(1, 4), withNodes, how)
		step := func(after time.Duration, progress *node.Progress) decide.Plan {
			t.Helper()
			s.Now = noon.Add(after)
			p := decide.Decide(s)
			s.Journal = p.Journal
			if progress != nil {
				shouldDecide(t, p, "drain ins-2, the node node-ins-2")
				s.Journal = s.Journal.RequestDrain(p.Decisions[0], s.Now).RecordDrain("ins-2", *progress, s.Declaration.Nodes.Drain, s.Now)
				cordonedByPool(&s.Observation.Cluster.Nodes[1])
			}
			return p
		}
		left := node.Progress{Cordoned: true, Observed: true, Left: 1}
		step(0, &left)
		step(time.Minute, &left)
		step(2*time.Minute, &left) // its time is up
		shouldDecide(t, step(3*time.Minute, nil))
		if p := step(4*time.Minute, nil); p.Members[1].Drain.Phase != node.TimedOut || p.Members[1].Drain.Ends() {
			t.Errorf("%s: the drain is %+v", on, p.Members[1].Drain)
		}
		// It was not taken, and is wanted.
		over := step(8*time.Minute, nil)
		shouldDecide(t, over, "uncordon ins-2, the node node-ins-2")
		if over.Capacity != 2 {
			t.Errorf("capacity is %d once the notice is over", over.Capacity)
		}
		// It is not: then it has the whole time of a drain.
		s.Declaration.Maximum = 1
		wanted := step(8*time.Minute, &left)
		if d := wanted.Decisions[0]; !d.TakenAt.IsZero() {
			t.Errorf("an end by the pool is drained until %s", d.TakenAt)
		}
		if k := s.Journal.Known[1]; k.Drain.Phase != node.Draining || !k.Drain.TakenAt.IsZero() {
			t.Errorf("the drain of an end by the pool is %+v", k.Drain)
		}
	}
}

func TestANoticeHurriesADrain(t *testing.T) {
	t.Parallel()
	s := inCluster(remembered(seen(pool(size(1, 1), withNodes), instance("ins-1"), instance("ins-2"))), nodeOf("ins-1"), nodeOf("ins-2"))
	p := decide.Decide(s)
	shouldDecide(t, p, "drain ins-1, the node node-ins-1")
	left := node.Progress{Cordoned: true, Observed: true, Left: 1}
	s.Journal = p.Journal.RequestDrain(p.Decisions[0], noon).RecordDrain("ins-1", left, s.Declaration.Nodes.Drain, noon)
	s = inCluster(s, nodeOf("ins-1", cordonedByPool, taken(2*time.Minute)), nodeOf("ins-2"))
	s.Now = noon.Add(30 * time.Second)
	p = decide.Decide(s)
	shouldDecide(t, p, "drain ins-1, the node node-ins-1")
	s.Now = noon.Add(2 * time.Minute)
	s.Journal = p.Journal.RequestDrain(p.Decisions[0], s.Now).RecordDrain("ins-1", left, s.Declaration.Nodes.Drain, s.Now)
	if d := s.Journal.Known[0].Drain; !d.Since.Equal(noon) || d.Phase != node.TimedOut {
		t.Errorf("the drain is %+v", d)
	}
	shouldDecide(t, decide.Decide(s)) // Tencent Cloud reclaims it
}

// TestARenewedNoticeLastsFromWhenItWasFirstSeen: a node that renews its notice is taken at
// its word once, and is capacity again afterwards.
func TestARenewedNoticeLastsFromWhenItWasFirstSeen(t *testing.T) {
	t.Parallel()
	s := noticed(size(2, 4))
	s.Journal.Unreported = nil
	interrupted := func(after time.Duration, change func(*node.Node)) bool {
		t.Helper()
		s = inCluster(s, nodeOf("ins-1"), nodeOf("ins-2", change))
		s.Now, s.Observation.At = noon.Add(after), noon.Add(after)
		p := decide.Decide(s)
		s.Journal = p.Journal
		return p.Members[1].Interrupted()
	}
	for minutes := range 30 {
		after := time.Duration(minutes) * time.Minute
		if got, want := interrupted(after, taken(after+2*time.Minute)), minutes < 7; got != want {
			t.Errorf("%s after the notice it is counted as interrupted: %t", after, got)
		}
	}
	if interrupted(31*time.Minute, func(*node.Node) {}) {
		t.Error("it is counted as interrupted without a notice")
	}
	if !interrupted(32*time.Minute, taken(34*time.Minute)) {
		t.Error("a notice after the node had none is not heard")
	}
	shouldTell(t, s.Journal, "notice ins-2 node-ins-2", "notice ins-2 node-ins-2")
}

// TestAWantedEndDoesNotWaitForTheCloud: an instance that is to be terminated anyway is
// terminated once its node is drained for a notice. Else Tencent Cloud reclaims it.
func TestAWantedEndDoesNotWaitForTheCloud(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		declaration func(*spotpool.Declaration)
		left, open  int
		want        []string
	}{
		"a destroy":                          {size(0, 0), 0, 0, []string{"drain ins-1, the node node-ins-1", "terminate ins-2"}},
		"above maximum":                      {size(1, 1), 0, 0, []string{"terminate ins-2"}},
		"above maximum, with pods left":      {size(1, 1), 1, 0, nil},
		"within maximum":                     {size(1, 2), 0, 0, nil},
		"within maximum, a launch is unseen": {size(1, 2), 0, 1, []string{"retry launch 7: 1 spot GN7.2XLARGE32 in ap-singapore-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := noticed(c.declaration)
			p := decide.Decide(s)
			at := len(p.Decisions) - 1
			shouldDecide(t, decide.Plan{Result: decide.Result{Decisions: p.Decisions[at:]}}, "drain ins-2, the node node-ins-2")
			progress := node.Progress{Cordoned: true, Observed: true, Left: c.left}
			s.Journal = p.Journal.RequestDrain(p.Decisions[at], noon).RecordDrain("ins-2", progress, s.Declaration.Nodes.Drain, noon)
			s = inCluster(s, nodeOf("ins-1"), nodeOf("ins-2", cordonedByPool, taken(2*time.Minute)))
			s.SoFar.Drained = []string{"ins-2"}
			if c.open > 0 {
				s = opened(s, c.open)
			}
			shouldDecide(t, decide.Decide(s), c.want...)
		})
	}
}
