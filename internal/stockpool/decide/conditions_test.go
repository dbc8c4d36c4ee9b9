package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

func available(d *stockpool.Declaration) {
	d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 8
}

// ready is the world of a pool that is ready.
func ready(t *testing.T, changes ...func(*stockpool.Declaration)) *world {
	t.Helper()
	w := newWorld(declared(changes...))
	w.has(t, w.declaration.Replicas, decide.Ready)
	return w
}

func (w *world) fail(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus) {
	w.live.Status.Conditions = append(w.live.Status.Conditions,
		appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: status, Message: "another condition"},
		appsv1.DeploymentCondition{Type: kind, Status: status, Message: "what the controller reports"})
}

// shown is a condition as people read it.
type shown struct{ Type, Status, Reason, Message string }

func show(c decide.Condition) shown { return shown{c.Type, c.Status, c.Reason, c.Text()} }

// TestConditionsShowTheDeployment and its pods, each with the phase that follows.
func TestConditionsShowTheDeployment(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(w *world)
		want   shown
		phase  decide.Phase
	}{
		"in sync": {func(*world) {}, shown{Type: decide.Synced, Status: "True", Reason: "Applied"}, decide.Ready},
		"deleting": {func(w *world) { w.live.DeletionTimestamp = &metav1.Time{Time: noon} }, shown{
			Type: decide.Synced, Status: "False", Reason: "Deleting", Message: "its Deployment is being deleted, and is created again once it is gone",
		}, decide.Ready},
		"the deadline is exceeded": {func(w *world) { w.fail(appsv1.DeploymentProgressing, corev1.ConditionFalse) }, shown{
			Type: decide.RolledOut, Status: "False", Reason: "ProgressDeadlineExceeded", Message: "what the controller reports",
		}, decide.Degraded},
		"it fails before a pod serves": {func(w *world) {
			w.fail(appsv1.DeploymentProgressing, corev1.ConditionFalse)
			w.live.Status.ReadyReplicas = 0
		}, shown{
			Type: decide.RolledOut, Status: "False", Reason: "ProgressDeadlineExceeded", Message: "what the controller reports",
		}, decide.Degraded},
		"it progresses": {func(w *world) { w.fail(appsv1.DeploymentProgressing, corev1.ConditionTrue) }, shown{
			Type: decide.RolledOut, Status: "True", Reason: "Complete",
		}, decide.Ready},
		"pods cannot be created": {func(w *world) { w.fail(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue) }, shown{
			Type: decide.RolledOut, Status: "False", Reason: "ReplicaFailure", Message: "what the controller reports",
		}, decide.Degraded},
		"pods could not be created": {func(w *world) { w.fail(appsv1.DeploymentReplicaFailure, corev1.ConditionFalse) }, shown{
			Type: decide.RolledOut, Status: "True", Reason: "Complete",
		}, decide.Ready},
		"one old pod is left": {func(w *world) { w.live.Status.UpdatedReplicas, w.live.Status.Replicas = 2, 3 }, shown{
			Type: decide.RolledOut, Status: "Unknown", Reason: "Progressing", Message: "2 of 2 pods are up to date, and 1 older one is left",
		}, decide.Progressing},
		"one new pod is missing": {func(w *world) { w.live.Status.UpdatedReplicas, w.live.Status.Replicas = 1, 1 }, shown{
			Type: decide.RolledOut, Status: "Unknown", Reason: "Progressing", Message: "1 of 2 pods are up to date",
		}, decide.Progressing},
		"the controller has not observed it": {func(w *world) { w.live.Generation = w.live.Status.ObservedGeneration + 1 }, shown{
			Type: decide.RolledOut, Status: "Unknown", Reason: "Progressing", Message: "2 of 2 pods are up to date",
		}, decide.Progressing},
		"pods do not start": {func(w *world) {
			w.pods[0].Ready, w.pods[0].Waiting = false, "ImagePullBackOff"
			w.pods[1].Ready, w.pods[1].Waiting = false, "CrashLoopBackOff"
			w.pods = append(w.pods, stockpool.Pod{Name: "over", Phase: "Failed", Waiting: "Error"}, stockpool.Pod{Name: "x", Waiting: "CrashLoopBackOff"})
		}, shown{
			Type: decide.Started, Status: "False", Reason: "Waiting", Message: "1 pod waits: ImagePullBackOff, 2 pods wait: CrashLoopBackOff",
		}, decide.Pending},
		"pods start": {func(*world) {}, shown{Type: decide.Started, Status: "True", Reason: "Started"}, decide.Ready},
		"one pod has no node": {func(w *world) {
			w.pods[0].Ready, w.pods[0].Unschedulable = false, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available"
		}, shown{
			Type: decide.Scheduled, Status: "False", Reason: "NoRoom",
			Message: "1 pod waits for a node: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu",
		}, decide.Degraded},
		"no budget": {func(*world) {}, shown{Type: decide.WithinBudget, Status: "True", Reason: "NoBudget"}, decide.Ready},
		"a budget that is not used up": {func(w *world) { w.covers = []decide.Cover{{Budget: "team-a"}} }, shown{
			Type: decide.WithinBudget, Status: "True", Reason: "BelowLimit",
		}, decide.Ready},
		"unknown usage": {func(w *world) { w.covers = []decide.Cover{unknown} }, shown{
			Type: decide.WithinBudget, Status: "Unknown", Reason: "UnknownUse", Message: "usage of budget/team-a is unknown",
		}, decide.Ready},
	} {
		w := ready(t)
		tt.change(w)
		s := w.decide().Status
		if got := show(s.Of(tt.want.Type)); got != tt.want || s.Phase != tt.phase {
			t.Errorf("%s: it is %s with %+v,\nwant %s with %+v", name, s.Phase, got, tt.phase, tt.want)
		}
	}
}

// TestStockIsShortBelowItsMaximum, and complete with enough pods.
func TestStockIsShortBelowItsMaximum(t *testing.T) {
	t.Parallel()
	w := ready(t, available)
	if of := show(w.decide().Status.Of(decide.Stocked)); of != (shown{Type: decide.Stocked, Status: "True", Reason: "Available"}) {
		t.Errorf("with enough, it is %+v", of)
	}
	w.pods[0].Ready = false
	for maximum, word := range map[int]string{2: "Short", 1: decide.AtMaximum} {
		w.declaration.Maximum = maximum
		if of := w.decide().Status.Of(decide.Stocked); of.Reason != word || !strings.HasPrefix(of.Message.String(), "1 of 2 are available, and 0 are in use") {
			t.Errorf("with at most %d, it is %+v", maximum, of)
		}
	}
}

// TestReasonsOfApplications: each kind of application says why it is due.
func TestReasonsOfApplications(t *testing.T) {
	t.Parallel()
	replicas := func(n int) func(*world) {
		return func(w *world) { w.declaration.Replicas, w.declaration.Generation = n, w.declaration.Generation+1 }
	}
	covered := func(c ...decide.Cover) func(*world) { return func(w *world) { w.covers = c } }
	settle := func(w *world) { w.settle() }
	scaled := func(n int32) func(*world) { return func(w *world) { *w.live.Spec.Replicas = n } }
	taken := func(most int) func(*world) {
		return func(w *world) {
			for n := range w.pods {
				if delete(w.pods[n].Labels, "session"); n < most {
					w.pods[n].Labels["session"] = "x"
				}
			}
		}
	}
	for name, tt := range map[string]struct {
		pool    []func(*stockpool.Declaration)
		steps   []func(*world)
		refuses bool
		kind    stockpool.Kind
		reasons []string
	}{
		"its image changed": {steps: []func(*world){replicas(2), func(w *world) { w.declaration.Image += "2" }}, kind: stockpool.KindApply,
			reasons: []string{"its declaration changed (generation 2)"}},
		"its Deployment was deleted": {steps: []func(*world){func(w *world) { w.live, w.pods = nil, nil; w.do(w.decide(), alive) }},
			kind: stockpool.KindApply, reasons: []string{"the declaration was not applied to its new Deployment yet"}},
		"interrupted": {steps: []func(*world){replicas(3), func(w *world) { w.do(w.decide(), afterCall) }},
			kind: stockpool.KindApply, reasons: []string{"an interrupted run began it"}},
		"more are declared": {steps: []func(*world){replicas(3)}, kind: stockpool.KindScale, reasons: []string{"its declaration changed (generation 2)"}},
		"fewer are declared while a budget is used up": {steps: []func(*world){covered(exceeded), replicas(1)}, kind: stockpool.KindScale,
			reasons: []string{"its declaration changed (generation 2)", exceeded.Reason.String()}},
		"paused": {steps: []func(*world){covered(pausing)}, kind: stockpool.KindPause, reasons: []string{pausing.Reason.String()}},
		"paused after a run that was killed before it": {steps: []func(*world){covered(pausing), func(w *world) { w.do(w.decide(), beforeCall) }},
			kind: stockpool.KindPause, reasons: []string{pausing.Reason.String()}},
		"paused again": {steps: []func(*world){covered(pausing), settle, covered(), settle, covered(pausing)}, kind: stockpool.KindPause,
			reasons: []string{pausing.Reason.String()}},
		"resumed": {steps: []func(*world){covered(pausing), settle, covered()}, kind: stockpool.KindResume, reasons: []string{"no budget pauses it"}},
		"scaled up while it is paused, which cannot be applied": {
			steps: []func(*world){covered(pausing), settle, scaled(3)}, refuses: true, kind: stockpool.KindPause,
			reasons: []string{"it was scaled up", pausing.Reason.String()},
		},
		"scaled up after a pause, and then declared so": {steps: []func(*world){covered(pausing), settle, covered(), scaled(1), replicas(1)},
			kind: stockpool.KindScale, reasons: []string{"its declaration changed (generation 2)"}},
		"scaled down while a budget is used up": {steps: []func(*world){covered(exceeded), scaled(1)}, kind: stockpool.KindApply,
			reasons: []string{"it was scaled down and may not grow", exceeded.Reason.String()}},
		"scaled up to less than declared while a budget is used up": {
			steps: []func(*world){replicas(5), settle, covered(exceeded), scaled(2), settle, scaled(3)},
			kind:  stockpool.KindApply, reasons: []string{"it was scaled up, although it may not grow", exceeded.Reason.String()}},
		"scaled down during a rollout, with pods in use": {
			pool:  []func(*stockpool.Declaration){available},
			steps: []func(*world){taken(2), settle, taken(3), settle, taken(1), scaled(4), func(w *world) { w.control(); w.live.Status.UpdatedReplicas = 1 }},
			kind:  stockpool.KindApply, reasons: []string{"it was scaled down", "3 pods are desired, and 4 stay: a rollout is in progress, and a scale-down " +
				"during it deletes old and new pods, including those in use"},
		},
		"scaled up during a rollout, with a pod in use": {
			pool: []func(*stockpool.Declaration){available},
			steps: []func(*world){func(w *world) { w.pods[0].Labels["session"] = "x" }, settle, scaled(4),
				func(w *world) { w.control(); w.live.Status.UpdatedReplicas = 1 }},
			kind: stockpool.KindApply, reasons: []string{"it was scaled up", "3 pods are desired, and 4 stay: a rollout is in progress, and a scale-down " +
				"during it deletes old and new pods, including those in use"},
		},
		"no budget is used up any longer": {steps: []func(*world){covered(exceeded), replicas(5), func(w *world) { w.declaration.Image += "2" },
			settle, covered()}, kind: stockpool.KindScale,
			reasons: []string{"no budget keeps it from growing"}},
		"a pod is taken": {pool: []func(*stockpool.Declaration){available}, steps: []func(*world){func(w *world) { w.pods[0].Labels["session"] = "x" }},
			kind: stockpool.KindScale, reasons: []string{"1 of its pods is in use, and 2 must be available"}},
		"two pods are taken": {pool: []func(*stockpool.Declaration){available},
			steps: []func(*world){func(w *world) { w.pods[0].Labels["session"], w.pods[1].Labels["session"] = "x", "x" }},
			kind:  stockpool.KindScale, reasons: []string{"2 of its pods are in use, and 2 must be available"}},
		"a pod is released while a budget is used up": {
			pool: []func(*stockpool.Declaration){available},
			steps: []func(*world){func(w *world) { w.pods[0].Labels["session"] = "x" }, settle, covered(exceeded),
				func(w *world) { delete(w.pods[0].Labels, "session") }},
			kind: stockpool.KindScale, reasons: []string{exceeded.Reason.String()},
		},
	} {
		w := ready(t, tt.pool...)
		for _, step := range tt.steps {
			step(w)
		}
		s := w.situation(w.observation())
		s.Refuses = tt.refuses
		p := decide.Decide(s)
		if len(p.Decisions) == 0 {
			t.Errorf("%s: nothing is decided: %+v", name, p.Status)
			continue
		}
		if d := p.Decisions[len(p.Decisions)-1]; d.Kind != tt.kind || !slices.Equal(d.Reasons.Texts(), tt.reasons) {
			t.Errorf("%s: %s for %q, want %s for %q", name, d.Kind, d.Reasons.Texts(), tt.kind, tt.reasons)
		}
	}
}

// TestMissingNamespaceIsRefused, and nothing is created.
func TestMissingNamespaceIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	p := decide.Decide(w.situation(stockpool.Observation{ClusterUID: clusterUID, At: noon, NamespaceMissing: true}))
	if len(p.Decisions) > 0 || p.Refused == nil || !strings.Contains(p.Refused.Error(), "the cluster has no namespace ml. Create it first") {
		t.Errorf("decided %v, refused %v", p.Decisions, p.Refused)
	}
}

// TestDeletedDeploymentIsLeftUntilItIsGone.
func TestDeletedDeploymentIsLeftUntilItIsGone(t *testing.T) {
	t.Parallel()
	w := ready(t, available)
	w.live.DeletionTimestamp = &metav1.Time{Time: noon}
	*w.live.Spec.Replicas = 7
	if p := w.decide(); len(p.Decisions) > 0 || p.Ask || p.Refused != nil {
		t.Errorf("decided %v", p.Decisions)
	}
	w.live = nil
	p := w.decide()
	if len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindCreate || p.Decisions[0].Replicas != 2 ||
		p.Decisions[0].Reasons[0].Code != reason.DeploymentDeleted().Code {
		t.Errorf("once it is gone: %+v", p.Decisions)
	}
	w.pods[0].Labels["session"] = "x"
	w.covers = []decide.Cover{exceeded}
	if p := w.decide(); p.Decisions[0].Replicas != 2 {
		t.Errorf("while a budget is used up, it is created with %d pods", p.Decisions[0].Replicas)
	}
	w.covers = []decide.Cover{pausing}
	if p := w.decide(); p.Decisions[0].Replicas != 0 {
		t.Errorf("paused, it is created with %d pods", p.Decisions[0].Replicas)
	}
}

// TestForeignDeploymentNamesTheWayOut, which depends on a record.
func TestForeignDeploymentNamesTheWayOut(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.live = w.declaration.InitialDeployment("", 0)
	w.live.UID = "foreign"
	for recorded, want := range map[bool]string{
		true: "destroy this stock pool, which leaves it, then run terraform import ADDRESS ml/pool-g1", false: "remove the stock pool from the state",
	} {
		s := w.situation(w.observation())
		s.Recorded = recorded
		if p := decide.Decide(s); p.Refused == nil || !strings.Contains(p.Refused.Error(), want) || strings.Contains(p.Refused.Error(), "is gone") {
			t.Errorf("recorded %t: %v", recorded, p.Refused)
		}
	}
}

// TestBudgetsThatCountPodsAreRemembered until the pods are gone, if they limit the pool.
func TestBudgetsThatCountPodsAreRemembered(t *testing.T) {
	t.Parallel()
	w := ready(t)
	w.covers = []decide.Cover{
		{Budget: "a", ByPods: true, Exceeded: true, Reason: because("x"), WaitsUntil: noon.Add(time.Hour)},
		{Budget: "b", ByPods: true, Unknown: true, Reason: because("y"), WaitsUntil: noon.Add(time.Hour)}, {Budget: "c", ByPods: true}, {Budget: "d",
			Exceeded: true, Reason: because("z")},
	}
	if got := w.decide().Journal.CountedBy; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("it is counted by %q", got)
	}
}

// TestRolloutIsNotHeldByThePodsThatItReplaces while it is in progress, and in time.
func TestRolloutIsNotHeldByThePodsThatItReplaces(t *testing.T) {
	t.Parallel()
	held := func(w *world) bool { return w.decide().Status.Of(decide.WithinBudget).Status != "True" }
	w := ready(t)
	w.covers = []decide.Cover{{Budget: "a", ByPods: true, Exceeded: true, Reason: because("x"), WaitsUntil: w.now.Add(time.Minute)}}
	if !held(w) {
		t.Error("without a rollout, it does not count")
	}
	w.live.Status.UpdatedReplicas = 1
	if held(w) {
		t.Error("during a rollout, it counts")
	}
	w.now = w.now.Add(time.Minute)
	if !held(w) {
		t.Error("after the time of a rollout, it does not count")
	}
	w.covers[0].WaitsUntil = w.now.Add(time.Minute)
	w.live.Status.UpdatedReplicas = 2
	w.declaration.Image += "2"
	if held(w) {
		t.Error("before a rollout that is due, it counts")
	}
}

// TestDriftThatIsRevertedCountsForNoBudget, and drift that an application leaves does.
func TestDriftThatIsRevertedCountsForNoBudget(t *testing.T) {
	t.Parallel()
	for label, within := range map[string]string{"team": "True", "undeclared": "False"} {
		w := ready(t)
		w.covers = []decide.Cover{{Budget: "b", Exceeded: true, ByDrift: true, Reason: because("x")}}
		w.live.Spec.Template.Labels[label] = "b"
		o := w.observation()
		o.WouldBe = o.Deployment.DeepCopy()
		o.WouldBe.Spec.Template.Labels["team"] = w.declaration.Labels["team"]
		if of := decide.Decide(w.situation(o)).Status.Of(decide.WithinBudget); of.Status != within {
			t.Errorf("with another label %s, it is %+v", label, of)
		}
	}
}
