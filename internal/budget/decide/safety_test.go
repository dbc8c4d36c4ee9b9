package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestDecideReportsWhatItWasGiven: what Decide reports is what was evaluated, and
// it changes nothing of what it was given: enforcement never lowers usage.
func TestDecideReportsWhatItWasGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t)
		before := fmt.Sprintf("%+v %+v", s.Result, s.Pods)
		p := Decide(s, nil)
		if after := fmt.Sprintf("%+v %+v", s.Result, s.Pods); after != before {
			t.Fatalf("before %s, after %s", before, after)
		}
		if diff := cmp.Diff(s.Result.Usage, p.Status.Usage); diff != "" {
			t.Fatal(diff)
		}
		if again := Decide(s, nil); fmt.Sprint(again.Decisions, again.Reserves) != fmt.Sprint(p.Decisions, p.Reserves) {
			t.Fatalf("decided %v, and then %v", p.Decisions, again.Decisions)
		}
		checkSafety(t, s, p)
	})
}

// checkSafety is what must hold of any plan.
func checkSafety(t *rapid.T, s Situation, p Plan) {
	destructive, running, suspended := 0, false, false
	for _, d := range append(p.Decisions[:len(p.Decisions):len(p.Decisions)], p.Reserves...) {
		if d.Kind != budget.KindEvict && d.Kind != budget.KindPause && d.Kind != budget.KindFreeze && d.Kind != budget.KindShorten {
			continue
		}
		if !s.Result.Usage.Exceeded() || s.Declaration.Enforce.Action == budget.AlertOnly || s.Now.Before(*p.Status.EnforceAt) {
			t.Fatalf("too early: %s", d)
		}
		r := s.Result
		if certain := r.Usage.Consumed - r.Usage.Estimated; d.Kind != budget.KindFreeze && (r.EndsLost || certain < r.Usage.Limit && len(r.Lost) > 0) {
			t.Fatalf("on a lost ledger: %s", d)
		}
		if d.Kind != budget.KindEvict && d.Kind != budget.KindShorten {
			continue
		}
		v := d.Pod
		if (v.Deletion != 0) != (d.Kind == budget.KindShorten) || v.Deletion != 0 && v.Deletion <= ledger.TimeOf(s.Now.Add(5*time.Minute)) || v.Mirror ||
			!v.End.Open() || v.Namespace != "ml" || v.Priority >= 1000 || v.Annotations[budget.ProtectedKey] == "true" {
			t.Fatalf("never to be evicted: %+v", v)
		}
	}
	for _, d := range p.Decisions {
		if lifts := d.Kind == budget.KindUnfreeze || d.Kind == budget.KindResume; lifts && s.Previous == nil && !s.Result.Usage.Exceeded() &&
			s.Declaration.Enforce.Action != budget.AlertOnly && (len(s.Result.Lost) > 0 || s.Result.KnownSince != nil) {
			t.Fatalf("on unknown usage: %s", d)
		}
		if d.Kind == budget.KindPause && suspended && len(d.Waiting) > 0 {
			t.Fatalf("after what makes room for it: %s", d)
		}
		suspended = suspended || d.Kind == budget.KindPause && len(d.Waiting) == 0
		if d.Kind == budget.KindPause && (s.Declaration.Enforce.Action != budget.Pause || d.Owner.UID == "") {
			t.Fatalf("never to be paused: %s", d)
		}
		if d.Kind != budget.KindEvict {
			continue
		}
		if d.Pod.Waits() && (running || d.Pod.Controller().Kind == "Job" && !d.Pod.Of.ToleratesDisruption) {
			t.Fatalf("after what makes room for it, or a failure of its Job: %s", d)
		}
		if !d.Pod.Waits() {
			destructive++
			running = true
		}
	}
	checkPauses(t, s, p)
	if destructive > s.Declaration.Enforce.MaxEvictionsPerRun {
		t.Fatalf("%d evictions", destructive)
	}
}

// checkPauses checks that each running workload is reported and paused, unless it was paused before and the
// budget leaves resumed workloads running.
func checkPauses(t *rapid.T, s Situation, p Plan) {
	suspended := map[string]bool{}
	for _, d := range p.Decisions {
		if d.Kind == budget.KindPause {
			if suspended[d.Owner.UID] {
				t.Fatalf("twice: %s", d)
			}
			suspended[d.Owner.UID] = true
		}
	}
	if s.Declaration.Enforce.Action != budget.Pause || !s.Result.Usage.Exceeded() || len(s.Result.Lost) > 0 || s.Now.Before(*p.Status.EnforceAt) {
		return
	}
	f := factsOf(s)
	spared, held := f.sparedOwners(), map[string]bool{}
	for _, p := range f.own {
		held[p.UID] = held[p.UID] || !p.UnderWay && !p.Undone
	}
	for _, pod := range f.touchable() {
		w := pod.Of.Workload
		switch {
		case w.Name == "" || spared[id(w)]:
		case !pod.Of.Obstacle.IsZero():
			if suspended[w.UID] {
				t.Fatalf("%s is not gpupool's to pause: %s", w, pod.Of.Obstacle)
			}
		case !held[w.UID] || s.Declaration.Enforce.PausesAgain() && !pod.Of.Stopped:
			if !suspended[w.UID] {
				t.Fatalf("%s runs, and no decision pauses it: %v", w, p.Decisions)
			}
		case !pod.Of.Stopped:
			if !strings.Contains(strings.Join(p.Status.Warnings.Texts(), "\n"), "resumed manually") ||
				slices.Contains(p.Settle(nil).Enforced, budget.Pause) && len(s.Paused) == 1 {
				t.Fatalf("%s was started again: %v, enforced %v", w, p.Status.Warnings, p.Settle(nil).Enforced)
			}
		}
	}
}

func drawSituation(t *rapid.T) Situation {
	d := enforcing(rapid.SampledFrom([]budget.Action{budget.AlertOnly, budget.Freeze, budget.Pause, budget.Evict}).Draw(t, "action"))
	orders := []budget.EvictionOrder{budget.LowestPriority, budget.NewestStart, budget.SpotFirst, budget.LargestUsage}
	d.Enforce.EvictionOrder = rapid.SampledFrom(orders).Draw(t, "order")
	d.Enforce.MaxEvictionsPerRun = rapid.IntRange(1, 3).Draw(t, "most")
	d.Enforce.ProtectedPriorityClass = "high"
	s := situation(d, rapid.SampledFrom([]int64{0, 50 * budget.Hour, 100 * budget.Hour, 150 * budget.Hour}).Draw(t, "consumed"))
	s.PriorityClasses = map[string]int32{"high": 1000}
	s.Frozen, s.Owned = rapid.Bool().Draw(t, "frozen"), rapid.IntRange(0, 2).Draw(t, "owned") > 0
	if rapid.Bool().Draw(t, "first") {
		s.Previous = nil
	}
	if rapid.IntRange(0, 4).Draw(t, "lost") == 0 {
		s.Result.Lost, s.Result.EndsLost = []string{"a shard"}, rapid.Bool().Draw(t, "ends lost")
		s.Result.Usage.Estimated = rapid.SampledFrom([]int64{0, 10 * budget.Hour, 50 * budget.Hour}).Draw(t, "estimated")
	}
	if rapid.IntRange(0, 4).Draw(t, "a new ledger") == 0 {
		since := noon.Add(-time.Hour)
		s.Result.KnownSince, s.Result.Forgotten = &since, rapid.Bool().Draw(t, "forgotten")
	}
	d.Enforce.OnIneffective = rapid.SampledFrom([]budget.Fallback{budget.FallbackWarn, budget.FallbackEvict}).Draw(t, "on ineffective")
	d.Enforce.OnManualResume = rapid.SampledFrom([]budget.OnManualResume{budget.ResumeWarn, budget.ResumePause}).Draw(t, "on manual resume")
	s.Declaration = d
	stopped := map[string]bool{"train": rapid.Bool().Draw(t, "train stopped"), "sweep": rapid.Bool().Draw(t, "sweep stopped")}
	if name := rapid.SampledFrom([]string{"", "train", "sweep"}).Draw(t, "paused"); name != "" {
		s.Paused = []Paused{{
			Workload: owned(budget.Pod{}, "apps/v1", "StatefulSet", name).Of.Workload, BudgetUID: rapid.SampledFrom([]string{"uid-a", "uid-b"}).Draw(t, "by"),
		}}
	}
	obstacles := map[string]reason.Reason{}
	for n := range rapid.IntRange(0, 8).Draw(t, "pods") {
		p := pod(fmt.Sprint(n), rapid.SampledFrom([]int32{-5, 0, 7, 1000, 2_000_000_000}).Draw(t, "priority"))
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			p.Deletion = ledger.TimeOf(s.Now.Add(time.Duration(rapid.IntRange(-600, 600).Draw(t, "left")) * time.Second))
		case 1:
			p.Mirror = true
		case 2:
			p.End = ledger.ExactEnd(ago(time.Minute), ledger.ContainerFinished)
		case 3:
			p.Annotations = map[string]string{budget.ProtectedKey: "true"}
		case 4:
			p.Namespace, p.Set = "kube-system", set("kube-system", "team", "a")
		case 5:
			p.Spot = true
		}
		if rapid.IntRange(0, 2).Draw(t, "waiting") == 0 {
			p.Scheduled, p.Phase = ledger.Start{}, "Pending"
		}
		switch owner := rapid.SampledFrom([]string{"train", "sweep"}).Draw(t, "owner"); rapid.IntRange(0, 3).Draw(t, "of") {
		case 0:
			p = owned(p, "batch/v1", "Job", "job-"+owner)
			p.Of.ToleratesDisruption = rapid.Bool().Draw(t, "forgiving")
			p.Of.Obstacle = rapid.SampledFrom([]reason.Reason{{}, reason.QueuedByKueue("gpus")}).Draw(t, "obstacle")
			if first, drawn := obstacles[owner]; drawn {
				p.Of.Obstacle = first // it is the workload's
			}
			obstacles[owner] = p.Of.Obstacle
		case 1:
			p.Of = budget.Ownership{Reason: reason.OwnerNotSelects("StatefulSet ml/x")}
		default:
			p = owned(p, "apps/v1", "StatefulSet", owner)
			p.Of.Stopped = stopped[owner]
		}
		s.Pods = append(s.Pods, p)
	}
	return s
}
