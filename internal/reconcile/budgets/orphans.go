package budgets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// liftOrphans lifts what budgets of this store left in force when they were destroyed, and warns of
// what belongs to no budget of the store.
func (k *kind) liftOrphans(ctx context.Context, c Cluster, clusterUID string, f *inForce) {
	left := map[string]bool{}
	for uid := range f.frozen {
		left[uid] = true
	}
	for _, p := range f.paused {
		left[p.BudgetUID] = true
	}
	for _, uid := range slices.Sorted(maps.Keys(left)) {
		if k.run.Recorded(uid) {
			continue
		}
		tombstone, err := k.flow.Repository.Tombstone(ctx, uid)
		switch {
		case err != nil:
			k.warnings.Warn(reason.DocumentFailed(reason.Failure(err)))
		case tombstone.Exists():
			k.liftOrphan(ctx, c, budget.Declaration{Name: strings.TrimPrefix(tombstone.Value.Object, "budget/"), UID: uid, ClusterUID: clusterUID})
		case !k.unread:
			k.warnings.Warn(reason.InForceOfOther(reason.Word(uid), reason.Word(fmt.Sprint(k.flow.Repository.Store))))
		}
	}
}

func (k *kind) liftOrphan(ctx context.Context, c Cluster, d budget.Declaration) {
	object := reason.Object(d.Object())
	messages, _, err := lifter{k.flow, c}.release(ctx, d, budget.Status{})
	if errors.Is(err, outcome.ErrPlanned) {
		k.warnings.Warn(reason.LiftedLater(object))
		return
	}
	if err != nil {
		k.warnings.Warn(reason.NotLifted(object, reason.Failure(err)))
		return
	}
	if len(messages) == 0 {
		k.warnings.Warn(reason.Lifted(object))
		return
	}
	k.warnings.Warn(reason.LiftedExcept(object, messages))
}

// leftoverTime limits the search for what destroyed budgets left in force if no budget is declared.
const leftoverTime = 20 * time.Second

// liftLeftovers lifts what destroyed budgets left in force if none is declared, and removes their
// statuses. It reads the cluster only if the store has tombstones of budgets or unreadable records.
func (k *kind) liftLeftovers(ctx context.Context) {
	if !k.hasDestroyedBudgets(ctx) && !k.unread {
		return
	}
	previous, err := k.previousStatuses(ctx)
	if err != nil {
		k.warnings.Warn(reason.DocumentFailed(reason.Failure(err)))
	}
	k.forgetStatuses(ctx, previous)
	if k.flow.Cluster == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leftoverTime)
	defer cancel()
	c, uid, err := k.flow.cluster(ctx)
	if err != nil {
		k.flow.Reporter.Logger().WarnContext(ctx, "leftovers not observed", "detail", "what destroyed budgets left in force was not observed: "+err.Error())
		return
	}
	k.liftOrphans(ctx, c, uid, k.observeInForce(ctx, c, uid, nil))
	k.reportUnrecognized(ctx, c, k.unread)
}

// mayPause reports whether a budget needs a role that may read workloads.
func mayPause(d budget.Declaration) bool {
	return d.Enforce.Action == budget.Pause || d.Enforce.Action == budget.Evict
}

// mostUnrecognized is how many unrecognized objects are named.
const mostUnrecognized = 20

// reportUnrecognized warns of objects that an older gpupool may have left in the cluster. A role without
// the right to list workloads is worth a warning only if pauses are expected.
func (k *kind) reportUnrecognized(ctx context.Context, c Cluster, expected bool) {
	found, err := c.Unrecognized(ctx)
	for _, u := range found[:min(len(found), mostUnrecognized)] {
		k.leftovers = append(k.leftovers, u.Warning())
	}
	if more := len(found) - mostUnrecognized; more > 0 {
		k.leftovers = append(k.leftovers, reason.MoreUnrecognized(reason.Count(more)))
	}
	switch {
	case err == nil:
	case pauses.Forbidden(err) && !expected:
		k.flow.Reporter.Logger().InfoContext(ctx, "objects of an older gpupool in the cluster are unknown", "detail", err.Error())
	default:
		k.leftovers = append(k.leftovers, reason.UnrecognizedUnknown(reason.Failure(err)))
	}
	k.warnings.Warn(k.leftovers...)
}

func (k *kind) hasDestroyedBudgets(ctx context.Context) bool {
	docs, err := k.flow.Repository.Store.List(ctx, store.Tombstones)
	if err != nil {
		k.warnings.Warn(reason.DocumentFailed(reason.Failure(err)))
		return false
	}
	return slices.ContainsFunc(docs, func(doc store.Document) bool {
		tombstone, err := record.DecodeListed[declaration.Tombstone](ctx, k.flow.Repository.Store, doc)
		if err != nil {
			k.warnings.Warn(reason.DocumentFailed(reason.Failure(err)))
		}
		return err == nil && strings.HasPrefix(tombstone.Object, "budget/")
	})
}
