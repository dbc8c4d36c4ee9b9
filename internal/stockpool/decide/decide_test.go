package decide_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

var (
	exceeded = decide.Cover{Budget: "team-a", Exceeded: true, Reason: because("budget/team-a is used up")}
	pausing  = decide.Cover{Budget: "team-a", Exceeded: true, Pauses: true, Reason: because("budget/team-a is used up")}
	unknown  = decide.Cover{Budget: "team-a", Unknown: true, Reason: because("usage of budget/team-a is unknown")}
)

func (w *world) has(t *testing.T, replicas int, phase decide.Phase) {
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
	w.has(t, 2, decide.Ready)
}

func TestUnobservedObjectsAreNotChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	p := decide.Decide(w.situation(stockpool.Observation{}))
	if len(p.Decisions) > 0 || p.Ask || p.Status.Phase != "" {
		t.Errorf("of nothing observed follows %+v", p)
	}
}

func TestSomeoneElsesDeploymentIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.live = w.declaration.InitialDeployment("a tenant's", 0)
	w.live.UID = "foreign"
	var taken *decide.TakenError
	if p := w.decide(); len(p.Decisions) > 0 || !errors.As(p.Refused, &taken) || p.Status.Phase != decide.Degraded {
		t.Errorf("decided %v, refused %v", p.Decisions, p.Refused)
	}
	// Even if the pool had one, and a foreign one with all of its labels and annotations
	// replaced it.
	w = newWorld(declared())
	w.has(t, 2, decide.Ready)
	w.live.UID = "foreign"
	if p := w.decide(); len(p.Decisions) > 0 || !errors.As(p.Refused, &taken) || !taken.Lost {
		t.Errorf("decided %v, refused %v", p.Decisions, p.Refused)
	}
}

func TestDriftIsRevertedAndReported(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	*w.live.Spec.Replicas = 7
	w.live.Spec.Template.Spec.Containers[0].Image = "evil"
	w.live.ManagedFields = append(w.live.ManagedFields, metav1.ManagedFieldsEntry{
		Manager: "kubectl-edit", Operation: metav1.ManagedFieldsOperationUpdate, Time: &metav1.Time{Time: w.now},
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"runtime\"}":{"f:image":{}}}}}}}`),
	})
	p := w.decide()
	if len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindRevert || len(p.Decisions[0].By) != 1 || len(p.Decisions[0].Changes) != 2 {
		t.Fatalf("decided %+v", p.Decisions)
	}
	w.has(t, 2, decide.Ready)
	w.live = nil
	w.pods = nil
	w.has(t, 2, decide.Ready)
	if n := w.reported(history.Revert); n != 2 {
		t.Errorf("the history has %d", n)
	}
}

// TestAWebhooksRewriteIsNoDrift: what a webhook makes of an application is in sync.
func TestAWebhooksRewriteIsNoDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	w.live.Spec.Template.Spec.Containers[0].Image = "mirror.example.com/team/runtime:1"
	w.journal = w.journal.RecordResponse(w.live)
	if p := w.decide(); len(p.Decisions) > 0 || p.Ask {
		t.Errorf("decided %v", p.Decisions)
	}
}

func TestBudgetsHoldPauseAndLetGo(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	w.covers = []decide.Cover{exceeded}
	w.declaration.Replicas, w.declaration.Generation = 5, 2
	w.has(t, 2, decide.Degraded)
	w.covers = []decide.Cover{pausing}
	w.has(t, 0, decide.Paused)
	w.live.Spec.Template.Spec.Containers[0].Image = "another"
	s := w.situation(w.observation())
	s.Refuses = true
	if p := decide.Decide(s); len(p.Decisions) > 0 || p.Status.Phase != decide.Paused {
		t.Errorf("nothing can be applied, and at zero it is %s, and decides %v", p.Status.Phase, p.Decisions)
	}
	*w.live.Spec.Replicas = 3 // a manual scale-up
	w.control()
	w.has(t, 0, decide.Paused)
	w.covers = []decide.Cover{unknown} // which lets nothing go
	w.has(t, 0, decide.Pending)
	w.covers = nil
	w.has(t, 5, decide.Ready)
	for kind, want := range map[history.Kind]int{
		history.Pause: 1, history.Paused: 1, history.Revert: 1, history.Resume: 1, history.GateClosed: 1, history.GateOpened: 1,
	} {
		if got := w.reported(kind); got != want {
			t.Errorf("the history has %d events of %s, want %d", got, kind, want)
		}
	}
}

func TestUnknownUsagePausesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	w.covers = []decide.Cover{{Budget: "team-a", Exceeded: true, Pauses: true, Unknown: true, Reason: because("stale")}}
	w.has(t, 2, decide.Ready)
}

// TestKnownBudgetIsReportedFirst: that one budget is used up is reported although another
// can't be read, and so is the other.
func TestKnownBudgetIsReportedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	w.covers = []decide.Cover{{Budget: "b", Unknown: true, Reason: because("whether b covers it is unknown")}, pausing}
	w.has(t, 0, decide.Paused)
	if of := w.decide().Status.Of(decide.WithinBudget); of.Status != "False" ||
		of.Message.String() != "whether b covers it is unknown; budget/team-a is used up" {
		t.Errorf("of its budgets it says %+v", of)
	}
}

func TestATakenPodIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) { d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 4 }))
	w.has(t, 2, decide.Ready)
	take := func(n int) { w.pods[n].Labels["session"] = "x" }
	take(0)
	w.has(t, 3, decide.Ready)
	take(1)
	take(2)
	w.now = w.now.Add(time.Minute)
	w.settle()
	if p := w.decide(); p.Replicas != 4 || p.Status.Available != 1 || p.Status.Allocated != 3 {
		t.Errorf("three of at most four are taken: %+v", p.Status)
	}
	w.pods[3].Labels["session"] = "s3"
	of := w.decide().Status.Of(decide.Stocked)
	if p := w.decide(); p.Status.Phase != decide.Degraded || !p.Status.Settled() || of.Reason != decide.AtMaximum ||
		!strings.Contains(of.Message.String(), "0 of 2 are available, and 4 are in use: it has reached its maximum of 4") {
		t.Errorf("all four are taken: %+v", p.Status)
	}
	delete(w.pods[3].Labels, "session")
	taken := []string{w.pods[0].Name}
	delete(w.pods[1].Labels, "session")
	delete(w.pods[2].Labels, "session")
	w.has(t, 3, decide.Ready)
	if !slices.ContainsFunc(w.pods, func(p stockpool.Pod) bool { return p.Name == taken[0] }) {
		t.Error("a pod in use was ended")
	}
}

// TestNoPodInUseEndsBeforeAnIdleOne: a ReplicaSet respects deletion costs only among pods that
// are equally ready. So a scale-down waits until the pods in use are ready.
func TestNoPodInUseEndsBeforeAnIdleOne(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) { d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 8 }))
	w.has(t, 2, decide.Ready)
	for n := range 3 {
		w.pods[n+1].Labels["session"] = "x"
		w.settle()
	}
	w.has(t, 5, decide.Ready)
	ill, back, idle := w.pods[1].Name, w.pods[3].Name, w.pods[4].Name
	delete(w.pod(back).Labels, "session")
	w.pod(ill).Ready = false
	w.has(t, 5, decide.Ready)
	p := w.decide()
	if synced := p.Status.Of(decide.Synced); len(p.Warnings) != 1 || synced.Status != "False" || synced.Reason != "PodsInUse" ||
		!strings.Contains(p.Warnings[0].String(), ill) || !p.Warnings[0].Same(synced.Message) {
		t.Errorf("that it keeps more is reported so: %q, %+v", p.Warnings, synced)
	}
	if p.Status.Fewest != 5 {
		t.Errorf("%d pods have to stay, want 5", p.Status.Fewest)
	}
	// A ReplicaSet deletes these before that one may go.
	w.pod(idle).Phase, w.pod(idle).Ready, w.pod(idle).Node = "Pending", false, ""
	w.has(t, 4, decide.Ready)
	if w.pod(idle) != nil || w.pod(ill) == nil {
		t.Errorf("left are %+v", w.pods)
	}
	// Unmanaged pods are not worth one in use either, up to the maximum.
	*w.live.Spec.Replicas = 6
	w.control()
	w.has(t, 6, decide.Ready)
	w.recover()
	w.has(t, 4, decide.Ready)
	if w.pod(ill) == nil {
		t.Error("a pod in use was ended")
	}
	if p := w.decide(); len(p.Warnings) > 0 || p.Status.Of(decide.Synced).Status != "True" {
		t.Errorf("all is well, and it warns %q", p.Warnings)
	}
	w.pod(ill).Ready = false
	*w.live.Spec.Replicas = 9
	w.control()
	if p := w.decide(); p.Replicas != 8 {
		t.Errorf("beyond the maximum it is scaled to %d", p.Replicas)
	}
}

// TestIdlePodsThatCostMoreThanThoseInUseStay, unless gpupool marked them: the marks are removed first.
func TestIdlePodsThatCostMoreThanThoseInUseStay(t *testing.T) {
	t.Parallel()
	for cost, fewest := range map[string]int{"": 1, "2000": 2, stockpool.SpareCost: 1} {
		w := ready(t, available)
		w.pods[0].Labels["session"], w.pods[1].DeletionCost = "x", cost
		if got := w.decide().Status.Fewest; got != fewest {
			t.Errorf("with an idle pod that costs %q, %d pods have to stay, want %d", cost, got, fewest)
		}
	}
}

// TestAScaleDownThatIsDeclaredGoesOn: a declared scale-down does not wait for pods in use, nor
// does a budget's pause.
func TestAScaleDownThatIsDeclaredGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) {
		d.ReplicasPolicy, d.Replicas, d.Maximum = stockpool.ReplicasAvailable, 4, 8
	}))
	w.has(t, 4, decide.Ready)
	w.pods[0].Labels["session"] = "x"
	w.has(t, 5, decide.Ready)
	w.pods[0].Ready = false
	w.declaration.Replicas, w.declaration.Generation = 1, 2
	if p := w.decide(); p.Replicas != 2 || len(p.Warnings) > 0 {
		t.Errorf("declared, it becomes %d pods, and warns %q", p.Replicas, p.Warnings)
	}
	w.has(t, 1, decide.Ready) // a ReplicaSet ended the one in use
	w.pods[0].Labels["session"], w.pods[0].Ready = "x", false
	w.covers = []decide.Cover{pausing}
	w.has(t, 0, decide.Paused)
}

// TestARolloutEndsNoMoreThanItHasTo: during a rollout, a scale-down is spread over the old pods
// and the new ones, in use or not.
func TestARolloutEndsNoMoreThanItHasTo(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) { d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 8 }))
	w.has(t, 2, decide.Ready)
	w.pods[0].Labels["session"], w.pods[1].Labels["session"] = "x", "x"
	w.has(t, 4, decide.Ready)
	delete(w.pods[1].Labels, "session")
	w.live.Status.UpdatedReplicas = 1
	if p := w.decide(); len(p.Decisions) > 0 || p.Replicas != 4 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].String(), "rollout") {
		t.Errorf("decided %v, and warns %q", p.Decisions, p.Warnings)
	}
	w.live.Status.UpdatedReplicas = 4
	w.has(t, 3, decide.Ready)
}

func TestADeploymentIsTakenOverByItsUID(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) { d.DeploymentUID = "theirs" }))
	w.live = w.declaration.InitialDeployment("", 0)
	w.live.UID, w.live.Annotations = "theirs", nil
	w.live.Spec.Template.Spec.Containers[0].Name = "main"
	if p := w.decide(); len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindOwn {
		t.Fatalf("decided %v, refused %v", p.Decisions, p.Refused)
	}
	w.has(t, 2, decide.Ready)
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
