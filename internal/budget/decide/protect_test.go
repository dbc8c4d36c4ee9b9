package decide

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func TestProtectedPodsStay(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*budget.Pod){
		"annotated with gpupool/protected": func(p *budget.Pod) { p.Annotations = map[string]string{budget.ProtectedKey: "true"} },
		"labeled with gpupool/protected":   func(p *budget.Pod) { p.Set = set("ml", "team", "a", budget.ProtectedKey, "yes") },
		"its namespace is labeled with": func(p *budget.Pod) {
			p.Set.NamespaceLabels = ledger.LabelsOf(map[string]string{budget.ProtectedKey: "true"})
		},
		"its namespace is protected":                      func(p *budget.Pod) { p.Namespace, p.Set = "gold", set("gold", "team", "a") },
		"its namespace is the system's":                   func(p *budget.Pod) { p.Namespace, p.Set = "kube-system", set("kube-system", "team", "a") },
		"gpupool-system/pod (its namespace is the system": func(p *budget.Pod) { p.Namespace, p.Set = "gpupool-system", set("gpupool-system", "team", "a") },
		"its priority class is protected":                 func(p *budget.Pod) { p.PriorityClassName = "high" },
		"its priority 1000 is not below that of high":     func(p *budget.Pod) { p.Priority = 1000 },
		"its priority is the system's":                    func(p *budget.Pod) { p.Priority = 2_000_000_000 },
		"it is a static pod of its node":                  func(p *budget.Pod) { p.Mirror = true },
	}
	for why, protect := range tests {
		for _, action := range []budget.Action{budget.Pause, budget.Evict} {
			d := enforcing(action)
			d.Selector.Namespaces = nil
			d.Enforce.ProtectedNamespaces, d.Enforce.ProtectedPriorityClass = []string{"gold"}, "high"
			s := situation(d, 100*budget.Hour)
			s.PriorityClasses = map[string]int32{"high": 1000}
			victim := pod("pod", 0)
			protect(&victim)
			s.Pods = []budget.Pod{victim}
			p := Decide(s, nil)
			for _, decision := range p.Decisions {
				if decision.Kind != budget.KindFreeze {
					t.Errorf("%s: %s", why, decision)
				}
			}
			if !strings.Contains(strings.Join(p.Status.Warnings.Texts(), "\n"), why) {
				t.Errorf("%q lacks %q", p.Status.Warnings, why)
			}
		}
	}
}

func TestFalseProtectsNobody(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	victim := pod("pod", 0)
	victim.Annotations = map[string]string{budget.ProtectedKey: "false"}
	s.Pods = []budget.Pod{victim}
	if p := Decide(s, nil); len(evicted(p)) != 1 {
		t.Errorf("%v", p.Decisions)
	}
}

// TestPodsOfUnknownPriorityAreProtected has a pod whose priority class is unknown.
func TestPodsOfUnknownPriorityAreProtected(t *testing.T) {
	t.Parallel()
	s := situation(enforcing(budget.Evict), 100*budget.Hour)
	s.Declaration.Enforce.ProtectedPriorityClass = "gone"
	s.Pods = []budget.Pod{pod("pod", 0)}
	if p := Decide(s, nil); len(evicted(p)) != 0 || !strings.Contains(strings.Join(p.Status.Warnings.Texts(), "\n"), `no priority class "gone"`) {
		t.Errorf("%v, %q", p.Decisions, p.Status.Warnings)
	}
}

// TestWhatAPodSaysOfItselfNeedNotBeHonored: the namespace and the priority class
// are not the tenant's to write.
func TestWhatAPodSaysOfItselfNeedNotBeHonored(t *testing.T) {
	t.Parallel()
	d := enforcing(budget.Evict)
	d.Enforce.HonorPodProtection, d.Enforce.ProtectedPriorityClass = new(false), "high"
	s := situation(d, 100*budget.Hour)
	s.PriorityClasses = map[string]int32{"high": 1000}
	annotated, labeled, guarded, important := pod("annotated", 0), pod("labeled", 0), pod("guarded", 0), pod("important", 1000)
	annotated.Annotations = map[string]string{budget.ProtectedKey: "true"}
	labeled.Set = set("ml", "team", "a", budget.ProtectedKey, "true")
	guarded.Set = set("ml", "team", "a")
	guarded.Set.NamespaceLabels = ledger.LabelsOf(map[string]string{budget.ProtectedKey: "true"})
	s.Pods = []budget.Pod{annotated, labeled, guarded, important}
	if diff := cmp.Diff([]string{"annotated", "labeled"}, evicted(Decide(s, nil))); diff != "" {
		t.Error(diff)
	}
}
