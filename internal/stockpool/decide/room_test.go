package decide_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

func waiting(w *world) decide.Status {
	w.settle()
	for n := range w.pods {
		w.pods[n].Ready, w.pods[n].Node = false, ""
		w.pods[n].Unschedulable = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/1 nodes are " +
			"available: 1 Preemption is not helpful for scheduling."
	}
	return w.decide().Status
}

// TestWhyPodsWait: the scheduler's message, and which spot pool could grow, or why it does not.
func TestWhyPodsWait(t *testing.T) {
	t.Parallel()
	room := func(pool, gpu string, grows bool, why string) stockpool.Room {
		return stockpool.Room{Pool: "ap-singapore/" + pool, ClusterUID: clusterUID, Labels: map[string]string{"gpu": gpu}, Grows: grows, Why: why}
	}
	typed := func(pool string, grows bool, types ...string) stockpool.Room {
		return stockpool.Room{Pool: "ap-singapore/" + pool, ClusterUID: clusterUID, InstanceTypes: types, Grows: grows, Why: "x"}
	}
	elsewhere := room("elsewhere", "t4", true, "of its 1 node, joining: 1")
	elsewhere.ClusterUID = "another"
	for name, tt := range map[string]struct {
		selector map[string]string
		rooms    []stockpool.Room
		err      error
		want     []string
	}{
		"none fits": {map[string]string{"gpu": "t4", "kubernetes.io/arch": "amd64"}, []stockpool.Room{room("v100", "v100", true, "x"), elsewhere}, nil,
			[]string{
				"no spot pool fits: none has nodes.expected_labels for its node_selector (gpu=t4, kubernetes.io/arch=amd64)",
			}},
		"no pool has nodes": {nil, []stockpool.Room{elsewhere}, nil, []string{"no spot pool of this cluster can grow"}},
		"one has its minimum": {map[string]string{"gpu": "t4", "kubernetes.io/arch": "amd64"},
			[]stockpool.Room{room("v100", "v100", true, "x"), room("t4", "t4", false, "it has its minimum of 1. Raise minimum")}, nil, []string{
				"spot_pool/ap-singapore/t4 has matching labels, and does not grow: it has its minimum of 1. Raise minimum",
			}},
		"those that grow come first, and many are counted": {nil,
			[]stockpool.Room{
				room("a", "t4", false, "it is on hold"), room("b", "t4", false, ""), room("c", "t4", true, "the next run launches 2"),
				room("d", "t4", false, "x"), room("e", "t4", false, "x"),
			}, nil, []string{
				"spot_pool/ap-singapore/c has matching labels, and grows: the next run launches 2",
				"spot_pool/ap-singapore/a has matching labels, and does not grow: it is on hold",
				"spot_pool/ap-singapore/b has matching labels. gpupool explain spot_pool/ap-singapore/b reports whether it grows",
				"2 more spot pools have matching labels",
			}},
		"one more is counted": {nil, []stockpool.Room{room("a", "t4", true, "x"), room("b", "t4", true, "x"), room("c", "t4", true, "x"),
			room("d", "t4", true, "x")}, nil, []string{
			"spot_pool/ap-singapore/a has matching labels, and grows: x",
			"spot_pool/ap-singapore/b has matching labels, and grows: x",
			"spot_pool/ap-singapore/c has matching labels, and grows: x",
			"1 more spot pool has matching labels",
		}},
		"no offering has the instance type": {map[string]string{"node.kubernetes.io/instance-type": "PNV4.28XLARGE1328"},
			[]stockpool.Room{typed("a", true, "GN7.2XLARGE32")}, nil, []string{
				"no spot pool fits: none has nodes.expected_labels and an offering for its node_selector " +
					"(node.kubernetes.io/instance-type=PNV4.28XLARGE1328)",
			}},
		"one of several offerings has it": {map[string]string{"beta.kubernetes.io/instance-type": "GN7.2XLARGE32"},
			[]stockpool.Room{typed("a", true, "GN7.2XLARGE32"), typed("b", true, "GN7.2XLARGE32", "GN7.5XLARGE80")}, nil, []string{
				"spot_pool/ap-singapore/a has matching labels, and grows: x",
				"spot_pool/ap-singapore/b has matching labels and the instance type GN7.2XLARGE32, and grows: x",
			}},
		"the labels name the instance type": {map[string]string{"node.kubernetes.io/instance-type": "k3s"}, []stockpool.Room{{
			Pool: "ap-singapore/a", ClusterUID: clusterUID, Labels: map[string]string{"node.kubernetes.io/instance-type": "k3s"},
			InstanceTypes: []string{"GN7.2XLARGE32"}, Why: "x",
		}}, nil, []string{"spot_pool/ap-singapore/a has matching labels, and does not grow: x"}},
		"they are not known": {nil, nil, errors.New("no answer"), []string{"which spot pool could grow is unknown: no answer"}},
	} {
		w := newWorld(declared(func(d *stockpool.Declaration) { d.NodeSelector = tt.selector }))
		before := waiting(w)
		got := before.WithRooms(w.declaration, tt.rooms, tt.err).Of(decide.Scheduled)
		want := "2 pods wait for a node: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu\n" + strings.Join(tt.want, "\n")
		if got.Text() != want || got.Status != "False" {
			t.Errorf("%s: %s\n%s\nwant\n%s", name, got.Status, got.Text(), want)
		}
		if len(before.Of(decide.Scheduled).Rooms) > 0 {
			t.Errorf("%s: the status that was asked changed", name)
		}
	}
	w := newWorld(declared())
	w.settle()
	if got := w.decide().Status.WithRooms(w.declaration, nil, nil).Of(decide.Scheduled); got.Text() != "" || got.Status != "True" {
		t.Errorf("no pod waits, and it says %+v", got)
	}
}
