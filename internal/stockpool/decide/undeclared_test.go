package decide_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestForeignAdditionsAreDrift, and is no reason to end pods that serve.
func TestForeignAdditionsAreDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	if of := w.decide().Status.Of(decide.Synced); of.Status != "True" {
		t.Errorf("untouched, it is %+v", of)
	}
	w.live.Spec.Template.Spec.HostNetwork = true
	w.journal = w.journal.RecordResponse(w.live) // an application leaves it
	p := w.decide()
	of, warnings := p.Status.Of(decide.Synced), strings.Join(p.Warnings.Texts(), "\n")
	if of.Status != "False" || of.Reason != "Drifted" || !strings.Contains(of.Message.String(), "spec.template.spec.hostNetwork = true") ||
		p.Status.Phase != decide.Ready {
		t.Errorf("it is %s, and %+v", p.Status.Phase, of)
	}
	if !strings.Contains(warnings, "has undeclared fields: spec.template.spec.hostNetwork = true") ||
		!strings.Contains(warnings, "kubectl edit deployment/pool-g1 -n ml") {
		t.Errorf("it warns %q", warnings)
	}
}

// TestNoMoreIsAvailableThanItsDeploymentCounts, whatever other pods have its labels.
func TestNoMoreIsAvailableThanItsDeploymentCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	w.live.Status.ReadyReplicas, w.live.Status.Replicas = 1, 2
	w.pods = append(w.pods, w.pods[0], w.pods[1])
	if s := w.decide().Status; s.Available != 1 || s.Replicas != 2 || s.Phase == decide.Ready {
		t.Errorf("it has %d pods, %d available, and is %s", s.Replicas, s.Available, s.Phase)
	}
}

// TestALabelForAllTakesNoPod: pods that are in use from the start would make the pool grow
// to its maximum, and none of them be available.
func TestALabelForAllTakesNoPod(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) { d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 8 }))
	w.has(t, 2, decide.Ready)
	w.live.Spec.Template.Labels["session"] = "x"
	for n := range w.pods {
		w.pods[n].Labels["session"] = "x"
	}
	if p := w.decide(); p.Replicas != 2 || !strings.Contains(strings.Join(p.Warnings.Texts(), "\n"), "each new pod counts as in use") {
		t.Errorf("it is to have %d pods, and warns %q", p.Replicas, p.Warnings)
	}
}

// TestAPausedRolloutIsReported: nothing that is applied reaches the pods.
func TestAPausedRolloutIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	w.live.Spec.Paused = true
	if of := w.decide().Status.Of(decide.RolledOut); of.Reason != "Paused" ||
		!strings.Contains(of.Message.String(), "kubectl rollout resume deployment/pool-g1 -n ml") {
		t.Errorf("of the rollout it says %+v", of)
	}
}
