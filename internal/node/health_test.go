package node_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

var limits = node.Timeouts{Join: 15 * time.Minute, Unhealthy: 10 * time.Minute}

func present(ready node.Readiness, since time.Time) node.Match {
	return node.Match{Standing: node.Present, Node: node.Node{Name: "n", UID: "u", Ready: ready, ReadySince: since}}
}

// TestTheHealthOfANode plays one instance from its start to its end.
func TestTheHealthOfANode(t *testing.T) {
	t.Parallel()
	absent, unseen := node.Match{Standing: node.Absent}, node.Match{}
	var m node.Status
	for _, step := range []struct {
		minute int
		off    bool
		match  node.Match
		want   node.Health
	}{
		{0, true, absent, node.Unknown},
		{1, false, absent, node.Joining},
		{6, false, absent, node.Joining},
		{11, false, absent, node.Joining},
		{15, false, absent, node.Joining},
		{16, false, absent, node.Late},
		{17, false, present(node.ReadyFalse, noon), node.Late},
		{18, false, present(node.ReadyTrue, noon), node.Healthy},
		{20, false, present(node.ReadyFalse, noon), node.Unready}, // since long ago, it says
		{25, false, present(node.ReadyUnknown, noon.Add(24*time.Minute)), node.Unready},
		{30, false, present(node.ReadyUnknown, noon.Add(29*time.Minute)), node.Unhealthy},
		{31, false, unseen, node.Unknown},
		{32, false, present(node.ReadyTrue, noon), node.Healthy},
		{33, false, absent, node.Unready}, // it was deleted manually
		{38, false, absent, node.Unready},
		{42, false, absent, node.Unready},
		{43, false, absent, node.Unhealthy},
		{44, true, absent, node.Unknown}, // it restarts
		{45, false, absent, node.Unready},
	} {
		now := noon.Add(time.Duration(step.minute) * time.Minute)
		m = m.After(step.match, !step.off, limits, now)
		if got := m.Health(step.match, limits, now); got != step.want {
			t.Errorf("in minute %d it is %q, not %q: %+v", step.minute, got, step.want, m)
		}
	}
}

// TestOnlyObservedTimeCounts has the API server unreachable, or no observation for a long time: no node fails
// and no drain times out because of that.
func TestOnlyObservedTimeCounts(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	unready, away := present(node.ReadyFalse, noon.Add(-time.Hour)), node.Match{}
	left := node.Progress{Cordoned: true, Observed: true, Left: 1}
	type observation struct {
		minute int
		away   bool
	}
	for name, c := range map[string]struct {
		observations []observation
		fails        bool
	}{
		"every five minutes":                {[]observation{{0, false}, {5, false}, {10, false}}, true},
		"away for half an hour":             {[]observation{{0, false}, {1, false}, {2, true}, {31, true}, {32, false}}, false},
		"away once in a while":              {[]observation{{0, false}, {4, false}, {5, true}, {6, false}, {10, false}, {12, false}}, true},
		"away between all":                  {[]observation{{0, false}, {9, true}, {18, false}, {27, true}, {36, false}}, false},
		"no run for three hours":            {[]observation{{0, false}, {180, false}}, false},
		"no run for three hours, then some": {[]observation{{0, false}, {180, false}, {184, false}}, true},
	} {
		m := node.Status{}.After(present(node.ReadyTrue, noon), true, limits, at(-1))
		d := node.Drain{Phase: node.Asked, AskedAt: noon}
		for _, step := range c.observations {
			match, progress := unready, left
			if step.away {
				match, progress = away, node.Progress{}
			}
			m, d = m.After(match, true, limits, at(step.minute)), d.After(progress, 10*time.Minute, node.Terminate, at(step.minute))
		}
		if got := m.Health(unready, limits, at(c.observations[len(c.observations)-1].minute)).Failed(); got != c.fails {
			t.Errorf("%s: it fails: %t, by %+v", name, got, m)
		}
		if got := d.Phase == node.TimedOut; got != c.fails {
			t.Errorf("%s: the drain is %s, by %+v", name, d.Phase, d.Observed)
		}
	}
}

// TestNobodySawNothingFails: what was not observed for as long as a timeout never
// counts as failed, however long it was so before and after.
func TestNobodySawNothingFails(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var m node.Status
		now := noon
		seenSince := time.Time{}
		for range rapid.IntRange(1, 40).Draw(t, "observations") {
			now = now.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "minutes")) * time.Minute)
			match := rapid.SampledFrom([]node.Match{
				{}, {Standing: node.Contested}, {Standing: node.Absent}, present(node.ReadyTrue, now), present(node.ReadyFalse, noon),
			}).Draw(t, "match")
			m = m.After(match, true, limits, now)
			if match.Standing == node.Unseen || match.Standing == node.Contested {
				seenSince = time.Time{}
				if got := m.Health(match, limits, now); got != node.Unknown {
					t.Fatalf("it is %q though it was not observed", got)
				}
				continue
			}
			if seenSince.IsZero() {
				seenSince = now
			}
			if m.Health(match, limits, now) == node.Late && now.Sub(m.Since) < limits.Join {
				t.Fatalf("it never joined within %v", now.Sub(m.Since))
			}
			if got := m.Health(match, limits, now); got == node.Healthy != (match.Node.Ready == node.ReadyTrue) {
				t.Fatalf("it is %q with %+v", got, match)
			}
		}
	})
}

func TestReplacingIsSuspended(t *testing.T) {
	t.Parallel()
	one := node.Streak{}.Failed("v1:a", "ins-a", time.Time{}).Failed("v1:a", "ins-a", time.Time{})
	if one.Long() {
		t.Error("one instance counts twice")
	}
	two := one.Failed("v1:a", "ins-b", time.Time{})
	for name, c := range map[string]struct {
		streak        node.Streak
		pool, cluster node.Count
		suspended     bool
	}{
		"nothing fails":                   {},
		"one of three":                    {pool: node.Count{Nodes: 3, Failed: 1}},
		"one of one":                      {pool: node.Count{Nodes: 1, Failed: 1}},
		"two of six are a third":          {pool: node.Count{Nodes: 6, Failed: 2}},
		"two of five":                     {pool: node.Count{Nodes: 5, Failed: 2}, suspended: true},
		"a cluster that fails":            {pool: node.Count{Nodes: 9, Failed: 1}, cluster: node.Count{Nodes: 20, Failed: 8}, suspended: true},
		"one that failed early":           {streak: one},
		"two that failed early":           {streak: two, suspended: true},
		"two of different configurations": {streak: one.Failed("v1:b", "ins-b", time.Time{})},
	} {
		if got := node.Suspended(c.streak, c.pool, c.cluster); got.IsZero() == c.suspended {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestADrainLives(t *testing.T) {
	t.Parallel()
	asked := node.Drain{InstanceID: "ins-a", Node: "n", Phase: node.Asked, AskedAt: noon}
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	step := func(d node.Drain, p node.Progress, on node.OnTimeout, minutes int) node.Drain {
		return d.After(p, 10*time.Minute, on, at(minutes))
	}
	left := node.Progress{Cordoned: true, Observed: true, Left: 2}
	cordoned := step(step(asked, left, node.Terminate, 1), left, node.Terminate, 6)
	empty := node.Progress{Cordoned: true, Observed: true}
	stuck := node.Progress{Cordoned: true, Observed: true, Left: 2, Stuck: true}
	forbidden := node.Progress{Cordoned: true, Observed: true, Left: 2, Untried: true}
	allowed := step(step(asked, forbidden, node.Terminate, 1), left, node.Terminate, 6)
	for name, c := range map[string]struct {
		got  node.Drain
		want node.Phase
		ends bool
	}{
		"nothing was seen of one that was asked": {step(asked, node.Progress{Observed: true}, node.Terminate, 60), node.Asked, false},
		"cordoned":                               {cordoned, node.Draining, false},
		"cordoned, and no pod is left":           {step(asked, empty, node.Terminate, 1), node.Done, true},
		"no look is no empty node":               {step(cordoned, node.Progress{Cordoned: true}, node.Terminate, 8), node.Draining, false},
		"a look at one that is cordoned no more": {step(cordoned, node.Progress{Observed: true}, node.Terminate, 8), node.Draining, false},
		"pods are left":                          {step(cordoned, left, node.Terminate, 8), node.Draining, false},
		"the time is up":                         {step(cordoned, left, node.Terminate, 11), node.TimedOut, true},
		"the time is up, and nothing was seen":   {step(cordoned, node.Progress{}, node.Terminate, 11), node.Draining, false},
		"the time is up, and the node is kept":   {step(cordoned, left, node.Keep, 11), node.Kept, false},
		"pods are stuck":                         {step(cordoned, stuck, node.Keep, 8), node.Draining, false},
		"the time is up, and all are stuck":      {step(cordoned, stuck, node.Keep, 11), node.TimedOut, true},
		"evictions were forbidden until now":     {step(allowed, left, node.Terminate, 11), node.Draining, false},
		"evictions were forbidden earlier":       {step(step(allowed, left, node.Terminate, 11), left, node.Terminate, 16), node.TimedOut, true},
		"done in the last moment":                {step(cordoned, empty, node.Keep, 11), node.Done, true},
	} {
		if c.got.Phase != c.want || c.got.Ends() != c.ends {
			t.Errorf("%s: %s, ends %v", name, c.got.Progress(), c.got.Ends())
		}
	}
	kept := step(cordoned, left, node.Keep, 11)
	if !kept.Rests(at(70)) || kept.Rests(at(71)) || kept.Open() {
		t.Error("a node that was kept rests for an hour, and is not cordoned")
	}
}

func TestParseNotice(t *testing.T) {
	t.Parallel()
	now := time.Date(2018, 8, 18, 4, 3, 33, 0, time.UTC)
	at, err := node.ParseNotice("2018-08-18 12:05:33\n", now)
	if err != nil || !at.Equal(now.Add(2*time.Minute)) {
		t.Errorf("%v, %v", at, err)
	}
	for _, bad := range []string{"", "soon", "2018-08-18T12:05:33Z", "2018-08-18 04:05:33", "2018-08-19 12:05:33", "0000-00-00 00:00:00"} {
		if _, err := node.ParseNotice(bad, now); err == nil {
			t.Errorf("%q is taken for a time", bad)
		}
	}
}
