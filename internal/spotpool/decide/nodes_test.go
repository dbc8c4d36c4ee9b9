package decide_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
)

const clusterUID = "c1u57e6"

// withNodes has the pool's instances become nodes.
func withNodes(d *spotpool.Declaration) {
	d.Nodes, d.ClusterUID = &spotpool.Nodes{}, clusterUID
	*d = d.WithDefaults()
}

// nodeOf is the node that an instance is, Ready for an hour.
func nodeOf(id string, changes ...func(*node.Node)) node.Node {
	n := node.Node{
		Name: "node-" + id, UID: "u-" + id, ProviderID: "qcloud:///900002/" + id, CreatedAt: ago(time.Hour), Ready: node.ReadyTrue, ReadySince: ago(time.Hour),
	}
	for _, change := range changes {
		change(&n)
	}
	return n
}

func notReady(since time.Duration) func(*node.Node) {
	return func(n *node.Node) { n.Ready, n.ReadySince = node.ReadyUnknown, ago(since) }
}

func cordonedByPool(n *node.Node) { n.Cordoned, n.CordonedBy = true, uid }

// inCluster shows a cluster with these nodes.
func inCluster(s decide.Situation, nodes ...node.Node) decide.Situation {
	s.Observation.Cluster = node.Observation{ClusterUID: clusterUID, At: s.Now, Nodes: nodes}
	return watched(s)
}

// watched is the situation after an observation in each minute since the first of its
// nodes was not Ready.
func watched(s decide.Situation) decide.Situation {
	at := s.Now
	for _, n := range s.Observation.Cluster.Nodes {
		if n.Ready != node.ReadyTrue && n.ReadySince.Before(at) {
			at = n.ReadySince
		}
	}
	s.Journal.Known = slices.Clone(s.Journal.Known)
	for before := s; at.Before(s.Now); at = at.Add(time.Minute) {
		before.Now, before.Journal = at, s.Journal
		before.Observation.Cluster.Nodes = slices.Clone(s.Observation.Cluster.Nodes)
		for n := range before.Observation.Cluster.Nodes {
			if of := &before.Observation.Cluster.Nodes[n]; of.ReadySince.After(at) {
				of.Ready = node.ReadyTrue
			}
		}
		remember(s.Journal.Known, decide.Decide(before).Journal.Known)
	}
	return s
}

// remember copies what is remembered of instances as nodes.
func remember(known, from []fleet.Known) {
	for _, k := range from {
		for n := range known {
			if known[n].InstanceID == k.InstanceID {
				known[n].Node = k.Node
			}
		}
	}
}

// remembered is the situation after earlier observations. Each of these instances has been a
// Ready node for an hour, except those that never joined.
func remembered(s decide.Situation, neverJoined ...string) decide.Situation {
	late := map[string]bool{}
	for _, id := range neverJoined {
		late[id] = true
	}
	var nodes []node.Node
	for _, i := range s.Observation.Instances {
		if !late[i.ID] {
			nodes = append(nodes, nodeOf(i.ID))
		}
	}
	before := s
	before.Observation.Cluster = node.Observation{ClusterUID: clusterUID, At: s.Now, Nodes: nodes}
	before.Now = ago(65 * time.Minute)
	s.Journal = decide.Decide(before).Journal
	for ; before.Now.Before(noon); before.Now = before.Now.Add(5 * time.Minute) {
		before.Journal = s.Journal
		remember(s.Journal.Known, decide.Decide(before).Journal.Known)
	}
	return s
}

func TestFailedNodesAreReplaced(t *testing.T) {
	t.Parallel()
	const launch = "launch 1 spot GN7.2XLARGE32 in ap-singapore-3" // avoids the offering of the failed instance
	two := func(d ...func(*spotpool.Declaration)) decide.Situation {
		return seen(pool(append(d, withNodes)...), instance("ins-1"), instance("ins-2"))
	}
	three := seen(pool(size(2, 3), withNodes), instance("ins-1"), instance("ins-2"), instance("ins-3"))
	four := seen(pool(size(4, 5), withNodes, func(d *spotpool.Declaration) { d.Nodes.MaxReplacementsPerRun = 2 }),
		instance("ins-1"), instance("ins-2"), instance("ins-3"), instance("ins-4"))
	gone := inCluster(remembered(two()), nodeOf("ins-1"))
	for range 2 {
		gone.Journal = decide.Decide(gone).Journal
		gone.Now = gone.Now.Add(5 * time.Minute)
	}
	gone.SoFar.Replaced = 1
	drains := inCluster(remembered(seen(pool(size(1, 1), withNodes), instance("ins-1"), instance("ins-2"), instance("ins-3")), "ins-3"),
		nodeOf("ins-1"), nodeOf("ins-2"))
	begun := decide.Decide(drains)
	drains.Journal = begun.Journal.RequestDrain(begun.Decisions[0], noon)
	size(2, 3)(&drains.Declaration)
	drains.Observation.Instances = append(drains.Observation.Instances, instance("ins-4", inState(spotpool.StatePending), launched(noon)))
	shouldDecideEach(t, map[string]decisionCase{
		"nodes that are Ready": {situation: inCluster(remembered(two()), nodeOf("ins-1"), nodeOf("ins-2"))},
		"one joins still":      {situation: inCluster(two(), nodeOf("ins-1"))},
		"one never joined, and there is room": {
			situation: inCluster(remembered(two(), "ins-2"), nodeOf("ins-1")), want: []string{launch},
			short: "ins-2 is terminated once its replacement works",
		},
		"one never joined, and there is none": {
			situation: inCluster(remembered(two(size(2, 2)), "ins-2"), nodeOf("ins-1")), want: []string{"terminate ins-2"},
		},
		"one never joined, there is none, and nothing is sold": {
			situation: offered(inCluster(remembered(two(size(2, 2)), "ins-2"), nodeOf("ins-1")), offer(zone2, "2", soldOut), offer(zone3, "3", soldOut)),
			short:     "ins-2 is terminated once its replacement works",
		},
		"two never joined, and there is room for one": {
			situation: inCluster(remembered(four, "ins-3", "ins-4"), nodeOf("ins-1"), nodeOf("ins-2")), want: []string{launch, "terminate ins-3"},
		},
		"one's Node is gone, and the run replaces another": {
			situation: gone,
			short: "ins-2 is to be replaced (its node node-ins-2 has not been Ready for longer than the 10m of unhealthy_timeout) by the next run: " +
				"max_replacements_per_run is 1",
		},
		"another one drains, so that its replacement is awaited": {
			situation: drains, want: []string{"drain ins-1, the node node-ins-1"}, short: "ins-3 is terminated once its replacement works",
		},
		"one is not Ready for a while": {situation: inCluster(remembered(two()), nodeOf("ins-1"), nodeOf("ins-2", notReady(9*time.Minute)))},
		"one is not Ready for long": {
			situation: inCluster(remembered(two()), nodeOf("ins-1"), nodeOf("ins-2", notReady(11*time.Minute))), want: []string{launch},
		},
		"a third works in its place": {
			situation: inCluster(remembered(three, "ins-2"), nodeOf("ins-1"), nodeOf("ins-3")), want: []string{"terminate ins-2"},
		},
		"two never joined, one in the place of the other": {
			situation: inCluster(remembered(seen(pool(size(3, 4), withNodes), instance("ins-1"), instance("ins-2"), instance("ins-3")), "ins-2", "ins-3"),
				nodeOf("ins-1")), want: []string{launch},
			short: "ins-3 is to be replaced (it never became a Ready node within the 15m of join_timeout) by the next run: max_replacements_per_run is 1",
		},
		"all fail at once":       {situation: inCluster(remembered(two()), nodeOf("ins-1", notReady(time.Hour)), nodeOf("ins-2", notReady(time.Hour)))},
		"the cluster isn't seen": {situation: remembered(two(), "ins-2"), short: "the cluster was not observed: nothing is drained, replaced or terminated"},
		"another cluster is seen": {
			situation: func() decide.Situation {
				s := inCluster(remembered(two(), "ins-2"), nodeOf("ins-1"))
				s.Observation.Cluster.ClusterUID = "another"
				return s
			}(),
			short: "the cluster was not observed: nothing is drained, replaced or terminated",
		},
		"its node can't be told": {situation: inCluster(remembered(two(), "ins-2"), nodeOf("ins-1"), nodeOf("ins-2"),
			nodeOf("ins-2", func(n *node.Node) { n.Name, n.UID = "twin", "twin" }))},
		"a pool without nodes": {situation: seen(pool(), instance("ins-1"), instance("ins-2"))},
	})
}

// TestARecoveredNodeNeedsNoReplacement: it is capacity again, and nothing more is launched.
func TestARecoveredNodeNeedsNoReplacement(t *testing.T) {
	t.Parallel()
	s := remembered(seen(pool(withNodes), instance("ins-1"), instance("ins-2")), "ins-2")
	failing := decide.Decide(inCluster(s, nodeOf("ins-1")))
	shouldDecide(t, failing, "launch 1 spot GN7.2XLARGE32 in ap-singapore-3")
	s.Journal = failing.Journal
	recovered := decide.Decide(inCluster(s, nodeOf("ins-1"), nodeOf("ins-2")))
	shouldDecide(t, recovered)
	if failing.Capacity != 1 || recovered.Capacity != 2 {
		t.Errorf("capacity is %d while one fails and %d afterwards, want 1 and 2", failing.Capacity, recovered.Capacity)
	}
}

func TestNodesAreDrainedBeforeTheirInstancesEnd(t *testing.T) {
	t.Parallel()
	above := remembered(seen(pool(size(1, 1), withNodes), instance("ins-1"), instance("ins-2")))
	nodes := []node.Node{nodeOf("ins-1"), nodeOf("ins-2")}
	s := inCluster(above, nodes...)
	p := decide.Decide(s)
	shouldDecide(t, p, "drain ins-1, the node node-ins-1")
	how := s.Declaration.Nodes.Drain
	after := func(progress node.Progress, minutes int, cordoned bool) decide.Situation {
		next := s
		next.Journal = p.Journal.RequestDrain(p.Decisions[0], noon).RecordDrain("ins-1", progress, how, noon.Add(time.Duration(minutes)*time.Minute))
		list := []node.Node{nodeOf("ins-1"), nodeOf("ins-2")}
		if cordoned {
			cordonedByPool(&list[0])
		}
		return inCluster(next, list...)
	}
	seenEmpty := node.Progress{Cordoned: true, Observed: true}
	left := node.Progress{Cordoned: true, Observed: true, Left: 2}
	begun := after(left, 0, true)
	shouldDecide(t, decide.Decide(begun), "drain ins-1, the node node-ins-1")
	begun.SoFar.Drained = []string{"ins-1"}
	shouldDecide(t, decide.Decide(begun))
	shouldDecide(t, decide.Decide(after(seenEmpty, 1, true)), "terminate ins-1")
	ending := after(seenEmpty, 1, true)
	ending.Observation.Instances[0].State = spotpool.StateTerminating
	shouldDecide(t, decide.Decide(ending)) // no new pods for what is on its way out
	ending.Observation.Instances[0].State = spotpool.StateRunning
	unwanted := begun
	unwanted.Declaration.Maximum, unwanted.SoFar.Drained = 2, nil
	shouldDecide(t, decide.Decide(unwanted), "uncordon ins-1, the node node-ins-1")

	blind := after(seenEmpty, 1, true)
	blind.Observation.Cluster = node.Observation{}
	p2 := decide.Decide(blind)
	shouldDecide(t, p2)
	shouldSay(t, "short", p2.Short.Texts(), "the cluster was not observed: nothing is drained, replaced or terminated")

	theirs := after(left, 0, true)
	theirs.Declaration.Maximum = 2
	theirs.Observation.Cluster.Nodes[0].CordonedBy = ""
	shouldDecide(t, decide.Decide(theirs))
}

func TestANodeIsDeletedOnceItsInstanceIsGoneForSure(t *testing.T) {
	t.Parallel()
	d := pool(size(1, 2), withNodes)
	s := remembered(seen(d, instance("ins-1"), instance("ins-2")))
	ours := func(n *node.Node) { n.Pool = uid }
	s.Observation.Instances = s.Observation.Instances[:1]
	s = inCluster(s, nodeOf("ins-1", ours), nodeOf("ins-2", ours, notReady(time.Minute)))
	step := func(minutes float64, absent ...string) decide.Plan {
		s.Now = noon.Add(time.Duration(minutes * float64(time.Minute)))
		s.Observation.Absent = absent
		p := decide.Decide(s)
		s.Journal = p.Journal
		return p
	}
	shouldDecide(t, step(0, "ins-2"))
	shouldDecide(t, step(0.5, "ins-2"))
	shouldDecide(t, step(2)) // not requested
	shouldDecide(t, step(3, "ins-2"), "delete the node node-ins-2 of ins-2")
	s.Observation.Cluster.Nodes[1].UID = "a later one"
	shouldDecide(t, step(4, "ins-2"))
	s.Observation.Cluster.Nodes[1] = nodeOf("ins-2") // without our mark
	shouldDecide(t, step(5, "ins-2"))
	s.Observation.Cluster.Nodes[1] = nodeOf("ins-2", ours)
	s.Observation.Instances = append(s.Observation.Instances, instance("ins-2")) // the listings left it out
	shouldDecide(t, step(6))
	s.Observation.Instances = s.Observation.Instances[:1]
	shouldDecide(t, step(7, "ins-2"))
}

func TestVictimsWithoutGPUPodsGoFirst(t *testing.T) {
	t.Parallel()
	d := pool(size(0, 2), withNodes)
	dear := instance("ins-1", inZone(zone3)) // the first to end, but for its pods
	s := remembered(seen(d, dear, instance("ins-2"), instance("ins-3", launched(ago(2*time.Hour)))))
	nodes := []node.Node{nodeOf("ins-1"), nodeOf("ins-2"), nodeOf("ins-3")}
	first := func(s decide.Situation) string {
		t.Helper()
		p := decide.Decide(s)
		if len(p.Decisions) != 1 {
			t.Fatalf("decisions are %q, short %q", p.Decisions, p.Short)
		}
		return p.Decisions[0].InstanceIDs[0]
	}
	counted := func(nodes []node.Node, pods map[string]int) decide.Situation {
		s := inCluster(s, nodes...)
		s.Observation.Cluster = s.Observation.Cluster.Counted(pods)
		return s
	}
	twin := nodeOf("ins-3", func(n *node.Node) { n.Name, n.UID = "twin", "twin" })
	for name, c := range map[string]struct {
		situation decide.Situation
		want      string
	}{
		"uncounted pods":         {inCluster(s, nodes...), "ins-1"},
		"all have some":          {counted(nodes, map[string]int{"node-ins-1": 1, "node-ins-2": 1, "node-ins-3": 1}), "ins-1"},
		"one has none":           {counted(nodes, map[string]int{"node-ins-1": 1, "node-ins-2": 1}), "ins-3"},
		"one is no node":         {counted(nodes[:2], map[string]int{"node-ins-1": 1, "node-ins-2": 2}), "ins-3"},
		"its node can't be told": {counted(append(nodes, twin), map[string]int{"node-ins-1": 1, "node-ins-2": 1}), "ins-1"},
	} {
		if got := first(c.situation); got != c.want {
			t.Errorf("%s: %s goes first, want %s", name, got, c.want)
		}
	}

	drains := counted(nodes, map[string]int{"node-ins-1": 1})
	p := decide.Decide(drains)
	shouldSay(t, "reasons", p.Decisions[0].Reasons.Texts(), "chosen: ins-2 (spot GN7.2XLARGE32 in ap-singapore-2, no GPU pods, 2.00 CNY an hour, launched "+
		"2026-03-01T11:00:00Z)")
	later := counted(nodes, map[string]int{"node-ins-2": 1})
	later.Journal = p.Journal.RequestDrain(p.Decisions[0], noon)
	if got := first(later); got != "ins-2" {
		t.Errorf("%s goes first, and the drain of ins-2 has begun", got)
	}
}

func TestADrainedNodeThatIsUncordonedIsDrainedAgain(t *testing.T) {
	t.Parallel()
	s := inCluster(remembered(seen(pool(size(1, 1), withNodes), instance("ins-1"), instance("ins-2"))), nodeOf("ins-1"), nodeOf("ins-2"))
	p := decide.Decide(s)
	s.Journal = p.Journal.RequestDrain(p.Decisions[0], noon).
		RecordDrain("ins-1", node.Progress{Cordoned: true, Observed: true}, s.Declaration.Nodes.Drain, noon)
	now := s
	now.SoFar.Drained = []string{"ins-1"} // by this run, after its observation
	shouldDecide(t, decide.Decide(now), "terminate ins-1")
	again := decide.Decide(s)
	shouldDecide(t, again, "drain ins-1, the node node-ins-1")
	if j := again.Journal.RequestDrain(again.Decisions[0], noon); j.Known[0].Drain.Phase != node.Asked {
		t.Errorf("the drain is %+v", j.Known[0].Drain)
	}
}

// TestADrainIsOfOneNode: a Node that was made again and cordoned by a person since its
// drain was done is drained.
func TestADrainIsOfOneNode(t *testing.T) {
	t.Parallel()
	s := inCluster(remembered(seen(pool(size(1, 1), withNodes), instance("ins-1"), instance("ins-2"))), nodeOf("ins-1"), nodeOf("ins-2"))
	p := decide.Decide(s)
	s.Journal = p.Journal.RequestDrain(p.Decisions[0], noon).
		RecordDrain("ins-1", node.Progress{Cordoned: true, Observed: true}, s.Declaration.Nodes.Drain, noon)
	s = inCluster(s, nodeOf("ins-1", cordonedByPool, func(n *node.Node) { n.UID = "another" }), nodeOf("ins-2"))
	again := decide.Decide(s)
	shouldDecide(t, again, "drain ins-1, the node node-ins-1")
	if d := again.Journal.RequestDrain(again.Decisions[0], noon).Known[0].Drain; d.UID != "another" || d.Phase != node.Asked {
		t.Errorf("the drain is %+v", d)
	}
}

// TestRefusedTerminationDrainsNoOtherNode: if Tencent Cloud refuses to terminate a drained instance, no
// other node is drained, until an hour later or a new apply.
func TestRefusedTerminationDrainsNoOtherNode(t *testing.T) {
	t.Parallel()
	s := inCluster(remembered(seen(pool(size(1, 1), withNodes), instance("ins-1"), instance("ins-2"))), nodeOf("ins-1"), nodeOf("ins-2"))
	asked := decide.Decide(s)
	shouldDecide(t, asked, "drain ins-1, the node node-ins-1")
	how := s.Declaration.Nodes.Drain
	s.Journal = asked.Journal.RequestDrain(asked.Decisions[0], noon).RecordDrain("ins-1", node.Progress{Cordoned: true, Observed: true}, how, noon)
	s.Observation.Cluster.Nodes[0].Cordoned, s.Observation.Cluster.Nodes[0].CordonedBy = true, uid
	shouldDecide(t, decide.Decide(s), "terminate ins-1")
	s.Journal = s.Journal.Terminate([]string{"ins-1"}, noon)
	s.Journal.Fleet = s.Journal.Keep([]string{"ins-1"}, noon)
	refused := s
	refused.SoFar.Refused = []string{"ins-1"}
	shouldDecide(t, decide.Decide(refused), "uncordon ins-1, the node node-ins-1")
	s.Journal = s.Journal.RecordUncordon("ins-1", noon)
	s.Observation.Cluster.Nodes[0].Cordoned, s.Observation.Cluster.Nodes[0].CordonedBy = false, ""
	s.Now = noon.Add(time.Minute)
	shouldDecide(t, decide.Decide(s))
	insisting := s
	insisting.SoFar.Insists = true
	shouldDecide(t, decide.Decide(insisting), "drain ins-1, the node node-ins-1")
	s.Now = noon.Add(61 * time.Minute)
	shouldDecide(t, decide.Decide(s), "drain ins-1, the node node-ins-1")
}

// TestAnotherConfigurationMayJoin: once the configuration that never joined is not the
// declared one any more, replacing goes on.
func TestAnotherConfigurationMayJoin(t *testing.T) {
	t.Parallel()
	s := inCluster(remembered(seen(pool(size(2, 3), withNodes), instance("ins-1"), instance("ins-2")), "ins-2"), nodeOf("ins-1"))
	tag := spotpool.UnknownConfigurationTag(s.Declaration.Configuration)
	s.Journal.EarlyFailures = node.Streak{Configuration: tag, InstanceIDs: []string{"ins-8", "ins-9"}}
	p := decide.Decide(s)
	if len(p.Replacing) > 0 {
		t.Errorf("%v are replaced", p.Replacing)
	}
	shouldSay(t, "warnings", p.Warnings.Texts(), "replacement is suspended: 2 instances in a row failed before they had worked for an hour. "+
		"It resumes once a node has worked for an hour, or the configuration changes. Check the nodes, and resume it:\n"+
		"gpupool status ap-singapore/train --machines\ngpupool release ap-singapore/train")
	s.Declaration.ImageID = "img-another1"
	if p := decide.Decide(s); len(p.Replacing) != 1 {
		t.Errorf("%v are replaced by another configuration", p.Replacing)
	}
}
