package budgets

import (
	"context"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// awaitFreeze waits until a freeze of this very run is heeded: a pod that is
// evicted before comes straight back.
func (a *enforcer) awaitFreeze(ctx context.Context) {
	if a.frozenAt.IsZero() || a.notFrozen {
		return
	}
	heeded := time.NewTimer(time.Until(a.frozenAt.Add(a.flow.freezeLag())))
	defer heeded.Stop()
	select {
	case <-ctx.Done():
	case <-heeded.C:
	}
}

// awaitWithdrawn gives controllers as long as a freeze takes to be heeded to delete
// the waiting pods of what was suspended, before what makes room for them is. Where
// that takes longer, or can't be told, the next run tells of those that started.
func (a *enforcer) awaitWithdrawn(ctx context.Context) {
	left := a.withdrawn
	a.withdrawn = nil
	if len(left) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, a.flow.freezeLag())
	defer cancel()
	for {
		pods, err := a.books.cluster.WaitingPods(ctx, a.declaration.Selector.Namespaces, a.books.rules)
		if err != nil || !slices.ContainsFunc(pods, func(s gpu.Sighting) bool { return slices.Contains(left, s.UID) }) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}
