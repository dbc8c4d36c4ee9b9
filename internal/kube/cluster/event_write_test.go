package cluster_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

func TestANamespaceThatIsGoneIsToldNothing(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	err := connect(t, server.Kubeconfig()).Alert(t.Context(),
		budget.Event{Namespace: "no-such-namespace", Budget: "b", BudgetUID: "u", Reason: "GPUBudgetThreshold", Message: "m"})
	if err != nil {
		t.Error(err)
	}
}

func TestAnAlertIsOneEventHoweverOften(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	for range 3 {
		for _, threshold := range []int{50, 80} {
			if err := c.Alert(t.Context(), budget.Event{
				Namespace: ns, Budget: "team-a", BudgetUID: "u1", Reason: "GPUBudgetThreshold", Threshold: threshold,
				Message: fmt.Sprintf("%d%% used", threshold), Warning: true,
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	events, err := server.Client().CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=GPUBudgetThreshold"})
	if err != nil || len(events.Items) != 2 {
		t.Fatalf("%d events, want one for each threshold (%v)", len(events.Items), err)
	}
	for _, e := range events.Items {
		if e.Count != 3 || e.Type != corev1.EventTypeWarning || e.InvolvedObject.Name != ns || e.LastTimestamp.IsZero() {
			t.Errorf("got %+v", e)
		}
	}
}
