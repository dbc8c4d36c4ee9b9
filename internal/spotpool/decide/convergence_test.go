package decide_test

import (
	stdcmp "cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
)

// TestRunsConvergeAndRest runs a pool through everything that can happen to it, and then stops.
// The pool returns to its declaration, and nothing more is decided.
func TestRunsConvergeAndRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(declarations().Draw(t, "declaration"))
		w.strangers()
		var log []string
		check := func(s decide.Situation, p decide.Plan) {
			log = append(log, fmt.Sprintf("%s %q total %d, capacity %d, short %q", s.Now.Format(time.TimeOnly), p.Decisions, p.Total, p.Capacity, p.Short))
			if promise := stdcmp.Or(brokenPromise(s, p), w.brokenSurplus(s, p)); promise != "" {
				t.Fatalf("%s\n%s", promise, strings.Join(log, "\n"))
			}
		}
		for range rapid.IntRange(0, 25).Draw(t, "steps") {
			log = append(log, w.happen(t))
			before := w.held() + w.journal.Missing() // what is open may have to be asked for again
			f := fault{step: rapid.IntRange(0, 3).Draw(t, "step"), kind: faultKind(rapid.IntRange(0, 5).Draw(t, "fault"))}
			if _, err := w.run(f, check); err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(log, "\n"))
			}
			if after := w.held(); after > w.d.Maximum && after > before {
				t.Fatalf("%d machines, above maximum %d\n%s", after, w.d.Maximum, strings.Join(log, "\n"))
			}
		}
		w.calm()
		log = append(log, "calm")
		idle := 0 // rounds, and together longer than tags are waited for
		for round := 0; idle < 8; round++ {
			if round > 300 {
				t.Fatalf("the pool never rests\n%s", strings.Join(log[max(0, len(log)-40):], "\n"))
			}
			decided, err := w.run(fault{}, check)
			if err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(log, "\n"))
			}
			idle++
			if decided > 0 || w.moving() {
				idle = 0
			}
			w.pass(2 * time.Minute)
		}
		if wrong := w.notHealed(); wrong != "" {
			t.Fatalf("%s\n%+v\n%s", wrong, w.d, strings.Join(log, "\n"))
		}
		p := decide.Decide(w.situation(decide.SoFar{}))
		if diff := cmp.Diff(w.journal, p.Journal, cmpopts.EquateEmpty()); diff != "" || len(p.Messages) > 0 {
			t.Fatalf("the journal does not rest: %q\n%s", p.Messages, diff)
		}
	})
}

// strangers are machines that look like the pool's and are not.
func (w *world) strangers() {
	for n, change := range []func(*spotpool.Instance){
		func(i *spotpool.Instance) { i.PoolUID = "ffff" },
		func(i *spotpool.Instance) { i.AccountID = "200" },
		func(i *spotpool.Instance) { i.Region = "ap-tokyo" },
		func(i *spotpool.Instance) { i.PoolUID = "" },
	} {
		i := instance(fmt.Sprintf("ins-stranger%d", n), change)
		w.machines = append(w.machines, &machine{Instance: i})
	}
}

// happen draws something that happens to the pool, and says what.
func (w *world) happen(t *rapid.T) string {
	w.pass(rapid.SampledFrom([]time.Duration{0, time.Second, 30 * time.Second, 5 * time.Minute, 25 * time.Minute}).Draw(t, "time"))
	var markets []*market
	for _, o := range w.offers() {
		markets = append(markets, w.markets[o.Market])
	}
	var own []*machine
	for _, m := range w.machines {
		if m.launched {
			own = append(own, m)
		}
	}
	some := func() *machine { return rapid.SampledFrom(own).Draw(t, "machine") }
	what := rapid.IntRange(0, 19).Draw(t, "event")
	if len(own) == 0 && what < 5 {
		what = 15
	}
	switch what {
	case 0:
		m := some()
		w.reclaim(m, rapid.IntRange(0, 2).Draw(t, "shape"))
		return "reclaimed " + m.ID
	case 1:
		m := some()
		if m.State == spotpool.StateRunning {
			m.State = rapid.SampledFrom([]spotpool.State{spotpool.StateStopped, spotpool.StateRescueMode, spotpool.StateRebooting, "FREEZING"}).Draw(t, "state")
		}
		return fmt.Sprintf("%s is %s", m.ID, m.State)
	case 2:
		m := some()
		m.Protected = !m.Protected
		return "protection of " + m.ID
	case 3:
		m := some()
		seen := slices.ContainsFunc(w.journal.Known, func(k fleet.Known) bool { return k.InstanceID == m.ID && k.Tagged })
		if long := w.now.Sub(m.made) > 15*time.Minute; seen && long {
			m.PoolUID, m.tags.PoolUID, m.launched = "", "", false
		}
		return "let go of " + m.ID
	case 4:
		some().Restricted = true
		return "restricted"
	case 5:
		w.failing = rapid.IntRange(0, 3).Draw(t, "failing")
		return "launches will fail"
	case 6, 7:
		rapid.SampledFrom(markets).Draw(t, "market").stock = rapid.IntRange(0, 5).Draw(t, "stock")
		return "stock"
	case 8:
		rapid.SampledFrom(markets).Draw(t, "market").price = rapid.SampledFrom([]spotpool.Price{yuan("1"), yuan("3"), yuan("30")}).Draw(t, "price")
		return "price"
	case 9:
		d := declarations().Draw(t, "declaration")
		w.d = d
		return fmt.Sprintf("declared %d to %d", d.Minimum, d.Maximum)
	case 10:
		w.d.ImageID = rapid.SampledFrom([]string{"img-11111111", "img-22222222"}).Draw(t, "image")
		return "image"
	case 11:
		w.gate = spotpool.Gate{Closed: !w.gate.Closed, Reason: reason.OtherVersion("the budget is used up")}
		return "gate"
	case 12:
		w.blind = !w.blind
		return "blind"
	case 13:
		w.tagsAfter = rapid.SampledFrom([]time.Duration{0, time.Minute, 8 * time.Minute}).Draw(t, "tags after")
		w.listedAfter = rapid.SampledFrom([]time.Duration{0, 20 * time.Second, time.Minute}).Draw(t, "listed after")
		w.callTakes = rapid.SampledFrom([]time.Duration{0, 0, 70 * time.Second, 2 * time.Minute}).Draw(t, "a call takes")
		w.runsAfter = rapid.SampledFrom([]time.Duration{0, time.Minute, 20 * time.Minute}).Draw(t, "runs after")
		return "slow"
	case 14:
		w.stockFirst, w.tagsAfter = !w.stockFirst, 8*time.Minute
		for _, m := range markets {
			m.stock = rapid.IntRange(0, 2).Draw(t, "stock")
		}
		return fmt.Sprintf("stock before tokens: %t", w.stockFirst)
	case 16:
		w.loseJournal()
		return "the journal is lost"
	case 17:
		w.quota[zone2] = vCPUs * rapid.IntRange(0, 4).Draw(t, "instances")
		return fmt.Sprintf("quota of %d vCPUs in %s", w.quota[zone2], zone2)
	case 18:
		w.unendable(t, own)
		return "some can't be ended"
	}
	return "nothing"
}

// unendable puts one machine where nothing ends it: stopping for ever, or in the
// recycle bin and its end refused.
func (w *world) unendable(t *rapid.T, own []*machine) {
	var running []*machine
	for _, m := range own {
		if m.State == spotpool.StateRunning && m.PoolUID != "" {
			running = append(running, m)
		}
	}
	if len(running) == 0 {
		return
	}
	m := rapid.SampledFrom(running).Draw(t, "machine")
	m.State = rapid.SampledFrom([]spotpool.State{spotpool.StateStopping, spotpool.StateShutdown}).Draw(t, "state")
	w.refuses[m.ID] = true
}

// reclaim takes a machine back, in one of the ways that may look.
func (w *world) reclaim(m *machine, shape int) {
	switch shape {
	case 0:
		m.endsAt = w.now
	case 1:
		m.State, m.endsAt = spotpool.StateTerminating, w.now.Add(time.Minute)
	case 2:
		m.State, m.endsAt = spotpool.StateShutdown, w.now.Add(2*time.Hour)
	}
	w.pass(0)
}

// calm ends all that keeps the pool from what is declared.
func (w *world) calm() {
	w.hold = nil
	w.gate, w.blind, w.failing, w.tagsAfter, w.listedAfter, w.runsAfter = spotpool.Gate{}, false, 0, time.Second, 0, 30*time.Second
	w.d.MaxHourlyCost, w.stockFirst, w.callTakes = 0, false, 0
	clear(w.quota)
	for _, m := range w.markets {
		m.price, m.stock = yuan("1"), 1000
	}
	for _, m := range w.machines {
		switch m.State {
		case spotpool.StateRebooting:
			m.State = spotpool.StateRunning
		case spotpool.StateStopping:
			m.State = spotpool.StateStopped
		}
	}
}

// moving reports whether something is still under way.
func (w *world) moving() bool {
	for _, m := range w.machines {
		if m.launched && (!m.endsAt.IsZero() || m.State == spotpool.StatePending || m.PoolUID == "") {
			return true
		}
	}
	now := w.now
	for _, c := range w.journal.Cooldowns {
		if now.Before(c.Until) {
			return true
		}
	}
	lasted := w.journal.Surplus
	return len(w.journal.Pending) > 0 || !lasted.At.IsZero() && lasted.For(now) < w.d.SurplusLimit()
}

// notHealed says what of the declaration a pool at rest does not keep.
func (w *world) notHealed() string {
	var capacity, useless, spare, onDemand, old, kept int
	p := decide.Decide(w.situation(decide.SoFar{}))
	for _, m := range p.Members {
		endable := !m.Protected && !m.APIProtected && !w.refuses[m.ID]
		if w.refuses[m.ID] && m.ChargeType == spotpool.OnDemand {
			kept++
		}
		switch m.Condition {
		case decide.Running:
			capacity++
			if endable {
				spare++
				if m.ChargeType == spotpool.OnDemand {
					onDemand++
				}
				if m.Drifted {
					old++
				}
			}
		case decide.Failed, decide.Terminating:
		default:
			useless++
		}
	}
	d := w.d
	held := capacity + useless
	switch {
	case held != w.held():
		return fmt.Sprintf("%d held, and %d machines are there", held, w.held())
	case held > d.Maximum && min(spare, capacity-d.Minimum) > 0:
		return fmt.Sprintf("%d held above maximum %d, and %d could be ended", held, d.Maximum, min(spare, capacity-d.Minimum))
	case capacity < min(d.Minimum, d.Maximum-useless):
		return fmt.Sprintf("capacity %d, minimum %d, %d useless", capacity, d.Minimum, useless)
	}
	if surplus := min(spare-onDemand, capacity-max(p.Journal.Baseline, d.Minimum)); surplus > 0 && !d.KeepsSurplus() && old == 0 && onDemand <= d.OnDemandBase {
		return fmt.Sprintf("capacity %d, baseline %d, and %d could be scaled in", capacity, p.Journal.Baseline, surplus)
	}
	room := d.Maximum - useless - d.Minimum
	if room < 0 { // what is of no use takes the place of replacements
		return ""
	}
	if d.OnDemandFallback != nil && capacity >= d.Minimum && onDemand > 0 {
		if n := countOnDemand(p.Members) - kept; n > d.OnDemandBase {
			return fmt.Sprintf("%d on-demand instances in place of spot ones", n-d.OnDemandBase)
		}
	}
	canSurge := d.Refresh.MaxSurge > 0 && room > 0
	if d.Refresh.Strategy == spotpool.RefreshRolling && capacity >= d.Minimum && old > 0 && (d.Refresh.MaxUnavailable > 0 || canSurge) {
		return fmt.Sprintf("%d drifted instances are left", old)
	}
	return ""
}

func countOnDemand(list []decide.Member) int {
	n := 0
	for _, m := range list {
		if m.ChargeType == spotpool.OnDemand && m.Condition != decide.Failed && m.Condition != decide.Terminating {
			n++
		}
	}
	return n
}
