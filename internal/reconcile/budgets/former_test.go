package budgets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// TestPodsOfANamespaceThatIsGoneCountByItsLabels were they born and gone between
// two runs; and where nothing tells these labels any more, that is said.
func TestPodsOfANamespaceThatIsGoneCountByItsLabels(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		labels   map[string]string
		consumed string
		warns    bool
	}{
		"replayed": {map[string]string{"kind": "ci"}, "2.000", false},
		"unknown":  {nil, "0.000", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(func(b *budget.Declaration) {
				b.Selector = budget.Selector{NamespaceLabels: map[string]string{"kind": "ci"}}
			})
			d.Run()
			uid := d.Cluster.Start("ci-4711", "test", 4)
			d.Cluster.Step(30 * time.Minute)
			d.Cluster.Remove(uid)
			d.Cluster.Former = map[string]map[string]string{uid: test.labels}
			r := d.Run()
			wantConsumed(t, r, test.consumed)
			if warns := strings.Contains(strings.Join(r.Warnings.Texts(), "\n"), "ci-4711/test: its namespace is gone"); warns != test.warns {
				t.Errorf("warnings %q", r.Warnings)
			}
			if r = d.Run(); len(r.Warnings) > 0 {
				t.Errorf("the next run warns %q", r.Warnings)
			}
		})
	}
}
