package stockpool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestWhatPodsCountAs: each pod as one thing, and none of a Deployment that is another's.
func TestWhatPodsCountAs(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.settle()
	w.pods = []stockpool.Pod{
		{Name: "used", Ready: true, Node: "n", Labels: map[string]string{"session": "x"}},
		{Name: "ready", Ready: true, Node: "n"},
		{Name: "waits", Unschedulable: "no room"},
		{Name: "pulls", Node: "n", Waiting: "ImagePullBackOff"},
		{Name: "new"},
		{Name: "starts", Node: "n"},
		{Name: "ends", Ready: true, Ending: true, Labels: map[string]string{"session": "x"}},
		{Name: "over", Phase: "Failed"},
	}
	got := map[string]string{}
	for _, s := range stockpool.Standings(w.situation(w.seen())) {
		got[s.Pod] = string(s.CountsAs) + ": " + s.Why
	}
	want := map[string]string{
		"used": "in use: allocated_selector selects it", "ready": "available: it is ready, and not in use", "waits": "replica: it waits for a node",
		"pulls": "replica: ImagePullBackOff", "new": "replica: it has no node yet", "starts": "replica: it is not ready yet",
		"ends": "nothing: it is being deleted", "over": "nothing: it has ended: Failed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.journal.DeploymentUID = "another"
	if list := stockpool.Standings(w.situation(w.seen())); len(list) != 0 {
		t.Errorf("of another's Deployment: %+v", list)
	}
}

// TestWhoWroteWhat: the latest first, without what was written of the status.
func TestWhoWroteWhat(t *testing.T) {
	t.Parallel()
	entry := func(manager, subresource string, at time.Time, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: &metav1.Time{Time: at}, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	of := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry("gpupool-stock", "", noon, `{"f:metadata":{"f:labels":{"f:gpupool/stock-pool":{}}}}`),
		entry("kube-controller-manager", "status", noon.Add(time.Hour), `{"f:status":{"f:replicas":{}}}`),
		entry("kubectl", "scale", noon.Add(time.Minute), `{"f:spec":{"f:replicas":{}}}`),
		entry("kubectl-edit", "", noon, `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:image":{}}}}}}}`),
	}}}
	want := []stockpool.Writer{
		{Manager: "kubectl", Subresource: "scale", At: noon.Add(time.Minute), Fields: []string{"spec.replicas"}},
		{Manager: "gpupool-stock", At: noon, Fields: []string{"metadata.labels.gpupool/stock-pool"}},
		{Manager: "kubectl-edit", At: noon, Fields: []string{"spec.template.spec.containers"}},
	}
	if diff := cmp.Diff(want, stockpool.Writers(of)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list := stockpool.Writers(nil); len(list) != 0 {
		t.Errorf("of none: %+v", list)
	}
}
