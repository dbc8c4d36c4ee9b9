package stockpools_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestAnAutoscalerOnAStockPoolIsReported where its replicas were changed, and a person's
// change of them is not called one.
func TestAnAutoscalerOnAStockPoolIsReported(t *testing.T) {
	t.Parallel()
	for name, scales := range map[string]bool{"an autoscaler": true, "a person": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.create()
			d.is(2, decide.Ready)
			d.Cluster.Driven = map[string]bool{"pool-g1": scales}
			for range 2 {
				of := d.Cluster.Deployment(key).DeepCopy()
				*of.Spec.Replicas = 5
				d.Cluster.Put(key, of)
				warns := func(list []string) bool {
					return slices.ContainsFunc(list, func(text string) bool {
						return strings.Contains(text, "HorizontalPodAutoscaler auto scales it")
					})
				}
				if x := d.explained(); warns(x.Warnings.Texts()) != scales {
					t.Errorf("before a run it warns %q", x.Warnings)
				}
				if got := d.report(d.Run()); warns(got.Warnings.Texts()) != scales || d.replicas() != 2 {
					t.Errorf("a run warns %q, and it has %d pods", got.Warnings, d.replicas())
				}
			}
			if got := d.report(d.Run()); len(got.Warnings) > 0 {
				t.Errorf("once nothing is changed, a run warns %q", got.Warnings)
			}
		})
	}
}
