package nodes

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// TestNodes plays events of pools whose instances are nodes, in parallel and in one cluster.
func TestNodes(t *testing.T) {
	t.Parallel()
	// Pods of a node that was deleted go at once, not after a minute.
	server := kubetest.StartOwn(t, "--pod-gc-every=500ms", "--pod-gc-quarantine=500ms")
	for n, scene := range []struct {
		name string
		play func(*rig)
	}{
		{"reclaimed with notice", withNotice},
		{"reclaimed without notice", withoutNotice},
		{"a scale-in that is delayed", delayedScaleIn},
		{"machines that never join", neverJoin},
		{"a budget exceeded and recovered", budgetExceeded},
		{"ambiguous nodes", ambiguousNodes},
	} {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			scene.play(newRig(t, server, 100*n))
		})
	}
}

// withoutNotice: the instance disappears, and its pods move once its node is deleted, after two
// observations a minute apart.
func withoutNotice(r *rig) {
	r.create(2, 3)
	r.deploy(2)
	before := r.own()
	lost, kept := before[0], before[1]
	if _, err := r.sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{lost}}); err != nil {
		r.t.Fatal(err)
	}
	r.silent(lost)
	r.says(r.reconcile(), "reclaimed", "launched 1")
	fresh := r.launched(before)
	r.audit.Wants(r.t, "once it is missed", "RunInstances "+fresh+" ok")
	r.fleet.ready(r.t, 2)
	r.pass(30 * time.Second)
	r.reconcile()
	r.audit.Wants(r.t, "half a minute later", "mark "+nodeOf(fresh))
	if r.node(lost) == nil {
		r.t.Fatal("the node is gone after one look")
	}
	r.pass(31 * time.Second)
	r.says(r.reconcile(), "deleted", nodeOf(lost))
	r.audit.Wants(r.t, "a minute later", "delete "+nodeOf(lost))
	r.runs(2)
	r.left(fresh, kept)
}

// delayedScaleIn: while a disruption budget allows none of its pods' evictions, the
// machine stays, and nothing is ended.
func delayedScaleIn(r *rig) {
	r.create(3, 3)
	r.deploy(3)
	guards := r.server.Client().PolicyV1().PodDisruptionBudgets(r.namespace)
	guard := kubetest.Create(r.t, r.server, kubetest.PodDisruptionBudget(r.namespace, "work", 3, map[string]string{"app": "work"}))
	kubetest.WaitFor(r.t, "the disruption budget to be counted", counted(guards, guard.Name, 3))
	before, pods := r.own(), r.runs(3)
	state := r.update(2, 2, 2*time.Second)
	r.says(join(state.AllWarnings().Texts()), "1 node was being drained")
	printed := r.reconcile()
	victim := cordoned(r, before)
	pod := pods[victim]
	r.says(printed, "its node "+nodeOf(victim)+" has been draining since", "1 pod left", "violate the pod's disruption budget")
	r.audit.Wants(r.t, "while the disruption budget allows no eviction", "cordon "+nodeOf(victim), "evict "+pod.Name+" 429")
	if now := r.runs(3); now[victim].UID != pod.UID {
		r.t.Errorf("the pod %s was ended", pod.Name)
	}

	two := intstr.FromInt(2)
	guard, err := guards.Get(r.t.Context(), guard.Name, metav1.GetOptions{})
	if err == nil {
		guard.Spec.MinAvailable = &two
		_, err = guards.Update(r.t.Context(), guard, metav1.UpdateOptions{})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	kubetest.WaitFor(r.t, "the disruption budget to be counted", allowed(guards, guard.Name, 1))
	r.reconcile()
	r.gone(pod)
	r.reconcile()
	r.audit.Wants(r.t, "once it allows one", "evict "+pod.Name, "TerminateInstances "+victim+" ok")
	r.silent(victim)
	r.reconcile() // which misses it
	r.pass(61 * time.Second)
	r.reconcile()
	r.audit.Wants(r.t, "after its end", "delete "+nodeOf(victim))
	r.runs(2)
	r.left(without(before, victim)...)
}

// neverJoin: machines that never become nodes are replaced, here after they end, as there
// is no room above the maximum. After two in a row it is the configuration's fault, and
// the third stays however long it takes.
func neverJoin(r *rig) {
	r.create(2, 2)
	r.deploy(2)
	r.fleet.breaks(true)
	before := r.own()
	lost, kept := before[0], before[1]
	if _, err := r.sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{lost}}); err != nil {
		r.t.Fatal(err)
	}
	r.silent(lost)
	r.reconcile()
	first := r.launched(before)
	r.audit.Wants(r.t, "once one is missed", "RunInstances "+first+" ok")
	r.reconcile() // which sees it run
	r.watch(10 * time.Minute)
	r.audit.Wants(r.t, "while it may join still", "delete "+nodeOf(lost))
	late := first
	for range 2 {
		there := r.own()
		r.pass(5 * time.Minute)
		r.says(r.reconcile(), late+" needs a replacement: it never became a Ready node within the 15m of join_timeout")
		next := r.launched(there)
		r.audit.Wants(r.t, "when "+late+" did not join", "TerminateInstances "+late+" ok", "RunInstances "+next+" ok")
		r.reconcile()
		r.watch(10 * time.Minute)
		late = next
	}
	for range 3 {
		r.pass(time.Hour)
		r.says(r.reconcile(), "replacement is suspended: 2 instances in a row failed before they had worked for an hour", "gpupool release")
	}
	r.audit.Wants(r.t, "for hours")

	r.fleet.breaks(false)
	r.fleet.ready(r.t, 2)
	r.reconcile() // which sees it join
	r.pass(time.Hour)
	text := r.reconcile()
	if r.says(text, "are replaced again, which was suspended since"); strings.Contains(text, "replacing is suspended") {
		r.t.Errorf("one has worked for an hour:\n%s", text)
	}
	r.audit.Wants(r.t, "once one has worked for an hour", "mark "+nodeOf(late))
	r.runs(2)
	r.left(kept, late)
}
