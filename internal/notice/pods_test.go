package notice_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// noticed returns a world whose node was marked with a notice of two minutes.
func noticed(t *testing.T) (w *world, at time.Time) {
	t.Helper()
	w, at = newWorld(t), noon.Add(2*time.Minute)
	w.says(http.StatusOK, chinaTime(at))
	w.step(time.Second, "reclaims", "set node-1")
	return w, at
}

func TestPodsThatEvictionLeavesAreDeleted(t *testing.T) {
	t.Parallel()
	w, at := noticed(t)
	w.cluster.pods = []node.Pod{
		{Name: "evicted", UID: "1", Controller: "ReplicaSet", Ending: true, EndsAt: noon.Add(30 * time.Second)},
		{Name: "protected", UID: "2", Controller: "ReplicaSet", Protected: true, Grace: 20},
		{Name: "bare", UID: "3", Grace: 600},
		{Name: "agent", UID: "4", Controller: "DaemonSet", Grace: 20},
	}
	w.now = noon.Add(2 * time.Second)
	w.step(time.Second, "") // runs evict first
	w.now = noon.Add(3 * time.Second)
	w.cluster.refuse = map[string]error{"bare": errors.New("no rights")}
	w.step(time.Second, "no rights", "provider node-1", "pods node-1", "delete protected in 20s", "delete bare in 102s", "set node-1")
	if want := (node.Reach{Pods: 3, Deleted: 2, At: w.now}); w.cluster.has.Reach != want {
		t.Errorf("the node says %s", w.cluster.has)
	}

	w.cluster.pods = w.cluster.pods[2:] // the two others ended
	w.cluster.refuse = nil
	w.now = noon.Add(4 * time.Second)
	w.step(usual, "", "provider node-1", "pods node-1", "delete bare in 101s", "set node-1")
	if want := (node.Reach{Pods: 3, Deleted: 3, At: w.now}); w.cluster.has.Reach != want {
		t.Errorf("the node says %s", w.cluster.has)
	}
	w.cluster.half = true // the count could not be written, and is in the next attempt
	w.cluster.pods = append(w.cluster.pods, node.Pod{Name: "late", UID: "5", Grace: 20})
	w.now = noon.Add(5 * time.Second)
	w.step(time.Second, "the taint is missing", "provider node-1", "pods node-1", "delete bare in 100s", "delete late in 20s", "set node-1")
	w.cluster.half = false
	w.cluster.pods = nil
	w.step(usual, "", "set node-1", "provider node-1", "pods node-1")
	if want := (node.Reach{Pods: 4, Deleted: 4, At: w.now}); w.cluster.has.Reach != want {
		t.Errorf("the node says %s", w.cluster.has)
	}
	w.now = at.Add(-time.Second)
	w.step(usual, "", "provider node-1", "pods node-1")

	w.cluster.pods = []node.Pod{{Name: "later", UID: "6"}}
	w.now = at
	w.step(usual, "") // after the announced time, nothing is deleted
}

func TestPodsOfAnotherInstanceAreNotDeleted(t *testing.T) {
	t.Parallel()
	for id, says := range map[string]string{
		"qcloud:///800001/ins-other": "it is the instance ins-other by its provider ID, and this is ins-own",
		"":                           "it has no provider ID",
		"aws:///a/i-1":               "it has no provider ID of Tencent Cloud",
	} {
		w, _ := noticed(t)
		w.cluster.provider = node.ParseProviderID(id)
		w.cluster.pods = []node.Pod{{Name: "bare", UID: "1", Grace: 20}}
		w.now = noon.Add(3 * time.Second)
		w.step(time.Second, says, "provider node-1")
		w.step(time.Second, "", "provider node-1")
		if w.cluster.has.Reach != (node.Reach{}) {
			t.Errorf("the node says %s", w.cluster.has)
		}
	}
}
