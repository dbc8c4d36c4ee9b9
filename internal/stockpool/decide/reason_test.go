package decide_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// madeByRuns are the codes of stock pools that reconcile/stockpools makes: of covers, of operations and of deletions.
var madeByRuns = []reason.Code{
	"pool_expired", "drift_unknown", "deletion_unfinished", "other_autoscaler",
	"cannot_grow", "cannot_grow_at_maximum", "pods_not_ready", "pods_not_ready_for", "pods_unsettled", "condition_unmet",
	"cover_unknown", "usage_unknown", "budget_missing", "used_up", "used_up_by_drift", "used_up_not_paused",
	"no_resources_counted", "template_uncertain", "protection_unknown", "pods_protected", "protected_pod", "declared_together",
	"foreign_left", "retained", "retained_size", "pods_left_running", "destroy_lost",
}

// TestEveryCodeIsMade: each code of stock pools that a run does not make is made in one of these worlds.
func TestEveryCodeIsMade(t *testing.T) {
	t.Parallel()
	found := codes{}
	for _, steps := range everyWorld() {
		w := newWorld(declared())
		w.see = func(p decide.Plan) { found.plan(p) }
		for _, step := range steps {
			step(w)
		}
		found.plan(w.decide())
		for _, s := range decide.Standings(w.situation(w.observation())) {
			found.reasons(s.Why)
		}
		for _, e := range w.history {
			found.reasons(e.Reasons...)
		}
	}
	found.rooms()
	for _, code := range cataloged(t) {
		if made := found[code]; made == slices.Contains(madeByRuns, code) {
			t.Errorf("%s is made by a world: %t, and listed as made by runs: %t", code, made, made)
		}
	}
}

// cataloged are the codes of stock pools in the catalog.
func cataloged(t *testing.T) (list []reason.Code) {
	t.Helper()
	source, err := os.ReadFile("../../reason/stock_pool.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?:none|one|two|three|four)(?:\[[^]]*\])?\("([a-z_]+)"`).FindAllSubmatch(source, -1) {
		list = append(list, reason.Code(m[1]))
	}
	if len(list) < 50 {
		t.Fatalf("only %d codes were found", len(list))
	}
	return list
}

type codes map[reason.Code]bool

func (c codes) plan(p decide.Plan) {
	for _, d := range p.Decisions {
		c.reasons(d.Reasons...)
	}
	if p.Refused != nil {
		c.reasons(p.Refused.Because())
	}
	c.reasons(p.Warnings...)
	c.status(p.Status)
}

func (c codes) status(s decide.Status) {
	for _, of := range s.Conditions {
		c.reasons(of.Message)
		c.reasons(of.Rooms...)
	}
}

func (c codes) reasons(list ...reason.Reason) {
	for _, r := range list {
		c[r.Code] = true
		for _, a := range r.Args {
			switch a := a.(type) {
			case reason.Reason:
				c.reasons(a)
			case reason.Reasons:
				c.reasons(a...)
			case reason.Facts:
				c.reasons(a...)
			case reason.Some:
				c.reasons(a...)
			}
		}
	}
}

// rooms are those for pods that wait.
func (c codes) rooms() {
	w := newWorld(declared(func(d *stockpool.Declaration) {
		d.NodeSelector = map[string]string{"gpu": "t4", "node.kubernetes.io/instance-type": "GN7"}
	}))
	status := waiting(w)
	room := func(pool string, grows bool, why string, types ...string) stockpool.Room {
		return stockpool.Room{
			Pool: pool, ClusterUID: clusterUID, Labels: map[string]string{"gpu": "t4"}, InstanceTypes: append(types, "GN7"), Grows: grows, Why: why,
		}
	}
	for _, rooms := range [][]stockpool.Room{
		nil, {{ClusterUID: clusterUID}}, {room("a", true, "x"), room("b", false, "x", "GN10"), room("c", false, ""), room("d", false, "x")},
	} {
		c.status(status.WithRooms(w.declaration, rooms, nil))
	}
	c.status(status.WithRooms(w.declaration, nil, errors.New("unknown")))
}

type step = func(*world)

func settled(w *world) { w.settle() }

func sized(pods int32) step {
	return func(w *world) { *w.live.Spec.Replicas = pods; w.control() }
}

func used(most int) step {
	return func(w *world) {
		for n := range w.pods[:most] {
			w.pods[n].Labels["session"] = "x"
		}
	}
}

func covered(by ...decide.Cover) step { return func(w *world) { w.covers = by } }

func declares(change func(*stockpool.Declaration)) step {
	return func(w *world) { change(&w.declaration); w.declaration.Generation++ }
}

func pods(n int) step {
	return declares(func(d *stockpool.Declaration) { d.Replicas = n })
}

// rolling is a rollout that has left old pods.
func rolling(w *world) { w.live.Status.UpdatedReplicas = 1; w.live.Status.Replicas = 4 }

// everyWorld are worlds that need each code.
func everyWorld() [][]step {
	list := [][]step{
		{declares(func(d *stockpool.Declaration) {
			d.ManagedBy, d.Owner, d.ExpiresAt = stockpool.ManagedByAPI, "ann", noon.Add(time.Hour)
		}),
			func(w *world) { w.keep(w.journal.RecordCreate(w.declaration, w.now)) }, settled},
		{settled, func(w *world) { w.live, w.pods = nil, nil }, settled},
		{settled, pods(3), func(w *world) { w.do(w.decide(), afterCall) }},
		{settled, covered(pausing), settled, sized(2), settled, covered(), settled},
		{settled, pods(5), settled, covered(exceeded), sized(2), settled, sized(3), settled},
		{settled, pods(5), covered(exceeded), settled, covered(), settled},
		{settled, pods(5), covered(exceeded), func(w *world) { w.declaration.Image += "2" }, settled, covered(), settled},
		{settled, sized(5), settled},
		{func(w *world) { w.do(w.decide(), afterCall) }},
		{settled, func(w *world) {
			w.live.Spec.Template.Spec.Containers[0].Image = "a"
			w.live.ManagedFields = byKubectl()
		}},
		{settled, covered(exceeded), sized(1), settled},
	}
	return slices.Concat(list, worldsOfAvailable(), worldsOfOthers(), worldsOfPods())
}

// worldsOfAvailable keep pods available, and in use.
func worldsOfAvailable() [][]step {
	keeps := declares(available)
	return [][]step{
		{keeps, settled, used(2), settled, used(3), settled, func(w *world) { w.recover(); freed(w, 1) }, sized(4), rolling},
		{keeps, settled, used(1), settled, func(w *world) { freed(w, 1) }, sized(5), rolling},
		{keeps, settled, used(2), settled, func(w *world) { freed(w, 1) }},
		{keeps, settled, used(2), settled, used(1), func(w *world) { freed(w, 1); w.pods[0].Ready = false }},
		{keeps, settled, declares(func(d *stockpool.Declaration) { d.Maximum = 2 }), used(1), func(w *world) { w.pods[0].Ready = false }},
		{keeps, settled, func(w *world) { w.live.Spec.Template.Labels["session"] = "x" }},
	}
}

// freed leaves only some pods in use.
func freed(w *world, used int) {
	for n := used; n < len(w.pods); n++ {
		delete(w.pods[n].Labels, "session")
	}
}

// worldsOfOthers have objects or changes of others.
func worldsOfOthers() [][]step {
	foreign := func(w *world) {
		w.live = w.declaration.InitialDeployment("", 1)
		w.live.UID = "foreign"
	}
	adopted := func(w *world) { foreign(w); w.declaration.DeploymentUID = "foreign" }
	edit := func(change func(*appsv1.Deployment)) step { return func(w *world) { change(w.live) } }
	return [][]step{
		{foreign}, {settled, foreign}, {foreign, func(w *world) { w.recorded = true }}, {adopted, settled},
		{adopted, edit(func(of *appsv1.Deployment) {
			of.Spec.Template.Spec.Containers = append(of.Spec.Template.Spec.Containers, corev1.Container{Name: "b"})
		})},
		{func(w *world) { w.missing = true }},
		{settled, edit(func(of *appsv1.Deployment) {
			of.Spec.Template.Spec.HostNetwork, of.Spec.Template.Spec.Volumes = true, []corev1.Volume{{Name: "v"}}
		})},
		{settled, edit(func(of *appsv1.Deployment) {
			of.Spec.Template.Spec.HostNetwork, of.ManagedFields = true, byKubectl()
		})},
		{settled, edit(func(of *appsv1.Deployment) { of.Spec.Paused = true })},
		{settled, edit(func(of *appsv1.Deployment) { of.DeletionTimestamp = &metav1.Time{Time: noon} })},
		{settled, edit(func(of *appsv1.Deployment) { of.Spec.MinReadySeconds = 3 }), func(w *world) { w.dry = true }},
		{guarding, settled}, {settled, guarding, guarded("another", true)}, {settled, guarding, guarded("", false)},
		{settled, guarding, guarded("", true), declares(func(d *stockpool.Declaration) { d.PodDisruptionBudget = nil })},
	}
}

// byKubectl are managed fields that kubectl edit wrote.
func byKubectl() []metav1.ManagedFieldsEntry {
	set := `{"f:spec":{"f:template":{"f:spec":{"f:containers":{},"f:hostNetwork":{}}}}}`
	return []metav1.ManagedFieldsEntry{{Manager: "kubectl-edit", FieldsV1: metav1.NewFieldsV1(set)}}
}

func guarding(w *world) {
	w.declaration.PodDisruptionBudget = &stockpool.PodDisruptionBudget{MinAvailable: 1}
	w.declaration.Generation++
}

// guarded has a disruption budget of a Deployment; "" is the pool's.
func guarded(of string, labeled bool) step {
	return func(w *world) {
		w.guard = w.declaration.Guard(w.live)
		if of != "" {
			w.guard.OwnerReferences[0].UID = "another"
		}
		if !labeled {
			w.guard.Labels = nil
		}
	}
}

// worldsOfPods have pods that are not ready.
func worldsOfPods() [][]step {
	pod := func(change func(p *stockpool.Pod)) []step {
		return []step{settled, func(w *world) { w.pods[0].Ready = false; change(&w.pods[0]) }}
	}
	return [][]step{
		pod(func(p *stockpool.Pod) { p.Waiting = "ImagePullBackOff" }), pod(func(p *stockpool.Pod) { p.Unschedulable = "0/3 nodes are available" }),
		pod(func(p *stockpool.Pod) { p.Ending = true }), pod(func(p *stockpool.Pod) { p.Phase = "Failed" }), pod(func(p *stockpool.Pod) { p.Node = "" }),
		pod(func(p *stockpool.Pod) { p.Mismatch = "another image" }), pod(func(*stockpool.Pod) {}), {settled, used(1)},
		{settled, covered(pausing), func(w *world) { *w.live.Spec.Replicas = 0 }},
		{settled, rolling}, {settled, func(w *world) { w.live.Status.UpdatedReplicas = 1 }},
		{settled, func(w *world) { w.fail(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue) }},
	}
}
