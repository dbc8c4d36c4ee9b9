package decide_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

func TestAGuardIsOfItsDeployment(t *testing.T) {
	t.Parallel()
	d := declared(func(d *stockpool.Declaration) {
		d.PodDisruptionBudget = &stockpool.PodDisruptionBudget{MinAvailable: 1}
	})
	w := newWorld(d)
	for range 2 {
		w.do(w.decide(), alive)
	}
	p := w.decide()
	if len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindGuard {
		t.Fatalf("decided %v", p.Decisions)
	}
	observed := w.observation()
	observed.Guard = d.Guard(w.live)
	if p := decide.Decide(w.situation(observed)); len(p.Decisions) > 0 {
		t.Errorf("with its guard it decides %v", p.Decisions)
	}
	unlabeled := observed
	unlabeled.Guard = d.Guard(w.live)
	unlabeled.Guard.Labels = nil
	if p := decide.Decide(w.situation(unlabeled)); len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindGuard {
		t.Errorf("with a guard that no observation finds it decides %v", p.Decisions)
	}
	w.declaration.PodDisruptionBudget = nil
	if p := decide.Decide(w.situation(observed)); len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindUnguard {
		t.Errorf("without a declared one it decides %v", p.Decisions)
	}
	observed.Guard.OwnerReferences[0].UID = "another"
	w.declaration = d
	if p := decide.Decide(w.situation(observed)); len(p.Decisions) > 0 || len(p.Warnings) != 1 {
		t.Errorf("of somebody else's it decides %v, and warns %v", p.Decisions, p.Warnings)
	}
}

func TestAPausedRolloutIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.settle()
	w.live.Spec.Paused = true
	if p := w.decide(); !slices.ContainsFunc(p.Warnings, func(r reason.Reason) bool {
		return strings.Contains(r.String(), "kubectl rollout resume deployment/pool-g1 -n ml")
	}) {
		t.Errorf("it warns of %v", p.Warnings)
	}
}
