package decide_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestPodStandings: each pod as one thing, and none of a Deployment that is another's.
func TestPodStandings(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.settle()
	w.pods = []stockpool.Pod{
		{Name: "used", Ready: true, Node: "n", Labels: map[string]string{"session": "x"}},
		{Name: "ready", Ready: true, Node: "n"},
		{Name: "waits", Unschedulable: "no room"},
		{Name: "pulls", Node: "n", Waiting: "ImagePullBackOff"},
		{Name: "new"},
		{Name: "starts", Node: "n"},
		{Name: "ends", Ready: true, Ending: true, Labels: map[string]string{"session": "x"}},
		{Name: "over", Phase: "Failed"},
		{Name: "forged", Ready: true, Node: "n", Mismatch: "it has no container runtime"},
	}
	got := map[string]string{}
	for _, s := range decide.Standings(w.situation(w.observation())) {
		got[s.Pod] = string(s.CountsAs) + ": " + s.Why.String()
	}
	want := map[string]string{
		"used": "in use: allocated_selector selects it", "ready": "available: it is ready, and not in use", "waits": "pending: it waits for a node",
		"pulls": "pending: ImagePullBackOff", "new": "pending: it has no node yet", "starts": "pending: it is not ready yet",
		"ends": "nothing: it is being deleted", "over": "nothing: it has ended: Failed",
		"forged": "pending: it differs from its Deployment's template: it has no container runtime",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.journal.DeploymentUID = "another"
	if list := decide.Standings(w.situation(w.observation())); len(list) != 0 {
		t.Errorf("of another's Deployment: %+v", list)
	}
}

// TestAPausedPoolWhosePodsEndInYearsIsPausing: they hold their GPUs until they are gone.
func TestAPausedPoolWhosePodsEndInYearsIsPausing(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.settle()
	pods := slices.Clone(w.pods)
	w.covers = []decide.Cover{{Budget: "team-a", Exceeded: true, Pauses: true, Reason: because("the budget team-a is exceeded")}}
	w.do(w.decide(), alive)
	for n := range pods {
		pods[n].Ending = true
	}
	w.pods = pods
	p := w.decide()
	w.keep(p.Journal)
	if p.Status.Phase != decide.Pausing || !strings.Contains(strings.Join(p.Warnings.Texts(), "\n"), "2 pods still hold GPUs") || !p.Journal.Pausing {
		t.Errorf("while its pods end, it is %s, and the warnings are %q", p.Status.Phase, p.Warnings)
	}
	w.pods = nil
	if p = w.decide(); p.Status.Phase != decide.Paused || p.Journal.Pausing {
		t.Errorf("once they are gone, it is %s", p.Status.Phase)
	}
}

// TestAForgedPodIsNoStock: a ready pod with all labels of the pool is reported, and the pool is
// not Ready with it.
func TestAForgedPodIsNoStock(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.settle()
	w.pods[0].Mismatch = "its container runtime asks for 0 nvidia.com/gpu, not 1"
	p := w.decide()
	named := strings.Contains(strings.Join(p.Warnings.Texts(), "\n"), w.pods[0].Name)
	if p.Status.Available != 1 || p.Status.Replicas != 2 || p.Status.Phase == decide.Ready || !named {
		t.Errorf("it is %+v, and the warnings are %q", p.Status, p.Warnings)
	}
}
