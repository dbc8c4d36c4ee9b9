package budgets_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// fixture is a cluster and a store, with what people do to budgets and to pods.
type fixture struct {
	*reconciletest.Fixture
	t *testing.T
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{Fixture: reconciletest.NewFixture(t), t: t}
}

func enforcing(a budget.Action) func(*budget.Declaration) {
	return func(d *budget.Declaration) { d.Enforce.Action = a }
}

func wantTold(t *testing.T, r reconcile.Report, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, reconciletest.Told(r)); diff != "" {
		t.Errorf("decisions (-want +got)\n%s", diff)
	}
}

func wantConsumed(t *testing.T, r reconcile.Report, want string) {
	t.Helper()
	if got := reconciletest.Consumed(t, r); got != want {
		t.Errorf("%s GPU-hours are consumed, want %s", got, want)
	}
}

// wantEstimated and wantBound check what a report says of its first budget.
func wantEstimated(t *testing.T, r reconcile.Report, want string) {
	t.Helper()
	if got := r.Budgets[0].EstimatedGPUHours; got != want {
		t.Errorf("%s GPU-hours are estimated, want %s", got, want)
	}
}

func wantBound(t *testing.T, r reconcile.Report, want string) {
	t.Helper()
	if got := r.Budgets[0].ErrorBoundGPUHours; got != want {
		t.Errorf("the error bound is %s GPU-hours, want %s", got, want)
	}
}

// waiting leaves a pod without a node.
func waiting(s *gpu.Pod) {
	s.Node, s.Scheduled, s.Running, s.Live = gpu.Node{}, ledger.Start{}, ledger.Start{}, gpu.Live{Phase: "Pending", ResourceVersion: "7"}
}

func ownedBy(kind, name string) func(*gpu.Pod) {
	version := map[string]string{"Job": "batch/v1"}[kind]
	if version == "" {
		version = "apps/v1"
	}
	return func(s *gpu.Pod) {
		s.Owner = &ledger.Owner{APIVersion: version, Kind: kind, Name: name, UID: "uid-of-" + name}
	}
}
