package decide

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// madeElsewhere are the codes of budgets that no decision makes.
var madeElsewhere = map[reason.Code]string{
	"freeze_stays":           "a run that repairs a freeze",
	"budget_destroyed":       "the deletion of a budget",
	"unrecognized":           "a run that finds labels of an older gpupool",
	"left_freeze":            "the same",
	"left_pause":             "the same",
	"left_resumed":           "the same",
	"not_in_cluster":         "a run that compares a declaration with its cluster",
	"not_in_cluster_nearest": "the same",
	"freeze_would_fail":      "the same",
}

// definition finds the codes in the catalog's file about decisions of budgets.
var definition = regexp.MustCompile(`(?:none|warning|one|two|three|four)(?:\[[^\]]*\])?\("([a-z_]+)"`)

// TestEveryCodeIsMade: each code of the catalog is said about some budget.
func TestEveryCodeIsMade(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../reason/budget.go")
	if err != nil {
		t.Fatal(err)
	}
	said := codes{}
	for _, s := range worlds() {
		said.addPlan(s)
	}
	drawn := rapid.Custom(drawSituation)
	for seed := range 200 {
		said.addPlan(drawn.Example(seed))
	}
	var missing []string
	all := definition.FindAllStringSubmatch(string(source), -1)
	for _, match := range all {
		code := reason.Code(match[1])
		if _, elsewhere := madeElsewhere[code]; !said[code] && !elsewhere {
			missing = append(missing, match[1])
		}
		if said[code] && madeElsewhere[code] != "" {
			t.Errorf("%s is made by a decision", code)
		}
	}
	if len(all) < 80 || len(missing) > 0 {
		t.Errorf("of %d codes, no world makes %q", len(all), missing)
	}
}

// worlds are situations for the codes that drawn ones rarely have.
func worlds() (list []Situation) {
	for _, changes := range []map[budget.Action][]func(*Situation){
		{budget.AlertOnly: usageWorlds(), budget.Pause: pauseWorlds(), budget.Evict: evictWorlds(), budget.Freeze: freezeWorlds()},
		{budget.Evict: usageWorlds(), budget.Pause: protectedWorlds()},
	} {
		for action, some := range changes {
			for _, change := range some {
				s := situation(enforcing(action), 100*budget.Hour)
				s.Owned = true
				change(&s)
				list = append(list, s)
			}
		}
	}
	return list
}

func usageWorlds() []func(*Situation) {
	later := noon.Add(time.Hour)
	return []func(*Situation){
		func(s *Situation) {
			s.Previous.Fired, s.Result.Usage.BurnRate, s.Result.Usage.ActivePods, s.Result.Usage.RecoversAt = nil, 1500, 3, &later
		},
		func(s *Situation) {
			s.Declaration.Window, s.Declaration.Period, s.Previous.Fired, s.Result.Usage.RecoversAt = "", budget.Month, nil, &later
			s.Result.Usage.BurnRate, s.Result.Usage.ProjectedExhaustion = 1000, &later
		},
		func(s *Situation) { s.Result.Usage.Estimated, s.Result.LongestGap = budget.Hour, 100*time.Hour },
		func(s *Situation) { s.Result.Usage.Consumed, s.Result.Lost = 35*budget.Hour, []string{"a document"} },
		func(s *Situation) {
			s.Result.Usage.Consumed, s.Result.Lost, s.Previous.Usage.Consumed = 35*budget.Hour, []string{"a document"}, 90*budget.Hour
			s.Previous.Missing, s.Previous.Counted = 70*budget.Hour, s.Declaration.Counted()
		},
		func(s *Situation) {
			s.Result.Unbounded, s.Result.Usage.Unconfirmed, s.Result.Overlaps = true, budget.Hour, []string{"web"}
		},
		func(s *Situation) {
			s.Result.Usage.Consumed, s.Result.Usage.Unconfirmed = 35*budget.Hour, 70*budget.Hour
		},
		func(s *Situation) {
			for n := range 22 {
				s.Lost = append(s.Lost, budget.PausedWorkload{Workload: pod(string(rune('a'+n)), 0).Of.Workload})
			}
		},
	}
}

func protectedWorlds() (list []func(*Situation)) {
	for _, protect := range []func(*budget.Pod){
		func(p *budget.Pod) { p.Set = set("ml", "team", "a", budget.ProtectedKey, "yes") },
		func(p *budget.Pod) {
			p.Set.NamespaceLabels = ledger.LabelsOf(map[string]string{budget.ProtectedKey: "true"})
		},
		func(p *budget.Pod) { p.Namespace, p.Set = "gold", set("gold", "team", "a") },
		func(p *budget.Pod) { p.Namespace, p.Set = "kube-system", set("kube-system", "team", "a") },
		func(p *budget.Pod) { p.PriorityClassName = "high" },
		func(p *budget.Pod) {},
	} {
		list = append(list, func(s *Situation) {
			s.Declaration.Selector.Namespaces = nil
			s.Declaration.Enforce.ProtectedNamespaces, s.Declaration.Enforce.ProtectedPriorityClass = []string{"gold"}, "high"
			s.Pods = []budget.Pod{pod("a", 0), pod("b", 0)}
			protect(&s.Pods[0])
		})
	}
	return list
}

func pauseWorlds() []func(*Situation) {
	again := func(s *Situation) {
		s.Pods = []budget.Pod{pod("a", 0)}
		s.Paused = []Paused{{Workload: s.Pods[0].Of.Workload, BudgetUID: "uid-a", Set: set("ml", "team", "a")}}
	}
	return []func(*Situation){
		again,
		func(s *Situation) { again(s); s.Declaration.Enforce.OnManualResume = budget.ResumePause },
		func(s *Situation) { again(s); s.Paused[0].UnderWay, s.Pods = true, nil },
		func(s *Situation) { again(s); s.Paused[0].BudgetUID, s.Pods = "uid-b", nil },
		func(s *Situation) { again(s); s.Paused[0].Set = set("ml", "team", "b") },
		func(s *Situation) { s.Pods = []budget.Pod{scheduled("a")} },
		func(s *Situation) {
			s.Pods = []budget.Pod{pod("bare", 0), pod("other", 0), pod("kept", 0), pod("mate", 0)}
			s.Pods[0].Owner, s.Pods[0].Of = nil, budget.Ownership{}
			s.Pods[1] = owned(s.Pods[1], "batch/v1", "Job", "other")
			s.Pods[1].Of.Labels = map[string]string{"team": "b"}
			s.Pods[2].Annotations = map[string]string{budget.ProtectedKey: "true"}
			s.Declaration.Enforce.OnIneffective = budget.FallbackEvict
		},
		func(s *Situation) {
			again(s)
			s.Pods[0].Of.Stopped, s.Declaration.Enforce.OnIneffective = true, budget.FallbackEvict
			effect := budget.NewEffect(budget.Pause, "Deployment ml/train", s.Pods[0].Of.Workload.UID, nil, noon.Add(-budget.EffectTimeout))
			s.Previous.Effects = []budget.Effect{effect}
		},
		func(s *Situation) {
			again(s)
			s.Pods[0].Of.StockPool = "stock_pool/ml/train"
			effect := budget.NewEffect(budget.Pause, "Deployment ml/train", s.Pods[0].Of.Workload.UID, nil, noon.Add(-budget.EffectTimeout))
			effect.StockPool = s.Pods[0].Of.StockPool
			s.Previous.Effects = []budget.Effect{effect}
		},
		func(s *Situation) {
			s.Declaration.Selector.MatchExpressions = []budget.Expression{{Key: "team", Operator: "Like"}}
			s.Pods = []budget.Pod{pod("a", 0)}
		},
	}
}

func evictWorlds() []func(*Situation) {
	return []func(*Situation){
		func(s *Situation) { s.Pods = []budget.Pod{owned(pod("last", 0), "batch/v1", "Job", "strict")} },
		func(s *Situation) {
			s.Declaration.Enforce.EvictionOrder, s.Pods = budget.SpotFirst, []budget.Pod{pod("spot", 0)}
			s.Pods[0].Spot = true
		},
		func(s *Situation) {
			s.Pods = []budget.Pod{pod("years", 0), pod("waits", 0), owned(pod("job-waits", 0), "batch/v1", "Job", "sweep")}
			s.Pods[0].Deletion = ms(noon.AddDate(1, 0, 0))
			for n := range s.Pods[1:] {
				s.Pods[1+n].Scheduled, s.Pods[1+n].Phase = ledger.Start{}, "Pending"
			}
		},
	}
}

func freezeWorlds() []func(*Situation) {
	since := noon.Add(-time.Hour)
	gone := func(s *Situation) { s.Previous.FrozenSince = &since }
	return []func(*Situation){
		gone,
		func(s *Situation) { gone(s); s.FreezeSlots = budget.SlotWrite{Manager: "kubectl", At: noon} },
		func(s *Situation) { s.Frozen, s.FreezeOutdated = true, true },
	}
}

type codes map[reason.Code]bool

func (c codes) addPlan(s Situation) {
	second := s.Observation
	for _, p := range []Plan{Decide(s, nil), Decide(s, &second)} {
		for _, d := range slices.Concat(p.Decisions, p.Reserves) {
			c.add(reflect.ValueOf(d.Reasons))
		}
		for _, d := range p.Decisions {
			if d.Kind == budget.KindPause {
				p = p.Refuse(d, &budget.NotPausedError{Workload: *d.Owner, Why: budget.Obstacle("no")})
			}
		}
		c.add(reflect.ValueOf(p.Settle(p.Decisions)))
	}
}

// add adds the codes in a value, also those of arguments.
func (c codes) add(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if r, is := v.Interface().(reason.Reason); is {
			c[r.Code] = true
			for _, a := range r.Args {
				c.add(reflect.ValueOf(a))
			}
			return
		}
		if _, is := v.Interface().(time.Time); is {
			return
		}
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() {
				c.add(v.Field(n))
			}
		}
	case reflect.Slice, reflect.Array:
		for n := range v.Len() {
			c.add(v.Index(n))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			c.add(v.Elem())
		}
	}
}
