package stockpool_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

var (
	exceeded = stockpool.Cover{Budget: "team-a", Exceeded: true, Reason: "its budget team-a is used up"}
	pausing  = stockpool.Cover{Budget: "team-a", Exceeded: true, Pauses: true, Reason: "its budget team-a is used up"}
	unknown  = stockpool.Cover{Budget: "team-a", Unknown: true, Reason: "what its budget team-a has used is unknown"}
)

func (w *world) has(t *testing.T, replicas int, phase stockpool.Phase) {
	t.Helper()
	w.now = w.now.Add(time.Minute)
	if n := w.settle(); n < 0 {
		t.Fatalf("it never settles: %v", w.decide().Decisions)
	}
	p := w.decide()
	if got := int(*w.live.Spec.Replicas); got != replicas || p.Status.Phase != phase {
		t.Fatalf("it has %d pods and is %s, want %d and %s: %+v", got, p.Status.Phase, replicas, phase, p.Status)
	}
}

func TestAPoolComesAboutEmptyAndIsThenFilled(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	var kinds []stockpool.Kind
	for range 2 {
		p := w.decide()
		kinds = append(kinds, p.Decisions[0].Kind)
		w.do(p, alive)
		if len(kinds) == 1 && *w.live.Spec.Replicas != 0 {
			t.Error("it has pods before its uid is written down")
		}
	}
	if !slices.Equal(kinds, []stockpool.Kind{stockpool.KindCreate, stockpool.KindApply}) {
		t.Errorf("decided %v", kinds)
	}
	w.has(t, 2, stockpool.Ready)
}

func TestWhatIsNotSeenIsNotActedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, stockpool.Ready)
	p := stockpool.Decide(w.situation(stockpool.Seen{}))
	if len(p.Decisions) > 0 || p.Ask || p.Status.Phase != "" {
		t.Errorf("of nothing seen follows %+v", p)
	}
}

func TestSomeoneElsesDeploymentIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.live = w.declaration.Bare("a tenant's")
	w.live.UID = "foreign"
	var taken *stockpool.TakenError
	if p := w.decide(); len(p.Decisions) > 0 || !errors.As(p.Refused, &taken) || p.Status.Phase != stockpool.Degraded {
		t.Errorf("decided %v, refused %v", p.Decisions, p.Refused)
	}
	// Not even where the pool's own was there, and somebody put another in its place with
	// all of its labels and annotations.
	w = newWorld(declared())
	w.has(t, 2, stockpool.Ready)
	w.live.UID = "foreign"
	if p := w.decide(); len(p.Decisions) > 0 || !errors.As(p.Refused, &taken) || !taken.Lost {
		t.Errorf("decided %v, refused %v", p.Decisions, p.Refused)
	}
}

func TestWhatSomebodyChangedIsMendedAndTold(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, stockpool.Ready)
	*w.live.Spec.Replicas = 7
	w.live.Spec.Template.Spec.Containers[0].Image = "evil"
	w.live.ManagedFields = append(w.live.ManagedFields, metav1.ManagedFieldsEntry{
		Manager: "kubectl-edit", Operation: metav1.ManagedFieldsOperationUpdate, Time: &metav1.Time{Time: w.now},
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"runtime\"}":{"f:image":{}}}}}}}`),
	})
	p := w.decide()
	if len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindMend || len(p.Decisions[0].By) != 1 || len(p.Decisions[0].Changes) != 2 {
		t.Fatalf("decided %+v", p.Decisions)
	}
	w.has(t, 2, stockpool.Ready)
	w.live = nil
	w.pods = nil
	w.has(t, 2, stockpool.Ready)
	if n := w.told(history.Mend); n != 2 {
		t.Errorf("the history tells of %d", n)
	}
}

// TestAWebhooksRewriteIsNoDrift: what the API server itself makes of an application is
// as declared.
func TestAWebhooksRewriteIsNoDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, stockpool.Ready)
	w.live.Spec.Template.Spec.Containers[0].Image = "mirror.example.com/team/runtime:1"
	w.journal.Answer = stockpool.Fingerprint(w.live)
	if p := w.decide(); len(p.Decisions) > 0 || p.Ask {
		t.Errorf("decided %v", p.Decisions)
	}
}

func TestBudgetsHoldPauseAndLetGo(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, stockpool.Ready)
	w.covers = []stockpool.Cover{exceeded}
	w.declaration.Replicas, w.declaration.Generation = 5, 2
	w.has(t, 2, stockpool.Degraded)
	w.covers = []stockpool.Cover{pausing}
	w.has(t, 0, stockpool.Paused)
	*w.live.Spec.Replicas = 3 // somebody starts it again
	w.control()
	w.has(t, 0, stockpool.Paused)
	w.covers = []stockpool.Cover{unknown} // which lets nothing go
	w.has(t, 0, stockpool.Pending)
	w.covers = nil
	w.has(t, 5, stockpool.Ready)
	for kind, want := range map[history.Kind]int{history.Pause: 1, history.Mend: 1, history.Resume: 1, history.GateClosed: 1, history.GateOpened: 1} {
		if got := w.told(kind); got != want {
			t.Errorf("the history tells %d times of %s, want %d", got, kind, want)
		}
	}
}

func TestTheUnknownPausesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, stockpool.Ready)
	w.covers = []stockpool.Cover{{Budget: "team-a", Exceeded: true, Pauses: true, Unknown: true, Reason: "stale"}}
	w.has(t, 2, stockpool.Ready)
}

func TestATakenPodIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) { d.Keep, d.Maximum = stockpool.KeepAvailable, 4 }))
	w.has(t, 2, stockpool.Ready)
	take := func(n int) { w.pods[n].Labels["session"] = "x" }
	take(0)
	w.has(t, 3, stockpool.Ready)
	take(1)
	take(2)
	w.now = w.now.Add(time.Minute)
	w.settle()
	if p := w.decide(); p.Replicas != 4 || p.Status.Available != 1 || p.Status.Allocated != 3 {
		t.Errorf("three of at most four are taken: %+v", p.Status)
	}
	taken := []string{w.pods[0].Name}
	delete(w.pods[1].Labels, "session")
	delete(w.pods[2].Labels, "session")
	w.has(t, 3, stockpool.Ready)
	if !slices.ContainsFunc(w.pods, func(p stockpool.Pod) bool { return p.Name == taken[0] }) {
		t.Error("a pod in use was ended")
	}
}

func TestADeploymentIsTakenOverByItsUID(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) { d.DeploymentUID = "theirs" }))
	w.live = w.declaration.Bare("")
	w.live.UID, w.live.Annotations = "theirs", nil
	w.live.Spec.Template.Spec.Containers[0].Name = "main"
	if p := w.decide(); len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindOwn {
		t.Fatalf("decided %v, refused %v", p.Decisions, p.Refused)
	}
	w.has(t, 2, stockpool.Ready)
	if name := w.live.Spec.Template.Spec.Containers[0].Name; name != "main" || w.journal.DeploymentUID != "theirs" {
		t.Errorf("its container is called %s, its uid is %s", name, w.journal.DeploymentUID)
	}
	w.live.Spec.Template.Spec.Containers = append(w.live.Spec.Template.Spec.Containers, w.live.Spec.Template.Spec.Containers[0])
	w.journal = stockpool.Journal{}
	if p := w.decide(); p.Refused == nil || len(p.Decisions) > 0 {
		t.Error("one of two containers is taken for the runtime")
	}
	w.live.UID = types.UID("another")
	if p := w.decide(); p.Refused == nil || len(p.Decisions) > 0 {
		t.Error("another is taken over")
	}
}
