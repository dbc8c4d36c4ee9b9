package cluster_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

func TestEventsTellWhenPodsEnded(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	at := time.Now().Add(-10 * time.Minute).UTC().Truncate(time.Second)
	tell := func(name, uid, reason string, at time.Time) {
		kubetest.Create(t, server, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: ns, Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: ns, Name: name, UID: types.UID(uid)},
			Reason:         reason, LastTimestamp: metav1.NewTime(at),
		})
	}
	tell("killed", "1", "Killing", at)
	tell("restarted", "2", "Killing", at)
	tell("restarted-2", "2", "Started", at.Add(time.Second))
	tell("taint", "3", "TaintManagerEviction", at.Add(-time.Minute))
	tell("unknown", "4", "BackOff", at)
	refs := func(n int) (out []budget.PodRef) {
		for i := range n {
			out = append(out, budget.PodRef{Namespace: ns, Name: "x", UID: fmt.Sprint(i + 1)})
		}
		return out
	}
	for _, n := range []int{4, 40} { // one by one, and all of the namespace
		got, err := c.PodEvents(t.Context(), refs(n))
		if err != nil || len(got) != 2 || !got["1"].Equal(at) || !got["3"].Equal(at.Add(-time.Minute)) {
			t.Errorf("%d pods: got %v (%v)", n, got, err)
		}
	}
}
