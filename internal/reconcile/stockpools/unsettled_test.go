package stockpools

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestReadyPodsAreNotReportedAsMissing: the warning names what is not settled instead.
func TestReadyPodsAreNotReportedAsMissing(t *testing.T) {
	t.Parallel()
	rollout := decide.Condition{Type: decide.RolledOut, Status: "Unknown", Message: reason.RollingOut(1, 2)}
	s := decide.Status{Phase: decide.Progressing, Desired: 2, Available: 2, Conditions: []decide.Condition{rollout}}
	want := "2 pods are ready, but its Deployment is not settled: 1 of 2 pods are up to date. Follow it with gpupool status"
	if got := notReady(s).String(); got != want {
		t.Errorf("it warns %q, want %q", got, want)
	}
	s.Available = 1
	want = "1 of 2 pods are ready (Progressing): 1 of 2 pods are up to date. Follow it with gpupool status"
	if got := notReady(s).String(); got != want {
		t.Errorf("it warns %q, want %q", got, want)
	}
}
