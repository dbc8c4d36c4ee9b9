package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestALostLedgerLiftsNothing: usage that is below the limit only since a part of
// the ledger is lost lifts and resumes nothing, however many runs see it.
func TestALostLedgerLiftsNothing(t *testing.T) {
	t.Parallel()
	lost := func() Situation {
		s := situation(enforcing(budget.Evict), 10*budget.Hour)
		s.Previous.Usage.Consumed = 100 * budget.Hour
		s.Result.Lost = []string{"closed-2026-07-15: missing"}
		s.Frozen, s.Paused = true,
			[]Paused{{
				Workload:  budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: "uid-of-train"}},
				BudgetUID: "uid-a",
			}}
		return s
	}
	s := lost()
	first := Decide(s, nil)
	s.Previous = &first.Status
	for n, p := range []Plan{first, Decide(s, nil)} {
		u := p.Status.Unknown
		if len(p.Decisions) > 0 || u == nil || u.Consumed != 100*budget.Hour || !strings.Contains(u.Reason.String(), "100.000 of 100.000 GPU-hours were used") {
			t.Errorf("run %d: %v, %+v", n+1, p.Decisions, u)
		}
		if !p.EnsureFreeze {
			t.Errorf("run %d: the freeze is not repaired", n+1)
		}
		if !strings.Contains(strings.Join(p.Status.Warnings.Texts(), "\n"), "nothing in force is lifted") || !p.Status.Withheld.Same(u.Reason) {
			t.Errorf("run %d: %q, withheld: %q", n+1, p.Status.Warnings, p.Status.Withheld)
		}
	}
	for name, change := range map[string]func(*Situation){
		"the window is past it":            func(s *Situation) { s.Result.Lost = nil },
		"the limit is above what was used": func(s *Situation) { s.Result.Usage.Limit = 102 * budget.Hour },
		"the limit was not reached before": func(s *Situation) { s.Previous = lost().Previous; s.Previous.Usage.Consumed = 99 * budget.Hour },
	} {
		s := lost()
		s.Previous = &first.Status
		change(&s)
		p := Decide(s, nil)
		if diff := cmp.Diff([]budget.Kind{budget.KindUnfreeze, budget.KindResume}, kinds(p)); diff != "" || p.Status.Unknown != nil {
			t.Errorf("%s: %s, %+v", name, diff, p.Status.Unknown)
		}
	}
	s = lost()
	s.FreezeOutdated = true // what more it would freeze may be within its limit
	if p := Decide(s, nil); len(p.Decisions) > 0 || p.EnsureFreeze {
		t.Errorf("frozen for another selector: %v, repaired: %t", p.Decisions, p.EnsureFreeze)
	}
	s = lost()
	s.Previous = nil // the status is lost too
	if p := Decide(s, nil); len(p.Decisions) > 0 || !p.EnsureFreeze {
		t.Errorf("without a status: %v", p.Decisions)
	}
	s.Frozen, s.Paused, s.Previous = false, nil, &budget.Status{UID: "uid-of-old", At: noon.Add(-time.Hour)}
	if p := Decide(s, nil); p.Status.Unknown != nil || strings.Contains(strings.Join(p.Status.Warnings.Texts(), "\n"), "last status") {
		t.Errorf("of another budget: %+v", p.Status)
	}
}

// TestALossBelowTheLimitIsUnknownOnceItMayMatter: a budget that had not reached its limit
// before the loss may reach it with what is lost, and opens no gate then.
func TestALossBelowTheLimitIsUnknownOnceItMayMatter(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Freeze), 90*budget.Hour)
	status := Decide(s, nil).Status
	for n, run := range []struct {
		consumed int64
		lost     bool
		unknown  bool
	}{
		{20 * budget.Hour, true, false}, {29 * budget.Hour, true, false}, {30 * budget.Hour, true, true}, {35 * budget.Hour, true, true},
		{25 * budget.Hour, true, false}, {35 * budget.Hour, false, false},
	} {
		s.Previous, s.Result.Usage.Consumed, s.Result.Lost = new(status), run.consumed, nil
		if run.lost {
			s.Result.Lost = []string{"closed-2026-07-15: missing"}
		}
		p := Decide(s, nil)
		if u := p.Status.Unknown; (u != nil) != run.unknown || u != nil &&
			!strings.Contains(u.Reason.String(), "Up to 70.000 GPU-hours more were counted before the loss") {
			t.Errorf("run %d: %+v", n+1, u)
		}
		if kinds := kinds(p); len(kinds) > 0 && run.unknown {
			t.Errorf("run %d: %v", n+1, kinds)
		}
		status = p.Status
	}
}

// TestALossHidesNothingOfAnEarlierPeriod: the usage of this period is known.
func TestALossHidesNothingOfAnEarlierPeriod(t *testing.T) {
	t.Parallel()
	d := enforcing(budget.Freeze)
	d.Window, d.Period = "", budget.Day
	d = d.WithDefaults()
	for last, missing := range map[time.Duration]int64{time.Hour: 70 * budget.Hour, 13 * time.Hour: 0} {
		s := situation(d, 90*budget.Hour)
		s.Previous.At, s.Previous.Counted, s.Previous.Missing = noon.Add(-last), d.Counted(), 70*budget.Hour
		s.Result.Usage.Consumed, s.Result.Lost = 35*budget.Hour, []string{"closed-2026-07-15: missing"}
		if got := Decide(s, nil).Status; got.Missing != missing || (got.Unknown != nil) != (missing > 0) {
			t.Errorf("the last run was %s ago: %s GPU-hours are missing, %+v", last, budget.Hours(got.Missing), got.Unknown)
		}
	}
}

// TestMissingHistoryLiftsNothing has a window that begins before the ledger. Usage below the limit then lifts
// nothing, unless it fell by itself or the limit was raised above it.
func TestMissingHistoryLiftsNothing(t *testing.T) {
	t.Parallel()
	began := noon.Add(-time.Hour)
	of := func(consumed, before int64, counted bool) Situation {
		s := situation(enforcing(budget.Freeze), consumed)
		s.Frozen, s.Result.KnownSince = true, &began
		s.Previous.Usage.Consumed = before
		if counted {
			s.Previous.Counted = s.Declaration.Counted()
		}
		return s
	}
	for _, test := range []struct {
		name  string
		s     Situation
		lifts bool
	}{
		{"it fell by itself", of(10*budget.Hour, 101*budget.Hour, true), true},
		{"the limit was raised", of(90*budget.Hour, 90*budget.Hour, true), true},
		{"another window, or other pods", of(10*budget.Hour, 101*budget.Hour, false), false},
		{"another window, in which less was used", of(10*budget.Hour, 20*budget.Hour, false), false},
	} {
		for _, forgotten := range []bool{false, true} {
			s := test.s
			s.Result.Forgotten = forgotten
			lifts := test.lifts && !(forgotten && s.Previous.Usage.Exceeded())
			for n := range 3 {
				p := Decide(s, nil)
				if got := len(p.Decisions) == 1 && p.Decisions[0].Kind == budget.KindUnfreeze; got != lifts || (p.Status.Unknown == nil) != lifts {
					t.Errorf("%s, forgotten %v, run %d: %v, %+v", test.name, forgotten, n+1, p.Decisions, p.Status.Unknown)
				}
				if lifts {
					break
				}
				s.Previous = &p.Status
			}
		}
	}
	for limit, lifts := range map[int64]bool{100 * budget.Hour: false, 101 * budget.Hour: true} {
		s := of(10*budget.Hour, 20*budget.Hour, true)
		s.Previous.Unknown, s.Result.Usage.Limit = &budget.Unknown{Consumed: 100 * budget.Hour}, limit
		if p := Decide(s, nil); (len(p.Decisions) == 1) != lifts || (p.Status.Unknown == nil) != lifts {
			t.Errorf("100 GPU-hours were used, and the limit is %s now: %v, %+v", budget.Hours(limit), p.Decisions, p.Status.Unknown)
		}
	}
	s := of(10*budget.Hour, 101*budget.Hour, false)
	s.Previous = nil
	if p := Decide(s, nil); len(p.Decisions) > 0 {
		t.Errorf("without a status: %v", p.Decisions)
	}
	s.Frozen = false
	if p := Decide(s, nil); p.Status.Unknown != nil {
		t.Errorf("a new budget: %+v", p.Status.Unknown)
	}
	s = of(10*budget.Hour, 101*budget.Hour, false)
	s.Declaration.Enforce.Action = budget.AlertOnly
	if p := Decide(s, nil); len(p.Decisions) != 1 || p.Decisions[0].Kind != budget.KindUnfreeze {
		t.Errorf("where nothing is enforced any longer: %v", p.Decisions)
	}
}
