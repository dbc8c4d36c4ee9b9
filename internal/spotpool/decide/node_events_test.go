package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// aboutNodes are the kinds of events about nodes.
func aboutNodes() []history.Kind {
	return []history.Kind{history.Join, history.Replace, history.Notice, history.Drain, history.Drained, history.Uncordon, history.DeleteNode}
}

// told are the events about nodes that a journal is to tell, each in a line.
func told(j journal.Journal) []string {
	var lines []string
	for _, e := range j.Unreported {
		if slices.Contains(aboutNodes(), e.Kind) {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", e.Kind, strings.Join(e.InstanceIDs, " "), e.Node, e.Outcome,
				strings.Join(e.Reasons.Texts(), "; "))))
		}
	}
	return lines
}

func shouldTell(t *testing.T, j journal.Journal, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, told(j)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestNodeEvents(t *testing.T) {
	t.Parallel()
	now := noon.Add(-2 * time.Hour)
	s := seen(pool(size(1, 2), withNodes), instance("ins-1"), instance("ins-2"))
	step := func(after time.Duration, nodes ...node.Node) decide.Plan {
		now = now.Add(after)
		s.Now, s.Observation.At, s.Journal.Unreported = now, now, nil
		p := decide.Decide(inCluster(s, nodes...))
		s.Journal = p.Journal
		return p
	}
	one, two := nodeOf("ins-1"), nodeOf("ins-2")
	shouldTell(t, step(0, one).Journal, "join ins-1 node-ins-1")
	shouldTell(t, step(time.Minute, one).Journal)
	shouldTell(t, step(5*time.Minute, one).Journal)
	shouldTell(t, step(5*time.Minute, one).Journal)
	late := step(5*time.Minute, one)
	shouldTell(t, late.Journal, "replace ins-2   it never became a Ready node within the 15m of join_timeout")
	shouldTell(t, step(time.Minute, one).Journal)
	shouldTell(t, step(time.Minute, one, two).Journal, "join ins-2 node-ins-2")
	two.TakenAt = now.Add(2 * time.Minute)
	noticed := step(time.Minute, one, two)
	shouldTell(t, noticed.Journal, "notice ins-2 node-ins-2")
	if e := noticed.Journal.Unreported[len(noticed.Journal.Unreported)-1]; !e.Until.Equal(two.TakenAt) {
		t.Errorf("it is taken at %s, and not at %s", two.TakenAt, e.Until)
	}
	shouldTell(t, step(10*time.Second, one, two).Journal)
}

func TestDrainEvents(t *testing.T) {
	t.Parallel()
	s := inCluster(remembered(seen(pool(size(1, 1), withNodes), instance("ins-1"), instance("ins-2"))), nodeOf("ins-1"), nodeOf("ins-2"))
	s.Journal.Unreported = nil
	p := decide.Decide(s)
	shouldTell(t, p.Journal)
	how, soon := s.Declaration.Nodes.Drain, noon.Add(time.Minute)
	asked := p.Journal.RequestDrain(p.Decisions[0], noon)
	const begun = "drain ins-1 node-ins-1 requested total 2 is above maximum 1"
	shouldTell(t, asked, begun)
	shouldTell(t, asked.RequestDrain(p.Decisions[0], soon), begun)
	left := node.Progress{Cordoned: true, Observed: true, Left: 2, Blocked: []string{"ml/a is protected from eviction"}}
	going := asked.RecordDrain("ins-1", left, how, soon)
	shouldTell(t, going, begun)
	shouldTell(t, going.RecordDrain("ins-1", node.Progress{Cordoned: true, Observed: true}, how, soon), begun, "drained ins-1 node-ins-1 done")
	over := noon.Add(time.Hour)
	going = going.RecordDrain("ins-1", left, how, over.Add(-5*time.Minute))
	const late = "drained ins-1 node-ins-1 timed_out 2 pods were left; ml/a is protected from eviction"
	timedOut := going.RecordDrain("ins-1", left, how, over)
	shouldTell(t, timedOut, begun, late)
	shouldTell(t, timedOut.RecordDrain("ins-1", left, how, over), begun, late)
	shouldTell(t, timedOut.RecordUncordon("ins-1", over), begun, late, "uncordon ins-1 node-ins-1")
	how.OnTimeout = node.Keep
	kept := going.RecordDrain("ins-1", left, how, over)
	const stays = "drained ins-1 node-ins-1 kept 2 pods were left; ml/a is protected from eviction"
	shouldTell(t, kept, begun, stays)
	shouldTell(t, kept.RecordUncordon("ins-1", over), begun, stays)
	shouldTell(t, going.RecordUncordon("ins-1", soon).RecordUncordon("ins-1", soon), begun, "uncordon ins-1 node-ins-1")
}

func TestNodeDeletionIsReportedOnceObserved(t *testing.T) {
	t.Parallel()
	ours := func(n *node.Node) { n.Pool = uid }
	s := remembered(seen(pool(size(1, 2), withNodes), instance("ins-1"), instance("ins-2")))
	s.Observation.Instances, s.Observation.Absent = s.Observation.Instances[:1], []string{"ins-2"}
	s = inCluster(s, nodeOf("ins-1", ours), nodeOf("ins-2", ours, notReady(time.Minute)))
	s.Journal = decide.Decide(s).Journal
	s.Now = noon.Add(2 * time.Minute)
	p := decide.Decide(s)
	shouldDecide(t, p, "delete the node node-ins-2 of ins-2")
	s.Journal.Fleet = p.Journal.DeleteNode(p.Decisions[0], s.Now)
	s.Journal.Unreported = nil
	shouldTell(t, decide.Decide(s).Journal)
	away := s
	away.Observation.Cluster = node.Observation{}
	shouldTell(t, decide.Decide(away).Journal)
	s = inCluster(s, nodeOf("ins-1", ours))
	gone := decide.Decide(s).Journal
	shouldTell(t, gone, "delete_node ins-2 node-ins-2  its instance is gone")
	s.Journal = gone
	s.Journal.Unreported = nil
	shouldTell(t, decide.Decide(s).Journal)
}

// TestEachEventOfNodesIsToldOnce is TestEachEventIsToldOnce with machines that are
// nodes.
func TestEachEventOfNodesIsToldOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(declarations().Draw(t, "declaration"))
		w.cluster = newCluster()
		declare := func() {
			w.d.Nodes, w.d.ClusterUID = &spotpool.Nodes{}, clusterUID
			w.d = w.d.WithDefaults()
		}
		for range rapid.IntRange(0, 25).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "of the cluster") {
				w.happenToNodes(t)
			} else {
				w.happen(t)
			}
			declare()
			f := fault{step: rapid.IntRange(0, 4).Draw(t, "step"), kind: faultKind(rapid.IntRange(0, 5).Draw(t, "fault"))}
			if _, err := w.run(f, func(decide.Situation, decide.Plan) {}); err != nil {
				t.Fatal(err)
			}
		}
		told := map[string]bool{}
		for _, e := range w.journal.Unreported {
			if slices.Contains(aboutNodes(), e.Kind) && told[e.ID] {
				t.Fatalf("told twice: %+v", e)
			}
			told[e.ID] = true
		}
	})
}
