package reconcile_test

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
			d := newDesk(t)
			d.declare(func(b *budget.Declaration) {
				b.Selector = budget.Selector{NamespaceLabels: map[string]string{"kind": "ci"}}
			})
			d.run()
			uid := d.cluster.start("ci-4711", "test", 4)
			d.cluster.step(30 * time.Minute)
			d.cluster.remove(uid)
			d.cluster.former = map[string]map[string]string{uid: test.labels}
			r := d.run()
			wantConsumed(t, r, test.consumed)
			if warns := strings.Contains(strings.Join(r.Warnings, "\n"), "ci-4711/test: its namespace is gone"); warns != test.warns {
				t.Errorf("warnings %q", r.Warnings)
			}
			if r = d.run(); len(r.Warnings) > 0 {
				t.Errorf("the next run warns %q", r.Warnings)
			}
		})
	}
}
