package spotpool

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// TestADestroyPlanSaysWhatBlocksIt: what the cluster blocks, in addition to protection and
// holds.
func TestADestroyPlanSaysWhatBlocksIt(t *testing.T) {
	t.Parallel()
	const away, contested = "is unreachable", "while the nodes of these are ambiguous: ins-1 (two nodes say so)"
	member := decide.Member{Instance: core.Instance{ID: "ins-1"}, Match: node.Match{Standing: node.Contested, Why: reason.OtherVersion("two nodes say so")}}
	for name, c := range map[string]struct {
		nodes    *decide.PoolNodes
		what     core.OnDestroy
		has, not []string
	}{
		"no cluster":              {what: core.DestroyDelete, has: []string{contested}, not: []string{away}},
		"the cluster is away":     {nodes: &decide.PoolNodes{}, what: core.DestroyRetain, has: []string{away}, not: []string{contested}},
		"the cluster was reached": {nodes: &decide.PoolNodes{Observed: true}, what: core.DestroyDelete, has: []string{contested}, not: []string{away}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Join(reason.Reasons(heldOf(decide.Plan{Members: []decide.Member{member}, Nodes: c.nodes}).details(destroying, c.what)).Texts(), " ")
			for _, part := range c.has {
				if !strings.Contains(text, part) {
					t.Errorf("%q lacks %q", text, part)
				}
			}
			for _, part := range c.not {
				if strings.Contains(text, part) {
					t.Errorf("%q has %q", text, part)
				}
			}
		})
	}
}
