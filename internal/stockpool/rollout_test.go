package stockpool_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

func TestReplacementFollowsTheStrategy(t *testing.T) {
	t.Parallel()
	rolling := func(most intstr.IntOrString) func(*appsv1.Deployment) {
		return func(of *appsv1.Deployment) {
			of.Spec.Strategy = appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &most},
			}
		}
	}
	for says, change := range map[string]func(of *appsv1.Deployment){
		"a few at a time": rolling(intstr.FromString("25%")), "at once, since its Deployment has maxUnavailable 100%": rolling(intstr.FromString("100%")),
		"at once, since its Deployment has maxUnavailable 4": rolling(intstr.FromInt32(4)),
		"at once, since its Deployment has the strategy Recreate": func(of *appsv1.Deployment) {
			of.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		},
		"once its Deployment, whose rollout somebody paused, is resumed": func(of *appsv1.Deployment) { of.Spec.Paused = true },
	} {
		of := declared().Deployment("", 4)
		change(of)
		if got := stockpool.Replacement(of); got != says {
			t.Errorf("got %q, want %q", got, says)
		}
	}
}

func TestAPausedRolloutIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.settle()
	w.live.Spec.Paused = true
	if p := w.decide(); !slices.ContainsFunc(p.Warnings, func(text string) bool {
		return strings.Contains(text, "kubectl rollout resume deployment/pool-g1 -n ml")
	}) {
		t.Errorf("it warns of %q", p.Warnings)
	}
}

func TestLabelsThatASelectorNeedsAreNamed(t *testing.T) {
	t.Parallel()
	d := declared()
	of := d.Bare("a")
	if err := d.Selects(of); err != nil {
		t.Error(err)
	}
	of.Spec.Selector.MatchLabels = map[string]string{"app": "theirs", "tier": "back"}
	if err := d.Selects(of); err == nil || !strings.Contains(err.Error(), "app=theirs,tier=back") {
		t.Errorf("got %v", err)
	}
}
