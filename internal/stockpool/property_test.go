package stockpool_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestWhateverHappensThePoolComesBack plays a pool through what people, budgets and
// kills may do to it. Whatever was done: nothing of somebody else's is touched, no pod
// runs whose Deployment is not written down, a budget's word holds, and once all is
// quiet the pool is as declared.
func TestWhateverHappensThePoolComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(declared(func(d *stockpool.Declaration) {
			if rapid.Bool().Draw(t, "keeps available") {
				d.Keep, d.Maximum = stockpool.KeepAvailable, 5
			}
		}))
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
			"judge": func(t *rapid.T) {
				w.covers = rapid.SampledFrom([][]stockpool.Cover{nil, {exceeded}, {pausing}, {unknown}, {{Budget: "b"}, pausing}}).Draw(t, "budgets")
			},
			"": func(t *rapid.T) { w.verify(t) },
		})
		w.covers = nil
		w.now = w.now.Add(time.Minute)
		if w.settle() < 0 {
			t.Fatalf("it never settles: %v", w.decide().Decisions)
		}
		p := w.decide()
		if p.Status.Phase != stockpool.Ready || int(*w.live.Spec.Replicas) != p.Replicas {
			t.Fatalf("all is quiet, and it is %+v", p.Status)
		}
		if d := w.declaration; d.Keep != stockpool.KeepAvailable && p.Replicas != d.Replicas {
			t.Errorf("it has %d pods of %d", p.Replicas, d.Replicas)
		} else if d.Keep == stockpool.KeepAvailable && p.Status.Available != d.Replicas && p.Replicas != d.Maximum {
			t.Errorf("it has %d available of %d, and %d in all", p.Status.Available, d.Replicas, p.Replicas)
		}
	})
}

// run decides, and carries the first decision out as far as the process lives.
func (w *world) run(t *rapid.T, dies death) {
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
	before := len(w.pods)
	used := w.inUse()
	w.do(p, dies)
	now := 0
	if w.live != nil {
		now = int(*w.live.Spec.Replicas)
	}
	held, paused := false, false
	for _, c := range w.covers {
		held, paused = held || c.Exceeded || c.Unknown, paused || c.Pauses && !c.Unknown
	}
	switch {
	case held && now > was:
		t.Errorf("%v grows it from %d to %d, which a budget forbids", p.Decisions[0], was, now)
	case !paused && held && now == 0 && was > 0 && w.declaration.Replicas > 0:
		t.Errorf("%v stops it, which no budget asks for", p.Decisions[0])
	case !paused && now > 0 && len(w.pods) < before && w.inUse() < used && w.inUse() < now:
		t.Errorf("%v ends a pod in use, and leaves %d that are not", p.Decisions[0], now-w.inUse())
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

func (w *world) verify(t *rapid.T) {
	if w.live != nil && string(w.live.UID) != w.journal.DeploymentUID && w.live.Annotations[stockpool.AnnotationOpened] == "" {
		t.Errorf("the Deployment %s was filled and is not written down (%s is)", w.live.UID, w.journal.DeploymentUID)
	}
	foreign := newWorld(w.declaration)
	foreign.journal, foreign.covers = w.journal, w.covers
	foreign.live = w.declaration.Bare("a tenant's own")
	foreign.live.UID = "foreign"
	if p := foreign.decide(); len(p.Decisions) > 0 || p.Refused == nil {
		t.Errorf("somebody else's is touched: %v", p.Decisions)
	}
	if p := stockpool.Decide(w.situation(stockpool.Seen{})); len(p.Decisions) > 0 {
		t.Errorf("nothing was seen, and it decides %v", p.Decisions)
	}
}
