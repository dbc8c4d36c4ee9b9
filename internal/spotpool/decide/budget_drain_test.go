package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// drainedByBudget has the pool drained while its budget is exceeded.
func drainedByBudget(d *spotpool.Declaration) {
	d.Budget, d.OnBudgetExceeded = "team-a", spotpool.ExceededDrain
	withNodes(d)
}

var usedUp = spotpool.Gate{Closed: true, Certain: true, Reason: reason.OtherVersion("budget/team-a is used up")}

// budgeted plays the observations of one pool of 2 at its budget, minute by minute.
type budgeted struct {
	t *testing.T
	s decide.Situation
}

func newBudgeted(t *testing.T, changes ...func(*spotpool.Declaration)) *budgeted {
	s := remembered(seen(pool(append(changes, drainedByBudget)...), instance("ins-1"), instance("ins-2", launched(ago(2*time.Hour)))))
	return &budgeted{t: t, s: inCluster(s, nodeOf("ins-1"), nodeOf("ins-2"))}
}

func (b *budgeted) observe(minute int, gate spotpool.Gate, want ...string) decide.Plan {
	b.t.Helper()
	b.s.Now, b.s.Gate = noon.Add(time.Duration(minute)*time.Minute), gate
	p := decide.Decide(b.s)
	b.s.Journal = p.Journal
	shouldDecide(b.t, p, want...)
	return p
}

const (
	drainFirst  = "drain ins-1, the node node-ins-1"
	drainSecond = "drain ins-2, the node node-ins-2"
)

func TestAnExceededBudgetDrainsAfterItsGrace(t *testing.T) {
	t.Parallel()
	b := newBudgeted(t)
	b.observe(0, spotpool.Gate{})
	p := b.observe(1, usedUp)
	shouldSay(t, "warnings", p.Warnings.Texts(),
		`budget/team-a is used up. As on_budget_exceeded is "drain", the pool's nodes are drained and its instances terminated from 2026-03-01T12:31:00Z on, unless the budget is no longer exceeded by then`)
	if p.Wanted != nil || p.Minimum != 2 {
		t.Errorf("within the grace, counts are %+v", p.Counts)
	}
	b.observe(30, usedUp)
	p = b.observe(31, usedUp, drainFirst, drainSecond)
	if p.Wanted == nil || *p.Wanted != 0 || p.Minimum != 2 || p.Maximum != 4 || p.Shortfall != 0 {
		t.Errorf("drained, counts are %+v", p.Counts)
	}
	const why = "budget/team-a has been exceeded for certain since 2026-03-01T12:01:00Z, for longer than the 30m of budget_grace_period"
	shouldSay(t, "reasons", p.Decisions[0].Reasons.Texts(), why)

	for n, d := range p.Decisions {
		at := b.s.Now
		progress := node.Progress{Cordoned: true, Observed: true}
		b.s.Journal = b.s.Journal.RequestDrain(d, at).RecordDrain(d.InstanceIDs[0], progress, b.s.Declaration.Nodes.Drain, at)
		cordonedByPool(&b.s.Observation.Cluster.Nodes[n])
	}
	back := *b
	p = b.observe(32, usedUp, "terminate ins-1, ins-2")
	shouldSay(t, "reasons", p.Decisions[0].Reasons.Texts(), why)
	b.s.Observation.Instances, b.s.Observation.Absent = nil, []string{"ins-1", "ins-2"}
	b.s.Journal = b.s.Journal.Terminate([]string{"ins-1", "ins-2"}, b.s.Now)
	if p = b.observe(33, usedUp); p.Shortfall != 0 || len(p.Short) > 0 {
		t.Errorf("it is short by %d: %q", p.Shortfall, p.Short)
	}
	b.observe(34, spotpool.Gate{}, "launch 2 spot GN7.2XLARGE32 in ap-singapore-2")

	back.observe(32, spotpool.Gate{}, "uncordon ins-1, the node node-ins-1", "uncordon ins-2, the node node-ins-2")
}

func TestUncertainUsageTerminatesNothing(t *testing.T) {
	t.Parallel()
	for name, gate := range map[string]spotpool.Gate{
		"open":      {},
		"estimated": {Closed: true, Reason: reason.OtherVersion("budget/team-a is used up")},
		"stale":     {Closed: true, Unknown: true, Certain: true, Reason: reason.OtherVersion("its status is old")},
		"opened":    {Certain: true},
	} {
		b := newBudgeted(t)
		b.observe(0, gate)
		b.observe(60, gate)
		b.observe(61, usedUp) // only now
		b.observe(90, usedUp)
		b.observe(91, usedUp, drainFirst, drainSecond)
		if p := b.observe(92, gate); p.Wanted != nil {
			t.Errorf("%s: %d are wanted", name, *p.Wanted)
		}
		b.observe(93, usedUp)
		b.observe(122, usedUp)
		b.observe(123, usedUp, drainFirst, drainSecond)
	}
}

func TestABudgetDrainsOnlyWhereItIsAskedTo(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*spotpool.Declaration){
		"keep":      func(d *spotpool.Declaration) { d.OnBudgetExceeded = spotpool.ExceededKeep },
		"no nodes":  func(d *spotpool.Declaration) { d.Nodes, d.ClusterUID = nil, "" },
		"no budget": func(d *spotpool.Declaration) { d.Budget = "" },
	} {
		b := newBudgeted(t)
		change(&b.s.Declaration)
		b.observe(0, usedUp)
		if p := b.observe(120, usedUp); p.Wanted != nil || !p.Journal.Exceeded.Since.IsZero() {
			t.Errorf("%s: %+v, %+v", name, p.Counts, p.Journal.Exceeded)
		}
	}
	b := newBudgeted(t)
	b.observe(0, usedUp)
	b.s.Declaration.Budget = "team-b" // its grace is its own
	b.observe(31, usedUp)
	b.observe(61, usedUp, drainFirst, drainSecond)
}

func TestABudgetDrainAndTheRest(t *testing.T) {
	t.Parallel()
	due := func(b *budgeted) *budgeted { b.observe(0, usedUp); return b }

	held1 := due(newBudgeted(t))
	hold := held(noon, 2*time.Hour)
	held1.s.Hold = &hold
	if p := held1.observe(60, usedUp); p.Wanted != nil {
		t.Errorf("on hold, %d are wanted", *p.Wanted)
	}

	unseen := due(newBudgeted(t))
	unseen.s.Observation.Cluster = node.Observation{}
	p := unseen.observe(60, usedUp)
	shouldSay(t, "short", p.Short.Texts(), "the cluster was not observed: nothing is drained, replaced or terminated")

	some := due(newBudgeted(t))
	protected(&some.s.Observation.Instances[0])
	p = some.observe(60, usedUp, drainSecond)
	if told := strings.Join(p.Warnings.Texts(), "\n"); !strings.Contains(told, "1 instance of a drained pool cannot be terminated: protected") {
		t.Errorf("warnings are %q", p.Warnings.Texts())
	}

	// A failed node is not replaced, a drifted one not refreshed, and spot not paid more for.
	all := due(newBudgeted(t, refreshing(spotpool.RefreshRolling, 1, 1), falling(2), func(d *spotpool.Declaration) { d.OnDemandBase = 1 }))
	drifted(&all.s.Observation.Instances[0])
	notReady(-10 * time.Minute)(&all.s.Observation.Cluster.Nodes[1])
	p = all.observe(60, usedUp, drainFirst, drainSecond)
	if len(p.Replacing) > 0 || p.Decisions[0].Refresh {
		t.Errorf("it replaces %q, and decides %+v", p.Replacing, p.Decisions[0])
	}
}
