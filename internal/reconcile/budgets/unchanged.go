package budgets

import (
	"context"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// Unchanged is a cluster that can be looked at, and refuses to be changed: for a
// dry run. Its refusal is outcome.ErrPlanned.
func Unchanged(c Cluster) Cluster { return unchanged{c} }

type unchanged struct{ Cluster }

func (unchanged) Alert(context.Context, budget.Event) error { return outcome.ErrPlanned }

func (unchanged) Freeze(context.Context, budget.FreezeRule) error { return outcome.ErrPlanned }

func (unchanged) Unfreeze(context.Context, string) error { return outcome.ErrPlanned }

func (unchanged) Pause(context.Context, budget.WorkloadState) error { return outcome.ErrPlanned }

func (unchanged) Resume(context.Context, budget.WorkloadState, int32) error {
	return outcome.ErrPlanned
}

func (unchanged) Evict(context.Context, budget.Eviction) error { return outcome.ErrPlanned }
