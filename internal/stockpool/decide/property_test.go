package decide_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestPoolRecoversFromAnyFault plays a pool through what people, budgets and kills may
// do to it. Nothing foreign is touched, and no pod runs whose Deployment is not recorded.
// Budgets are respected, and once all is quiet the pool is in sync.
func TestPoolRecoversFromAnyFault(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { playFaults(t, nil) })
}

// playFaults draws what happens to a pool until all is quiet, and lets each plan be seen.
func playFaults(t *rapid.T, see func(*world, decide.Plan)) {
	w := newWorld(declared(func(d *stockpool.Declaration) {
		if rapid.Bool().Draw(t, "keeps available") {
			d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 5
		}
	}))
	if see != nil {
		w.see = func(p decide.Plan) { see(w, p) }
	}
	t.Repeat(map[string]func(*rapid.T){
		"run": func(t *rapid.T) { w.run(t, death(rapid.IntRange(0, 2).Draw(t, "dies"))) },
		"wait": func(*rapid.T) {
			w.now = w.now.Add(time.Minute)
		},
		"declare": func(t *rapid.T) {
			w.declaration.Replicas = rapid.IntRange(0, 5).Draw(t, "replicas")
			w.declaration.Generation++
		},
		"scale": func(t *rapid.T) {
			if w.live != nil {
				*w.live.Spec.Replicas = int32(rapid.IntRange(0, 6).Draw(t, "to"))
				w.control()
			}
		},
		"edit": func(*rapid.T) {
			if w.live != nil {
				w.live.Spec.Template.Spec.Containers[0].Image = "another"
			}
		},
		"delete": func(*rapid.T) {
			w.live = nil
			w.control()
		},
		"take": func(t *rapid.T) {
			if len(w.pods) > 0 {
				w.pods[rapid.IntRange(0, len(w.pods)-1).Draw(t, "pod")].Labels["session"] = "x"
			}
		},
		"give back": func(t *rapid.T) {
			if len(w.pods) > 0 {
				delete(w.pods[rapid.IntRange(0, len(w.pods)-1).Draw(t, "pod")].Labels, "session")
			}
		},
		"fall ill": func(t *rapid.T) {
			if len(w.pods) > 0 {
				w.fall(t, rapid.IntRange(0, len(w.pods)-1).Draw(t, "pod"))
			}
		},
		"recover": func(*rapid.T) { w.recover() },
		"judge": func(t *rapid.T) {
			w.covers = rapid.SampledFrom([][]decide.Cover{nil, {exceeded}, {pausing}, {unknown}, {{Budget: "b"}, pausing}, {unknown, pausing}}).Draw(t,
				"budgets")
		},
		"": func(t *rapid.T) { w.verify(t) },
	})
	w.covers = nil
	w.recover()
	w.now = w.now.Add(time.Minute)
	if w.settle() < 0 {
		t.Fatalf("it never settles: %v", w.decide().Decisions)
	}
	p := w.decide()
	if p.Status.Phase != decide.Ready && p.Status.Of(decide.Stocked).Reason != decide.AtMaximum || int(*w.live.Spec.Replicas) != p.Replicas {
		t.Fatalf("all is quiet, and it is %+v", p.Status)
	}
	if d := w.declaration; d.ReplicasPolicy != stockpool.ReplicasAvailable && p.Replicas != d.Replicas {
		t.Errorf("it has %d pods of %d", p.Replicas, d.Replicas)
	} else if d.ReplicasPolicy == stockpool.ReplicasAvailable && p.Status.Available != d.Replicas && p.Replicas != d.Maximum {
		t.Errorf("it has %d available of %d, and %d in all", p.Status.Available, d.Replicas, p.Replicas)
	}
}

// TestNoScaleDownOfItsOwnEndsAPodInUse, however the pods are.
func TestNoScaleDownOfItsOwnEndsAPodInUse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(declared(func(d *stockpool.Declaration) {
			d.ReplicasPolicy, d.Replicas, d.Maximum = stockpool.ReplicasAvailable, rapid.IntRange(0, 3).Draw(t, "replicas"), 8
		}))
		w.settle()
		*w.live.Spec.Replicas = int32(rapid.IntRange(1, 8).Draw(t, "pods"))
		w.control()
		for n := range w.pods {
			if rapid.Bool().Draw(t, "in use") {
				w.pods[n].Labels["session"] = "x"
			}
			w.fall(t, n)
		}
		w.covers = rapid.SampledFrom([][]decide.Cover{nil, {exceeded}, {unknown}}).Draw(t, "budgets")
		for range 4 {
			p := w.decide()
			if len(p.Decisions) == 0 {
				break
			}
			used, was := w.inUse(), len(w.pods)
			w.do(p, alive)
			if now := w.inUse(); now < used {
				t.Fatalf("%v ends %d of %d pods in use; %d of %d pods are left", p.Decisions[0], used-now, used, len(w.pods), was)
			}
		}
		w.recover()
		w.covers = nil
		w.settle()
		if want := w.declaration.DesiredReplicas(w.inUse()); len(w.pods) != want {
			t.Errorf("all are ready, and it has %d pods, want %d", len(w.pods), want)
		}
	})
}

// TestUnknownUsageChangesNothing: a budget of unknown usage neither grows a pool, nor pauses
// it, nor resumes it.
func TestUnknownUsageChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(declared(func(d *stockpool.Declaration) {
			if rapid.Bool().Draw(t, "keeps available") {
				d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 6
			}
		}))
		w.settle()
		w.covers = rapid.SampledFrom([][]decide.Cover{nil, {exceeded}, {pausing}}).Draw(t, "before")
		w.settle()
		was := len(w.pods)
		w.covers = []decide.Cover{{
			Budget: "b", Unknown: true, Exceeded: rapid.Bool().Draw(t, "exceeded"), Pauses: rapid.Bool().Draw(t, "pauses"), Reason: because("stale"),
		}}
		if rapid.Bool().Draw(t, "and one within its limit") {
			w.covers = append(w.covers, decide.Cover{Budget: "c"})
		}
		if rapid.Bool().Draw(t, "changed") {
			w.declaration.Replicas, w.declaration.Generation = rapid.IntRange(1, 5).Draw(t, "replicas"), 2
		}
		if was > 0 && rapid.Bool().Draw(t, "taken") {
			w.pods[0].Labels["session"] = "x"
		}
		for n := 0; n < 12; n++ {
			p := w.decide()
			if of := p.Status.Of(decide.WithinBudget); of.Status != "Unknown" || of.Message.String() != "stale" {
				t.Fatalf("of the budget it says %+v", of)
			}
			w.keep(p.Journal)
			if len(p.Decisions) == 0 {
				break
			}
			if kind := p.Decisions[0].Kind; kind == stockpool.KindPause || kind == stockpool.KindResume {
				t.Fatalf("it decides to %s with unknown usage", p.Decisions[0])
			}
			w.do(p, alive)
		}
		if now := len(w.pods); now > was || now == 0 && was > 0 {
			t.Errorf("it scales %d pods to %d with unknown usage", was, now)
		}
	})
}

// fall has a pod be in any of the ways between which a ReplicaSet distinguishes.
func (w *world) fall(t *rapid.T, n int) {
	p := &w.pods[n]
	p.Ready = rapid.Bool().Draw(t, "is ready")
	if p.Ready {
		p.Phase = "Running"
	} else if p.Phase = rapid.SampledFrom([]string{"Running", "Unknown", "Pending"}).Draw(t, "phase"); p.Phase == "Pending" &&
		rapid.Bool().Draw(t, "has no node") {
		p.Node = ""
	}
	p.DeletionCost = rapid.SampledFrom([]string{"", "", "-5", "2000", stockpool.SpareCost}).Draw(t, "cost")
}

// run decides, and carries the first decision out as far as the process lives.
func (w *world) run(t *rapid.T, dies death) {
	if rule := decide.ChangedByRule(w.situation(w.copied()), w.situation(w.copied())); rule != "" {
		t.Fatalf("%s changes its input", rule)
	}
	p := w.decide()
	if again := w.decide(); !reflect.DeepEqual(p.Decisions, again.Decisions) {
		t.Fatalf("the same decides otherwise: %v, and then %v", p.Decisions, again.Decisions)
	}
	was := 0
	if w.live != nil {
		was = int(*w.live.Spec.Replicas)
	}
	w.keep(p.Journal)
	if len(p.Decisions) == 0 {
		return
	}
	before, redeclared := slices.Clone(w.pods), w.journal.Generation != w.declaration.Generation
	w.do(p, dies)
	now := 0
	if w.live != nil {
		now = int(*w.live.Spec.Replicas)
	}
	w.verifyBudgets(t, p, was, now)
	w.verifyUse(t, p, before, redeclared, was, now)
}

// copied is what is observed now, with the answer of a dry run, and pods that nothing
// else has.
func (w *world) copied() stockpool.Observation {
	o := w.observation()
	o.Pods = slices.Clone(o.Pods)
	for n := range o.Pods {
		o.Pods[n].Labels = maps.Clone(o.Pods[n].Labels)
	}
	if w.live != nil {
		o.WouldBe = w.applied(w.declaration.Replicas)
	}
	return o
}

func (w *world) verifyBudgets(t *rapid.T, p decide.Plan, was, now int) {
	held, paused := false, false
	for _, c := range w.covers {
		held, paused = held || c.Exceeded || c.Unknown, paused || c.Pauses && !c.Unknown
	}
	switch {
	case held && now > was:
		t.Errorf("%v grows it from %d to %d, which a budget forbids", p.Decisions[0], was, now)
	case !paused && held && now == 0 && was > 0 && w.declaration.Replicas > 0:
		t.Errorf("%v stops it, which no budget asks for", p.Decisions[0])
	}
}

// verifyUse checks which pods a decision ended, of those that there were.
func (w *world) verifyUse(t *rapid.T, p decide.Plan, before []stockpool.Pod, redeclared bool, was, now int) {
	paused := slices.ContainsFunc(w.covers, func(c decide.Cover) bool { return c.Pauses && !c.Unknown })
	if paused || now >= was {
		return
	}
	left := func(of stockpool.Pod) bool {
		return slices.ContainsFunc(w.pods, func(p stockpool.Pod) bool { return p.Name == of.Name })
	}
	d := w.declaration
	for _, ended := range before {
		if ended.Labels["session"] == "" || left(ended) {
			continue
		}
		if toMaximum := was > d.Maximum && now == d.Maximum; d.ReplicasPolicy == stockpool.ReplicasAvailable && !redeclared && !toMaximum {
			t.Errorf("%v ends %s, which is in use, by itself", p.Decisions[0], ended.Name)
		}
		for _, spared := range w.pods {
			idle := spared
			idle.DeletionCost = ended.DeletionCost
			if idle.Labels["session"] == "" && spared.DeletionCost == "" && endsBefore(idle, ended) <= 0 && now > 0 {
				t.Errorf("%v ends %s, which is in use, and leaves %s, which is not", p.Decisions[0], ended.Name, idle.Name)
			}
		}
	}
}

func (w *world) inUse() (n int) {
	for _, p := range w.pods {
		if p.Labels["session"] != "" {
			n++
		}
	}
	return n
}

// recover has all pods run and be ready, at the usual cost.
func (w *world) recover() {
	for n := range w.pods {
		p := &w.pods[n]
		p.Phase, p.Ready, p.Node, p.DeletionCost = "Running", true, "node-1", ""
	}
}

func (w *world) verify(t *rapid.T) {
	if w.live != nil && string(w.live.UID) != w.journal.DeploymentUID && w.live.Annotations[stockpool.AnnotationOpened] == "" {
		t.Errorf("the Deployment %s was filled and is not written down (%s is)", w.live.UID, w.journal.DeploymentUID)
	}
	foreign := newWorld(w.declaration)
	foreign.journal, foreign.covers = w.journal, w.covers
	foreign.live = w.declaration.InitialDeployment("a tenant's own", 0)
	foreign.live.UID = "foreign"
	if p := foreign.decide(); len(p.Decisions) > 0 || p.Refused == nil {
		t.Errorf("somebody else's is touched: %v", p.Decisions)
	}
	if p := decide.Decide(w.situation(stockpool.Observation{})); len(p.Decisions) > 0 {
		t.Errorf("nothing was observed, and it decides %v", p.Decisions)
	}
}
