package stockpools_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestAProtectedPodKeepsItsPoolFromBeingPaused, as it would any other workload.
func TestAProtectedPodKeepsItsPoolFromBeingPaused(t *testing.T) {
	t.Parallel()
	protected := map[string]string{budget.ProtectedKey: "true"}
	for name, c := range map[string]struct {
		budget func(*budget.Declaration)
		pod    func(*stockpool.Pod)
		fails  string // the call that does
		says   string // nothing if the pool is paused
	}{
		"a label":             {pod: func(p *stockpool.Pod) { p.Labels[budget.ProtectedKey] = "true" }, says: "1 of its pods is protected: pool-g1-"},
		"an annotation":       {pod: func(p *stockpool.Pod) { p.Annotations = protected }, says: "it is annotated with gpupool/protected"},
		"a label that is off": {pod: func(p *stockpool.Pod) { p.Labels[budget.ProtectedKey] = "false" }},
		"a label on a pod that ends": {pod: func(p *stockpool.Pod) {
			p.Labels[budget.ProtectedKey], p.Ending = "true", true
		}},
		"a label that the budget ignores": {
			budget: func(b *budget.Declaration) { b.Enforce.HonorPodProtection = new(false) },
			pod:    func(p *stockpool.Pod) { p.Labels[budget.ProtectedKey] = "true" },
		},
		"the system's priority": {pod: func(p *stockpool.Pod) { p.Priority = 2_000_000_000 }, says: "its priority is the system's"},
		"a protected priority class by default": {
			budget: func(b *budget.Declaration) { b.Enforce.ProtectedPriorityClass = "high" },
			pod:    func(p *stockpool.Pod) { p.PriorityClassName, p.Priority = "high", 1000 }, says: "its priority class is protected",
		},
		"as high a priority": {
			budget: func(b *budget.Declaration) { b.Enforce.ProtectedPriorityClass = "high" },
			pod:    func(p *stockpool.Pod) { p.Priority = 1000 }, says: "its priority 1000 is not below that of high",
		},
		"a lower priority": {
			budget: func(b *budget.Declaration) { b.Enforce.ProtectedPriorityClass = "high" },
			pod:    func(p *stockpool.Pod) { p.Priority = 999 },
		},
		"unreadable priority classes": {
			budget: func(b *budget.Declaration) { b.Enforce.ProtectedPriorityClass = "high" },
			pod:    func(*stockpool.Pod) {}, fails: "PriorityClasses", says: "whether its pods are protected is unknown: no answer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(func(b *budget.Declaration) {
				b.Enforce.Action = budget.Pause
				if c.budget != nil {
					c.budget(b)
				}
			})
			d.Run()
			d.create()
			d.is(2, decide.Ready)
			d.uses("train", 4, "uid-of-train")
			c.pod(&d.Cluster.StockPods(key)[1])
			d.Cluster.Step(2 * time.Hour)
			if c.fails != "" {
				d.Cluster.Failing[c.fails] = errors.New("no answer")
			}
			d.Run()
			within := d.report(d.Run()).Of(decide.WithinBudget)
			if want := map[bool]int{true: 0, false: 2}[c.says == ""]; d.replicas() != want {
				t.Fatalf("it has %d pods, want %d: %+v", d.replicas(), want, within)
			}
			if within.Status != "False" || c.says != "" && !strings.Contains(within.Message.String(), "it is not paused, since ") ||
				!strings.Contains(within.Message.String(), c.says) {
				t.Errorf("it says %+v, want %q", within, c.says)
			}
		})
	}
}
