package spotpooldata

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

func TestMachinesHaveTheirNodes(t *testing.T) {
	t.Parallel()
	asked, pods := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), 0
	draining := decide.Member{
		Health: node.Healthy, Node: node.Node{Name: "gpu-1"}, GPUPods: &pods,
		Drain: node.Drain{Phase: node.Draining, AskedAt: asked, Since: asked.Add(time.Minute), Left: 2, Blocked: []string{"ml/a is protected from eviction"}},
	}
	want := machine{
		Node: types.StringValue("gpu-1"), NodeHealth: types.StringValue("ready"), GPUPods: types.Int64Value(0),
		Drain: &drain{
			Phase: types.StringValue("draining"), AskedAt: types.StringValue("2026-03-01T12:00:00Z"), DrainingSince: types.StringValue("2026-03-01T12:01:00Z"),
			PodsLeft: types.Int64Value(2), Blocked: []types.String{types.StringValue("ml/a is protected from eviction")},
		},
	}
	none := machine{Node: types.StringNull(), NodeHealth: types.StringNull(), GPUPods: types.Int64Null()}
	for name, c := range map[string]struct {
		member decide.Member
		want   machine
	}{"draining": {draining, want}, "no node": {decide.Member{}, none}} {
		m := newMachine(c.member)
		got := machine{Node: m.Node, NodeHealth: m.NodeHealth, GPUPods: m.GPUPods, Drain: m.Drain}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
