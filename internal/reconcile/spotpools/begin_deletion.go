package spotpools

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// beginDeletion checks that the pool may be destroyed, marks its record as deleting, and
// writes the tombstone. From then on, a run can complete the deletion. The record does not
// exist if the pool was destroyed before and no instance is left.
func (x deletion) beginDeletion(ctx context.Context, d spotpool.Declaration) (stored, error) {
	if err := x.ownAccount(ctx, d); err != nil {
		return stored{}, err
	}
	r, err := x.records().Deletable(ctx, d)
	if err != nil {
		return r, err
	}
	if !r.Exists() {
		left, err := x.hasRemaining(ctx, d)
		if err != nil || !left {
			return stored{}, err
		}
		r.Value.Declaration = d
	}
	recorded := r.Value.Declaration
	if d.Nodes != nil && d.ClusterUID != recorded.ClusterUID {
		if _, err := x.clusterOf(ctx, d); err != nil {
			return r, errNotDrained(d, err)
		}
	}
	d = recorded
	if err := x.refuseDeletion(ctx, d); err != nil {
		return r, err
	}
	if r, err = x.markDeleting(ctx, r); err != nil {
		return r, err
	}
	return r, x.records().WriteTombstone(ctx, d, x.now())
}

// hasRemaining reports whether instances are left of a pool with a tombstone. It fails if another
// pool has its name by now.
func (x deletion) hasRemaining(ctx context.Context, d spotpool.Declaration) (bool, error) {
	left, err := x.remainingInstances(ctx, d)
	if err != nil || len(left) == 0 {
		return false, err
	}
	r, err := x.records().Load(ctx, d.Key())
	if err == nil {
		err = x.records().Foreign(r, d)
	}
	return true, err
}

// markDeleting marks a record as deleting. It refuses that during a creation, which would make
// the record active again.
func (x deletion) markDeleting(ctx context.Context, r stored) (marked stored, err error) {
	if r.Value.Phase != declaration.Creating {
		return x.records().BeginDeletion(ctx, r)
	}
	d := r.Value.Declaration
	err = x.Repository.WithLock(ctx, createLock(d), 0, func(ctx context.Context) (err error) {
		marked, err = x.records().BeginDeletion(ctx, r)
		return err
	})
	if record.IsLocked(err) {
		err = fmt.Errorf("%s is being created, and nothing was deleted: destroy it after the creation (%w)", d.Object(), err)
	}
	return marked, err
}

// refuseDeletion returns why a pool with this recorded declaration must not be destroyed.
func (x deletion) refuseDeletion(ctx context.Context, d spotpool.Declaration) error {
	if d.DeletionProtection {
		return fmt.Errorf("%s has deletion_protection: set it to false and apply before destroying it", d.Object())
	}
	if err := x.refuseOnHold(ctx, d); err != nil {
		return err
	}
	j, err := x.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	if err := x.refuseUnreachable(ctx, d, j.Value); err != nil || d.OnDestroy == spotpool.DestroyRetain {
		return err
	}
	return x.refuseProtected(ctx, d, j.Value)
}
