package stockpool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestDecisionsAreRead: each kind has words of its own.
func TestDecisionsAreRead(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for _, k := range stockpool.Kinds() {
		got[stockpool.Decision{
			Kind: k.Kind, Was: 3, Replicas: 2, Spared: []string{"a"}, Released: []string{"b", "c"}, Reasons: reason.Reasons{reason.OtherVersion("so")},
		}.String()] = true
	}
	for _, want := range []string{
		"create its Deployment with 2 replicas, for the pods of the deleted one: so", "take over its Deployment: so", "apply its declaration: so",
		"revert drift of its Deployment: so", "scale its Deployment from 3 to 2: so", "pause its Deployment from 3 to 2: so",
		"resume its Deployment from 3 to 2: so",
		"mark 1 pod as in use, to delete last; 2 pods as no longer in use: so", "create its PodDisruptionBudget: so",
		"delete its PodDisruptionBudget: so",
	} {
		if !got[want] {
			t.Errorf("none reads %q: %v", want, got)
		}
	}
}

// TestADeploymentIsDeclared as the one that would be applied to it.
func TestADeploymentIsDeclared(t *testing.T) {
	t.Parallel()
	d := declared(func(d *stockpool.Declaration) {
		d.CPU, d.Env, d.Args = "500m", map[string]string{"A": "b"}, []string{"serve"}
		d.Ports, d.Tolerations = []stockpool.Port{{Port: 80, Name: "http"}}, []stockpool.Toleration{{Key: "gpu", Effect: "NoSchedule"}}
		d.NodeSelector, d.RuntimeClassName, d.ImagePullSecrets = map[string]string{"gpu": "t4"}, "nvidia", []string{"registry"}
		d.UID, d.Generation, d.AllocatedSelector = "", 0, ""
	})
	got, err := stockpool.Observation{Deployment: d.Deployment("", 2), ClusterUID: clusterUID}.Declaration()
	if diff := cmp.Diff(d, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestAnInterruptedScaleIsReported by the next journal, if it took effect.
func TestAnInterruptedScaleIsReported(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	d := declared()
	before := d.Deployment("", 1)
	j := stockpool.Journal{}.RecordCreate(d, now).BeginCreate("token").RecordOwner("uid", "runtime").
		RecordGate(d, reason.Reasons{reason.OtherVersion("used up")}, now).RecordGate(d, nil, now.Add(time.Hour))
	begun := j.Begin(d, stockpool.Decision{Kind: stockpool.KindScale, Was: 1, Replicas: 2}, before, now)
	if after, applied := begun.Recover(before); applied || len(after.Unreported) != len(j.Unreported) {
		t.Errorf("nothing was done, and it reports %v", after.Unreported)
	}
	live := d.Deployment("", 2)
	live.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: stockpool.FieldManager, Time: &metav1.Time{Time: now}}}
	after, applied := begun.Recover(live)
	var kinds []history.Kind
	for _, e := range after.Unreported {
		kinds = append(kinds, e.Kind)
	}
	want := []history.Kind{history.Create, history.GateClosed, history.GateOpened, history.Scale}
	if diff := cmp.Diff(want, kinds); diff != "" || !applied {
		t.Errorf("applied %v (-want +got):\n%s", applied, diff)
	}
	done := begun.RecordApply(d, stockpool.Decision{Replicas: 2}, live, now)
	if done.Drifted(live) || !done.Drifted(before) || done.Applied != d.Hash("runtime") {
		t.Errorf("after it: %+v", done)
	}
}
