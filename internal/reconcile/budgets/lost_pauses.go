package budgets

import (
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
)

// observeLost finds the pauses that the last statuses list and that no document has.
func (f *inForce) observeLost(ctx context.Context, c pauses.Cluster, clusterUID string, previous map[string]previousStatus) {
	if f.err != nil {
		return
	}
	held := map[string]bool{}
	for _, p := range f.paused {
		held[p.UID] = held[p.UID] || !p.Undone
	}
	f.lost = map[string][]budget.PausedWorkload{}
	for _, last := range previous {
		status := last.document.Value
		if status.ClusterUID != clusterUID {
			continue
		}
		if lost := lostPauses(ctx, c, status, held); len(lost) > 0 && f.broken[status.UID] == nil {
			f.lost[status.UID] = lost
		}
	}
}

// lostPauses returns the workloads that a status lists as paused, that are still stopped, and that
// are not held. One that cannot be observed counts as stopped.
func lostPauses(ctx context.Context, c pauses.Cluster, status budget.Status, held map[string]bool) []budget.PausedWorkload {
	return slices.DeleteFunc(slices.Clone(status.Paused), func(p budget.PausedWorkload) bool {
		if held[p.UID] {
			return true
		}
		seen, err := c.Workload(ctx, p.Workload)
		var gone *budget.NotPausedError
		return errors.As(err, &gone) || err == nil && !seen.Stopped
	})
}
