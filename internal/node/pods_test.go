package node_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

func TestADrainWaitsForWhatWouldBeLost(t *testing.T) {
	t.Parallel()
	pods := []node.Pod{
		{Name: "web", Controller: "ReplicaSet"},
		{Name: "agent", Controller: "DaemonSet"},
		{Name: "agent-protected", Controller: "DaemonSet", Protected: true},
		{Name: "etcd", Mirror: true},
		{Name: "ended", Ended: true},
		{Name: "bare"},
		{Name: "going", Controller: "Job", Ending: true},
		{Name: "kept", Controller: "Job", Protected: true},
	}
	for unmanaged, want := range map[node.Unmanaged]struct {
		evict   string
		blocked int
	}{
		node.Wait:  {"web", 3},
		"":         {"web", 3}, // what says nothing spares
		node.Evict: {"bare web", 2},
	} {
		w := node.Remaining(slices.Clone(pods), unmanaged)
		var evict []string
		for _, p := range w.Evict {
			evict = append(evict, p.Name)
		}
		if got := strings.Join(evict, " "); got != want.evict || len(w.Blocked) != want.blocked || w.Left != 4 {
			t.Errorf("%q: evicts %q, %d left, blocked by %q", unmanaged, got, w.Left, w.Blocked)
		}
	}
	if w := node.Remaining(pods[1:5], node.Evict); w.Left != 0 || w.Evict != nil || w.Blocked != nil {
		t.Errorf("of what is passed over is left %+v", w)
	}
}

// TestOnlyDeletedPodsOfASilentKubeletAreStuck: what may still run there is no reason to end
// an instance that is to be kept.
func TestOnlyDeletedPodsOfASilentKubeletAreStuck(t *testing.T) {
	t.Parallel()
	going, web := node.Pod{Name: "going", Controller: "Job", Ending: true}, node.Pod{Name: "web", Controller: "ReplicaSet"}
	for name, c := range map[string]struct {
		pods  []node.Pod
		ready node.Readiness
		stuck bool
	}{
		"the kubelet is silent": {[]node.Pod{going, going}, node.ReadyUnknown, true},
		"it reports":            {[]node.Pod{going}, node.ReadyFalse, false},
		"one was not deleted":   {[]node.Pod{going, web}, node.ReadyUnknown, false},
		"nothing is left":       {nil, node.ReadyUnknown, false},
		"unknown state":         {[]node.Pod{going}, "", false},
	} {
		if got := node.Remaining(c.pods, node.Wait).Stuck(node.Node{Ready: c.ready}); got != c.stuck {
			t.Errorf("%s: stuck is %v", name, got)
		}
	}
}
