package decide_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// reported are a plan's nodes as JSON.
func reported(t *testing.T, p decide.Plan) string {
	t.Helper()
	data, err := json.Marshal(p.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAPoolsNodesAreCounted(t *testing.T) {
	t.Parallel()
	five := func(d ...func(*spotpool.Declaration)) decide.Situation {
		return seen(pool(append(d, size(5, 6), withNodes)...), instance("ins-1"), instance("ins-2"), instance("ins-3"), instance("ins-4"), instance("ins-5"))
	}
	twin := nodeOf("ins-5", func(n *node.Node) { n.Name, n.UID = "twin", "twin" })
	for name, c := range map[string]struct {
		situation decide.Situation
		want      string
	}{
		"a pool without nodes": {seen(pool(), instance("ins-1")), `null`},
		"the cluster isn't seen": {
			remembered(five()), `{"observed":false}`,
		},
		"each fares in another way": {
			inCluster(remembered(five(), "ins-4"), nodeOf("ins-1"), nodeOf("ins-2", notReady(time.Minute)), nodeOf("ins-3", notReady(11*time.Minute)),
				nodeOf("ins-5"), twin),
			`{"observed":true,"ready":1,"joining":0,"unready":1,"failing":2,"unknown":1,"draining":0}`,
		},
		"one joins, and others are no nodes yet": {
			inCluster(seen(pool(withNodes), instance("ins-1"), instance("ins-2", inState(spotpool.StatePending)),
				instance("ins-3", inState(spotpool.StateTerminating)))),
			`{"observed":true,"ready":0,"joining":1,"unready":0,"failing":0,"unknown":0,"draining":0}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := reported(t, decide.Decide(c.situation)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// draining is a pool above its maximum that drains ins-1 since noon.
func draining(t *testing.T, changes ...func(*spotpool.Declaration)) decide.Situation {
	t.Helper()
	s := inCluster(remembered(seen(pool(append(changes, size(1, 1), withNodes)...), instance("ins-1"), instance("ins-2"))), nodeOf("ins-1", cordonedByPool),
		nodeOf("ins-2"))
	p := decide.Decide(s)
	shouldDecide(t, p, "drain ins-1, the node node-ins-1")
	s.Journal = p.Journal.RequestDrain(p.Decisions[0], noon)
	return s
}

// attempted is the situation after an attempt at the drain of ins-1, which left two
// pods.
func attempted(s decide.Situation, at time.Time) decide.Situation {
	left := node.Progress{Cordoned: true, Observed: true, Left: 2, Blocked: []string{"ml/a is protected from eviction"}}
	s.Journal = s.Journal.RecordDrain("ins-1", left, s.Declaration.Nodes.Drain, at)
	s.Now, s.Observation.At = at, at
	return s
}

// forbidden is the situation after an attempt that could request no eviction.
func forbidden(s decide.Situation) decide.Situation {
	left := node.Progress{
		Cordoned: true, Observed: true, Left: 2, Untried: true, Blocked: []string{"the role needs the verb create on pods/eviction"},
	}
	s.Journal = s.Journal.RecordDrain("ins-1", left, s.Declaration.Nodes.Drain, s.Now)
	return s
}

// standing is what explain says of an instance as a node.
func standing(s decide.Situation, id string) string {
	for _, standing := range decide.Standings(s, decide.Decide(s)) {
		if standing.InstanceID == id {
			return strings.Join(standing.AsNode.Texts(), "; ")
		}
	}
	return "no such instance"
}

func TestStandingsSayHowInstancesFareAsNodes(t *testing.T) {
	t.Parallel()
	two := seen(pool(withNodes), instance("ins-1"), instance("ins-2"))
	three := seen(pool(size(3, 4), withNodes), instance("ins-1"), instance("ins-2"), instance("ins-3"))
	shielded := seen(three.Declaration, instance("ins-1"), instance("ins-2"), instance("ins-3", protected))
	counted := inCluster(remembered(two), nodeOf("ins-1"), nodeOf("ins-2", func(n *node.Node) { n.GPUPods, n.TakenAt = 1, noon.Add(time.Minute) }))
	counted.Observation.Cluster.Pods = true
	replaced := inCluster(remembered(three, "ins-3"), nodeOf("ins-1"), nodeOf("ins-2"))
	replaced.Journal = decide.Decide(replaced).Journal
	closed := inCluster(remembered(three, "ins-3"), nodeOf("ins-1"), nodeOf("ins-2"))
	closed.Gate = spotpool.Gate{Closed: true, Reason: reason.OtherVersion("the budget is exceeded")}
	keeps := func(d *spotpool.Declaration) {
		d.Nodes = &spotpool.Nodes{Drain: spotpool.Drain{OnTimeout: node.Keep}}
		d.ClusterUID, *d = clusterUID, d.WithDefaults()
	}
	kept := draining(t)
	keeps(&kept.Declaration)
	for name, c := range map[string]struct {
		situation decide.Situation
		id, want  string
	}{
		"a pool without nodes":   {seen(pool(), instance("ins-1"), instance("ins-2")), "ins-1", ""},
		"the cluster isn't seen": {remembered(two), "ins-1", ""},
		"Ready":                  {inCluster(remembered(two), nodeOf("ins-1"), nodeOf("ins-2")), "ins-1", "its node node-ins-1 is Ready"},
		"Ready, pods counted":    {counted, "ins-1", "its node node-ins-1 is Ready, with 0 GPU pods"},
		"notice":                 {counted, "ins-2", "its node node-ins-2 is Ready, with 1 GPU pod"},
		"joining": {
			inCluster(two, nodeOf("ins-1")), "ins-2", "it is not a Ready node yet, and must join by 2026-03-01T12:15:00Z (join_timeout 15m)",
		},
		"not Ready for a while": {
			inCluster(remembered(two), nodeOf("ins-1"), nodeOf("ins-2", notReady(9*time.Minute))), "ins-2",
			"its node node-ins-2 has not been Ready since 2026-03-01T11:51:00Z, and must recover by 2026-03-01T12:01:00Z (unhealthy_timeout 10m)",
		},
		"its Node is gone": {
			inCluster(remembered(two), nodeOf("ins-1")), "ins-2",
			"its node node-ins-2 has not been Ready since 2026-03-01T12:00:00Z, and must recover by 2026-03-01T12:10:00Z (unhealthy_timeout 10m)",
		},
		"never joined": {
			inCluster(remembered(three, "ins-3"), nodeOf("ins-1"), nodeOf("ins-2")), "ins-3",
			"it never became a Ready node within the 15m of join_timeout; a run would replace it now",
		},
		"replaced": {
			replaced, "ins-3",
			"it never became a Ready node within the 15m of join_timeout; it has been marked for replacement since 2026-03-01T12:00:00Z, " +
				"and is terminated once its replacement works",
		},
		"nothing may be launched": {closed, "ins-3", "it never became a Ready node within the 15m of join_timeout; it is not replaced while launches " +
			"are blocked"},
		"protected": {
			inCluster(remembered(shielded, "ins-3"), nodeOf("ins-1"), nodeOf("ins-2")), "ins-3",
			"it never became a Ready node within the 15m of join_timeout; it is not replaced while it is protected",
		},
		"not the first": {
			inCluster(remembered(three, "ins-2", "ins-3"), nodeOf("ins-1")), "ins-3",
			"it never became a Ready node within the 15m of join_timeout; it is not replaced yet: a run begins at most 1 replacement",
		},
		"suspended": {
			inCluster(remembered(two), nodeOf("ins-1", notReady(time.Hour)), nodeOf("ins-2", notReady(time.Hour))), "ins-1",
			"its node node-ins-1 has not been Ready for longer than the 10m of unhealthy_timeout; it is not replaced: replacement is suspended: 2 of the " +
				"pool's 2 nodes fail at once",
		},
		"whose node can't be told": {
			inCluster(remembered(two), nodeOf("ins-1"), nodeOf("ins-2"), nodeOf("ins-2", func(n *node.Node) { n.Name, n.UID = "twin", "twin" })), "ins-2",
			"its node is ambiguous, so it is not drained, replaced or terminated: the nodes node-ins-2 and twin both say that they are ins-2. Remove " +
				"the one that is not",
		},
		"a drain asked for": {draining(t), "ins-1", "its node node-ins-1 is Ready; its node node-ins-1 will be drained, as requested at 2026-03-01T12:00:00Z " +
			"(total 2 is above maximum 1)"},
		"a drain that waits": {
			attempted(draining(t), noon), "ins-1",
			"its node node-ins-1 is Ready; at 2026-03-01T12:10:00Z it is terminated with its pods; 2 pods left (ml/a is protected from eviction); " +
				"its node node-ins-1 has been draining since 2026-03-01T12:00:00Z (total 2 is above maximum 1)",
		},
		"a drain whose evictions are forbidden": {
			forbidden(draining(t)), "ins-1",
			"its node node-ins-1 is Ready; its timeout starts once a run can request all evictions and list the remaining pods; 2 pods left (the role " +
				"needs the verb create on pods/eviction); its node node-ins-1 has been draining since 2026-03-01T12:00:00Z (total 2 is above maximum 1)",
		},
		"a drain that timed out": {
			attempted(attempted(attempted(draining(t), noon), noon.Add(5*time.Minute)), noon.Add(10*time.Minute)), "ins-1",
			"its node node-ins-1 is Ready; the next run terminates it: the drain of its node node-ins-1 timed out at 2026-03-01T12:10:00Z with 2 pods left " +
				"(ml/a is protected from eviction) (total 2 is above maximum 1)",
		},
		"a node that is kept": {
			attempted(attempted(attempted(kept, noon), noon.Add(5*time.Minute)), noon.Add(10*time.Minute)), "ins-1",
			"its node node-ins-1 is Ready; drain.on_timeout keeps it: it is not drained again before 2026-03-01T13:10:00Z; the drain of its node " +
				"node-ins-1 timed out at 2026-03-01T12:10:00Z with 2 pods left (ml/a is protected from eviction)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, standing(c.situation, c.id)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestADrainIsReportedUntilItIsOver(t *testing.T) {
	t.Parallel()
	s := attempted(draining(t), noon)
	p := decide.Decide(s)
	want := `{"observed":true,"ready":2,"joining":0,"unready":0,"failing":0,"unknown":0,"draining":1,"drains":[` +
		`{"instance_id":"ins-1","node":"node-ins-1","node_uid":"u-ins-1","why":{"code":"above_maximum","args":{"maximum":1,"total":2},"text":"total 2 is above maximum 1"},"phase":"draining",` +
		`"asked_at":"2026-03-01T12:00:00Z","draining_since":"2026-03-01T12:00:00Z","observed":{"at":"2026-03-01T12:00:00Z"},"pods_left":2,"blocked":["ml/a is protected from eviction"],` +
		`"until":"2026-03-01T12:10:00Z","on_timeout":"terminate"}]}`
	if got := reported(t, p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.Journal = p.Journal.RecordUncordon("ins-1", noon)
	if drains := decide.Decide(s).Nodes.Drains; len(drains) > 0 {
		t.Errorf("one that was undone is reported: %v", drains)
	}
}
