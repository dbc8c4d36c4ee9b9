// Package conservation_test checks random worlds of spot pools, budgets and stock pools, in one
// store and one cluster. Whatever happens, no running work is lost, no instance is out of
// sight, and no usage and no protection is lost.
//
// A world (world_test.go) is a cloud (cloud_test.go), a cluster (cluster_test.go,
// workloads_test.go) and a store in memory, in simulated time. What may happen to it is the
// list of events (events_test.go); what must hold is the list of promises (promises_test.go). A
// schedule is data that is drawn before it is played, so that a failing one shrinks.
package conservation_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// step is one event and what follows: time passes before each of some runs, the first of
// which may meet a fault.
type step struct {
	Event      string
	Which, How int
	Every      time.Duration
	Runs       int
	Fault      faults.Fault
}

type schedule struct {
	Theme string
	Setup setup
	Steps []step
}

func TestConservation(t *testing.T) {
	t.Parallel()
	player := newPlayer(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := schedules().Draw(rt, "schedule")
		if w := player.play(s); len(w.violations) > 0 {
			rt.Logf("%s", strings.Join(w.log, "\n"))
			rt.Fatal(w.violations[0])
		}
	})
}

// player plays schedules in simulated time. They share one bubble, since encoders that one
// of them makes are kept for the next.
type player struct {
	schedules chan schedule
	worlds    chan *world
}

func newPlayer(t *testing.T) player {
	t.Helper()
	p := player{make(chan schedule), make(chan *world)}
	var played sync.WaitGroup
	played.Go(func() {
		synctest.Test(t, func(*testing.T) {
			for s := range p.schedules {
				p.worlds <- play(s)
			}
		})
	})
	t.Cleanup(func() { close(p.schedules); played.Wait() })
	return p
}

func (p player) play(s schedule) *world {
	p.schedules <- s
	return <-p.worlds
}

// play plays a schedule, up to the first broken promise.
func play(s schedule) *world {
	w := newWorld(s.Setup)
	for _, of := range s.Steps {
		if len(w.violations) > 0 {
			break
		}
		w.cluster.away = false
		happens := themes[s.Theme][slices.IndexFunc(themes[s.Theme], func(e event) bool { return e.name == of.Event })]
		happens.do(w, of.Which, of.How)
		for n := 0; n < of.Runs && len(w.violations) == 0; n++ {
			w.pass(of.Every)
			f := of.Fault
			if n > 0 && f.On == "" {
				f = faults.Fault{}
			}
			w.run(f)
		}
	}
	return w
}

func schedules() *rapid.Generator[schedule] {
	return rapid.Custom(func(t *rapid.T) schedule {
		s := schedule{Theme: oneOf(t, "theme", "drains", "health", "store", "stock", "terraform", "tenants")}
		s.Setup = setups(t, s.Theme)
		previous := ""
		for range 1 + upTo(t, "steps", 8) {
			next := steps(t, s.Theme, previous)
			previous = next.Event
			s.Steps = append(s.Steps, next)
		}
		return s
	})
}

// upTo draws a number below n. Unlike rapid's own ranges it favors no small ones: most of
// what may happen takes several events in a row.
func upTo(t *rapid.T, what string, n int) int {
	return rapid.Custom(func(t *rapid.T) (v int) {
		for range 8 {
			v *= 2
			if rapid.Bool().Draw(t, "bit") {
				v++
			}
		}
		return v % n
	}).Draw(t, what)
}

// oneOf draws one of a list, whose first is the simplest.
func oneOf[T any](t *rapid.T, what string, list ...T) T { return list[upTo(t, what, len(list))] }

func setups(t *rapid.T, theme string) setup {
	nodes := theme == "drains" || theme == "health"
	s := setup{Reuses: rapid.Bool().Draw(t, "reuses addresses"), Age: oneOf(t, "age", 3*time.Minute, 40*time.Minute), Tenants: upTo(t, "tenant's pods", 4)}
	spot := func(t *rapid.T) spotSetup {
		of := spotSetup{
			Minimum: upTo(t, "minimum", 4), Nodes: nodes || upTo(t, "nodes", 4) == 3,
			Guarded: upTo(t, "guarded", 3) > 0, Rolling: upTo(t, "rolling", 3) > 0, Unavailable: upTo(t, "unavailable", 2),
		}
		if upTo(t, "another provider id", 5) == 4 {
			of.ProviderID = oneOf(t, "provider id", "unparsable", "slashes", "none", "foreign")
		}
		if theme == "health" {
			of.Minimum = 2 + of.Minimum%2
		}
		of.Maximum = max(1, of.Minimum+upTo(t, "above", 3))
		if theme == "store" || theme == "terraform" {
			of.Cap = oneOf(t, "max_hourly_cost", 0, 5*price/2, 4*price)
		}
		if of.Rolling && of.Unavailable == 0 {
			of.Maximum = max(of.Maximum, of.Minimum+1)
		}
		return of
	}
	pools := map[string][2]int{"drains": {1, 1}, "health": {1, 2}, "stock": {0, 0}, "store": {1, 1}, "terraform": {1, 1}, "tenants": {0, 0}}[theme]
	s.Spot = rapid.SliceOfN(rapid.Custom(spot), pools[0], pools[1]).Draw(t, "spot pools")
	if nodes {
		s.Tenants = 0
		return s
	}
	s.Late = theme == "store" && rapid.Bool().Draw(t, "late tags")
	budgets := map[string]int{"stock": 2, "store": 1, "terraform": 1, "tenants": 2}[theme]
	for n := range budgets {
		of := budgetSetup{Team: []string{"a", "b"}[n], Weightless: upTo(t, "weightless", 4) == 3}
		if n == 0 {
			of.Action = oneOf(t, "action", budget.Pause, budget.Pause, budget.Pause, budget.Freeze, budget.AlertOnly, budget.Evict)
			of.Hours = oneOf(t, "hours", "0.5", "3", "1000", "0.5")
		} else { // of a team to which a tenant may move what is another's
			of.Action, of.Hours = oneOf(t, "action", budget.Pause, budget.Pause, budget.Pause, budget.Freeze), oneOf(t, "hours", "0.5", "0.5", "0.5", "1000")
		}
		if theme == "tenants" { // both budgets may count the same pods
			of.Team = oneOf(t, "team", of.Team, "a")
			of.Action = oneOf(t, "enforcement", budget.Pause, budget.Pause, budget.Evict)
			if of.Action == budget.Pause {
				of.Fallback = oneOf(t, "fallback", budget.FallbackWarn, budget.FallbackEvict)
				of.Resumed = oneOf(t, "resumed", budget.ResumeWarn, budget.ResumePause)
			}
		}
		s.Budgets = append(s.Budgets, of)
	}
	if theme == "tenants" {
		for _, of := range []string{"keda", "webhook", "DaemonSet", bare, oneOf(t, "schedule", "CronJob", "CronJob of one Job")} {
			if rapid.Bool().Draw(t, "other workload") {
				s.Others = append(s.Others, of)
			}
		}
	}
	for n := range s.Spot {
		if theme == "store" && rapid.Bool().Draw(t, "gated") {
			s.Spot[n].Budget = "budget-0"
		}
	}
	s.Stock = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) stockSetup {
		return stockSetup{Replicas: 1 + upTo(t, "replicas", 3), Team: "a", Marked: upTo(t, "marked", 3) == 2}
	}), map[string]int{"stock": 1}[theme], 2).Draw(t, "stock pools")
	return s
}

// sequels are what shows most after an event: half of the time, one of them follows.
var sequels = map[string][]string{
	"size": {"API server", "node made again", "node made again", "loss of a journal", "nodes given up"}, "image": {"nothing", "many fail"},
	"destroy": {"API server", "node made again"}, "many fail": {"image", "API server", "nothing"},
	"readiness": {"nothing", "API server"}, "notice": {"destroy", "nodes given up", "quiet"}, "tags": {"size"},
	"loss": {"size", "reclaim"}, "reclaim": {"loss of a journal"},
	"protect": {"stale destroy"}, "limit": {"relabel"},
}

// paces are how often runs must follow for an event to have its effect, and how many.
var paces = map[string]struct {
	every []time.Duration
	runs  int
}{
	"loss":              {[]time.Duration{11 * time.Minute, 40 * time.Minute}, 1},
	"loss of a journal": {[]time.Duration{time.Minute, 3 * time.Minute}, 1},
	"destroy":           {[]time.Duration{time.Minute, 3 * time.Minute}, 3},
	"detach":            {[]time.Duration{5 * time.Minute, 11 * time.Minute}, 3},
	"API server":        {[]time.Duration{11 * time.Minute, 40 * time.Minute}, 1},
	"many fail":         {[]time.Duration{5 * time.Minute, 11 * time.Minute}, 3},
	"image":             {[]time.Duration{3 * time.Minute, time.Minute}, 3},
}

func steps(t *rapid.T, theme, previous string) step {
	var names []string
	for _, e := range themes[theme] {
		names = append(names, e.name)
	}
	if likely := slices.DeleteFunc(slices.Clone(sequels[previous]), func(name string) bool { return !slices.Contains(names, name) }); len(likely) > 0 &&
		rapid.Bool().Draw(t, "sequel") {
		names = likely
	}
	of := step{
		Event: oneOf(t, "event", names...), Which: upTo(t, "which", 12), How: upTo(t, "how", 30),
		Every: oneOf(t, "every", time.Minute, 61*time.Second, 3*time.Minute, 11*time.Minute, 40*time.Minute), Runs: upTo(t, "runs", 5),
		Fault: drawFault(t, theme),
	}
	if p, ok := paces[of.Event]; ok {
		of.Every, of.Runs = oneOf(t, "pace", p.every...), p.runs+of.Runs/3
	}
	return of
}

func drawFault(t *rapid.T, theme string) faults.Fault {
	if theme == "drains" && upTo(t, "killed at the end of a drain", 4) == 3 {
		return faults.Fault{On: "Terminate"}
	}
	if upTo(t, "fault", 4) < 3 {
		return faults.Fault{}
	}
	f := faults.Fault{After: rapid.Bool().Draw(t, "after")}
	if rapid.Bool().Draw(t, "nth") {
		f.At = 1 + upTo(t, "at", 30)
		return f
	}
	f.Times = map[bool]int{true: 1}[rapid.Bool().Draw(t, "lost")]
	f.On = oneOf(t, "on", "Launch", "Terminate", "Terminate", "Terminate", "Write journals", "Write ledger", "CordonNode", "ApplyStock", "Pause", "Evict",
		"DeleteNode", "Write statuses")
	return f
}
