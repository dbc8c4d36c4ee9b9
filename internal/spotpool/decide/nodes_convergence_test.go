package decide_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
)

// TestPoolsWithNodesConvergeAndRest is TestRunsConvergeAndRest with instances that are nodes.
// None is terminated with pods on it unless its drain timed out. Nothing is done while the
// cluster is unreachable, and no node stays cordoned without a termination.
func TestPoolsWithNodesConvergeAndRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { playWithNodes(t, func(decide.Situation, decide.Plan) {}) })
}

// playWithNodes draws what happens to a pool whose instances are nodes until it rests, and lets each plan be
// seen.
func playWithNodes(t *rapid.T, see func(decide.Situation, decide.Plan)) {
	w := newWorld(declarations().Draw(t, "declaration"))
	w.cluster = newCluster()
	w.cluster.reuse(rapid.Bool().Draw(t, "host names are used again"))
	nodes := &spotpool.Nodes{MaxReplacementsPerRun: rapid.IntRange(1, 2).Draw(t, "max_replacements_per_run")}
	nodes.Drain.OnTimeout = rapid.SampledFrom([]node.OnTimeout{node.Terminate, node.Keep}).Draw(t, "on_timeout")
	onExceeded := rapid.SampledFrom([]spotpool.OnBudgetExceeded{spotpool.ExceededKeep, spotpool.ExceededDrain}).Draw(t, "on_budget_exceeded")
	declare := func() {
		w.d.Nodes, w.d.ClusterUID = nodes, clusterUID
		w.d.Budget, w.d.OnBudgetExceeded, w.d.BudgetGracePeriod = "team-a", onExceeded, spotpool.Duration(10*time.Minute)
		w.d = w.d.WithDefaults()
	}
	declare()
	w.strangers()
	var log []string
	check := func(s decide.Situation, p decide.Plan) {
		see(s, p)
		log = append(log, fmt.Sprintf("%s %q total %d, capacity %d, short %q, %q", s.Now.Format(time.TimeOnly), p.Decisions, p.Total, p.Capacity, p.Short,
			p.Messages))
		promise := cmp.Or(brokenPromise(s, p), brokenNotice(s, p), w.budget.broken(s, p, w.lost), w.cluster.endlessNotice(s, p, w.lost),
			w.brokenSurplus(s, p))
		for _, d := range p.Decisions {
			if d.Kind != spotpool.KindLaunch && w.cluster.away {
				promise = fmt.Sprintf("%s while the cluster is away", d.Summary())
			}
		}
		if promise != "" {
			t.Fatalf("%s\n%s", promise, strings.Join(log, "\n"))
		}
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\n%+v\n%s", fmt.Sprintf(format, args...), w.d, strings.Join(log[max(0, len(log)-60):], "\n"))
	}
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		if rapid.Bool().Draw(t, "of the cluster") {
			log = append(log, w.happenToNodes(t))
		} else {
			log = append(log, w.happen(t))
		}
		declare()
		before := w.held() + w.journal.Missing()
		f := fault{step: rapid.IntRange(0, 4).Draw(t, "step"), kind: faultKind(rapid.IntRange(0, 5).Draw(t, "fault"))}
		if _, err := w.run(f, check); err != nil {
			fail("%v", err)
		}
		if after := w.held(); after > w.d.Maximum && after > before {
			fail("%d machines, above maximum %d", after, w.d.Maximum)
		}
	}
	w.calm()
	w.cluster.calm()
	w.cluster.calmOddities(w)
	w.journal.EarlyFailures = node.Streak{}
	drained := onExceeded == spotpool.ExceededDrain && rapid.Bool().Draw(t, "exceeded for good")
	if drained {
		w.gate = usedUp
	}
	log = append(log, "calm")
	idle := 0
	for round := 0; idle < 45; round++ { // longer than a node that was kept rests
		if round > 600 {
			fail("the pool never rests")
		}
		decided, err := w.run(fault{}, check)
		if err != nil {
			fail("%v", err)
		}
		idle++
		if decided > 0 || w.moving() {
			idle = 0
		}
		w.pass(2 * time.Minute)
	}
	wrong := w.notHealed()
	if drained {
		wrong = w.notDrained()
	}
	if wrong != "" {
		fail("%s", wrong)
	}
	for id, n := range w.cluster.nodes {
		if n.CordonedBy != "" && w.runs(id) {
			fail("%s is cordoned, and nothing ends it", id)
		}
	}
}

// happenToNodes draws something that happens to the cluster, and says what.
func (w *world) happenToNodes(t *rapid.T) string {
	w.pass(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 5 * time.Minute, 12 * time.Minute}).Draw(t, "time"))
	c := w.cluster
	var own []string
	for _, m := range w.machines {
		if m.launched {
			own = append(own, m.ID)
		}
	}
	what := rapid.IntRange(0, 19).Draw(t, "event")
	if what > 13 {
		return w.oddEvent(t, own)
	}
	if len(own) == 0 {
		what = 0
	}
	switch what {
	case 0:
		c.away = !c.away
		return fmt.Sprintf("the cluster is away: %t", c.away)
	case 6:
		c.uncounted = !c.uncounted
		return fmt.Sprintf("pods can't be counted: %t", c.uncounted)
	case 7:
		if w.hold = nil; rapid.Bool().Draw(t, "on hold") {
			hold := held(w.now, time.Hour)
			w.hold = &hold
		}
		return fmt.Sprintf("on hold: %t", w.hold != nil)
	case 10, 11, 12:
		w.gate = rapid.SampledFrom([]spotpool.Gate{
			{}, usedUp, usedUp, {Closed: true, Reason: reason.OtherVersion("estimated")}, {Closed: true, Unknown: true, Reason: reason.OtherVersion("stale")},
		}).Draw(t, "gate")
		return fmt.Sprintf("the gate is %+v", w.gate)
	}
	id := rapid.SampledFrom(own).Draw(t, "machine")
	switch what {
	case 1:
		c.never[id] = !c.never[id] && c.nodes[id] == nil
		return fmt.Sprintf("%s never joins: %t", id, c.never[id])
	case 2:
		if c.sick[id].IsZero() {
			c.sick[id] = w.now
		} else {
			c.sick[id] = time.Time{}
		}
		return "the health of " + id
	case 3:
		c.stubborn[id] = !c.stubborn[id]
		return fmt.Sprintf("pods of %s stay: %t", id, c.stubborn[id])
	case 4:
		if n := c.nodes[id]; n != nil && !n.Cordoned {
			n.Cordoned = true
			return "somebody cordoned " + id
		}
	case 5:
		delete(c.nodes, id)
		c.never[id], c.pods[id] = true, 0
		return "somebody deleted the node of " + id
	case 8, 9:
		return w.giveNotice(t, id)
	case 13:
		if n := c.nodes[id]; n != nil && n.Cordoned {
			n.Cordoned, c.pods[id] = false, 2
			return "somebody uncordoned " + id + ", and pods came"
		}
	}
	return "nothing"
}

// calm ends all that keeps the cluster from working.
func (c *cluster) calm() {
	c.away, c.uncounted = false, false
	clear(c.never)
	clear(c.sick)
	clear(c.stubborn)
}

// lostWork says which of the machines that are ended have pods whose drain has not
// timed out.
func (w *world) lostWork(ids []string) error {
	if w.cluster == nil {
		return nil
	}
	w.cluster.see(w)
	for _, m := range w.machines {
		n := w.cluster.nodes[m.ID]
		if !slices.Contains(ids, m.ID) || n == nil || m.State != spotpool.StateRunning {
			continue
		}
		if !w.cluster.itself(m.ID) {
			return fmt.Errorf("%s ends, and its node is contested: %+v", m.ID, n)
		}
		if w.cluster.pods[m.ID] == 0 {
			continue
		}
		at := slices.IndexFunc(w.journal.Known, func(k fleet.Known) bool { return k.InstanceID == m.ID })
		if at < 0 || !n.Cordoned || w.journal.Known[at].Drain.Phase != node.TimedOut || !w.journal.Known[at].Drain.Ends() ||
			w.journal.Known[at].Drain.UID != n.UID {
			return fmt.Errorf("%s ends with %d pods on it", m.ID, w.cluster.pods[m.ID])
		}
	}
	return nil
}
