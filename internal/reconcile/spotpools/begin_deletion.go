package spotpools

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// beginDeletion checks that the pool may be destroyed, marks its record as deleting, so
// that a run can finish the deletion, and then writes the tombstone. The record does not
// exist if the pool was destroyed before and nothing of it is left.
func (f *Flow) beginDeletion(ctx context.Context, d spotpool.Declaration) (stored, error) {
	if err := f.ownAccount(ctx, d); err != nil {
		return stored{}, err
	}
	r, err := f.records().Deletable(ctx, d)
	if err != nil {
		return r, err
	}
	if !r.Exists() {
		left, err := f.leftUnder(ctx, d)
		if err != nil || !left {
			return stored{}, err
		}
		r.Value.Declaration = d
	}
	recorded := r.Value.Declaration
	if d.Nodes != nil && d.ClusterUID != recorded.ClusterUID {
		if _, err := f.clusterOf(ctx, d); err != nil {
			return r, undrained(d, err)
		}
	}
	d = recorded
	if err := f.refuseDeletion(ctx, d); err != nil {
		return r, err
	}
	if r, err = f.markDeleting(ctx, r); err != nil {
		return r, err
	}
	return r, f.records().WriteTombstone(ctx, d, f.now())
}

// leftUnder says whether instances are left of a pool that has a tombstone. It is an
// error if another pool has its name by now.
func (f *Flow) leftUnder(ctx context.Context, d spotpool.Declaration) (bool, error) {
	left, err := f.leftOf(ctx, d)
	if err != nil || len(left) == 0 {
		return false, err
	}
	r, err := f.records().Load(ctx, d.Key())
	if err == nil {
		err = f.records().Foreign(r, d)
	}
	return true, err
}

// markDeleting marks a record as deleting. A creation under way is left alone: at its end
// it would make the record active again.
func (f *Flow) markDeleting(ctx context.Context, r stored) (marked stored, err error) {
	if r.Value.Phase != declaration.Creating {
		return f.records().BeginDeletion(ctx, r)
	}
	d := r.Value.Declaration
	err = f.Keeper.WithLock(ctx, createLock(d), 0, func(ctx context.Context) (err error) {
		marked, err = f.records().BeginDeletion(ctx, r)
		return err
	})
	if record.IsLocked(err) {
		err = fmt.Errorf("%s is being created right now, and nothing of it was deleted: destroy it once that is finished (%w)", d.Object(), err)
	}
	return marked, err
}

// refuseDeletion says why a pool with this recorded declaration must not be destroyed.
func (f *Flow) refuseDeletion(ctx context.Context, d spotpool.Declaration) error {
	if d.DeletionProtection {
		return fmt.Errorf("%s has deletion_protection: set it to false and apply before destroying it", d.Object())
	}
	if err := f.refuseHeld(ctx, d); err != nil {
		return err
	}
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	if err := f.refuseUnseen(ctx, d, j.Value); err != nil || d.OnDestroy == spotpool.DestroyDetach {
		return err
	}
	return f.refuseProtected(ctx, d, j.Value)
}
