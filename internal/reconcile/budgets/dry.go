package budgets

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// Dry is a cluster that answers every change with outcome.ErrPlanned.
func Dry(c interface {
	PodReader
	WorkloadReader
}) Cluster {
	return struct {
		PodReader
		WorkloadReader
		planned
	}{PodReader: c, WorkloadReader: c}
}

// planned embeds no port: a change that it lacks does not compile.
type planned struct{}

func (planned) Alert(context.Context, budget.Event) error { return outcome.ErrPlanned }

func (planned) Freeze(context.Context, budget.FreezeRule) error { return outcome.ErrPlanned }

func (planned) Unfreeze(context.Context, string) error { return outcome.ErrPlanned }

func (planned) Pause(context.Context, budget.WorkloadState) error { return outcome.ErrPlanned }

func (planned) Resume(context.Context, budget.WorkloadState, int32) error {
	return outcome.ErrPlanned
}

func (planned) Evict(context.Context, budget.Eviction) error { return outcome.ErrPlanned }
