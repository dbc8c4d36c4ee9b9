package stockpools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Delete ends a stock pool for good: its Deployment and its pods are deleted, or left
// where its declaration says so, and what is recorded of it is removed once they were
// seen to be gone. It waits for that at most so long, without the pool's lock. A deletion
// that was cut short is finished by the next one, or by a run. The notice says what was
// left.
func (f *Flow) Delete(ctx context.Context, d stockpool.Declaration, wait time.Duration) (notice string, err error) {
	cluster, err := f.clusterOf(ctx, d)
	if err != nil {
		return "", fmt.Errorf("%s is not destroyed: %w", d.Object(), err)
	}
	defer f.tell(ctx)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		gone := false
		err := f.records().Locked(ctx, d, func(ctx context.Context) (err error) {
			r, err := f.records().Own(ctx, d)
			if err != nil {
				return err
			}
			if r.Exists() {
				d = r.Value.Declaration
			}
			if r, err = f.records().BeginDeletion(ctx, r, d); err != nil {
				return err
			}
			gone, notice, err = f.clear(ctx, cluster, r)
			return err
		})
		if err != nil || gone {
			return notice, err
		}
		select {
		case <-ctx.Done():
			return notice, errStillEnding(d)
		case <-time.After(f.pollInterval()):
		}
	}
}

// stillEndingError says that a pool's pods have not ended yet.
type stillEndingError struct{ object string }

// Error says so, and what comes next.
func (e *stillEndingError) Error() string {
	return e.object + " is not destroyed yet: its Deployment is being deleted, and waits for its pods to end. The next run of gpupool reconcile goes on with it, or destroy it again"
}

func errStillEnding(d stockpool.Declaration) error { return &stillEndingError{d.Object()} }

// clear deletes a pool's own Deployment, and once that is gone what is recorded of the
// pool. What somebody else made by its name is left. The pool's lock must be held.
func (f *Flow) clear(ctx context.Context, c Cluster, r stored) (gone bool, notice string, err error) {
	d := r.Value.Declaration.WithDefaults()
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return false, "", err
	}
	seen, err := c.StockOf(ctx, d.Namespace, d.Name)
	if err != nil {
		return false, "", err
	}
	if !seen.Looked() {
		return false, "", errors.New("the cluster did not say what is there")
	}
	mine := stockpool.Situation{Declaration: d, Journal: j.Value, Seen: seen}.Mine()
	switch live := seen.Deployment; {
	case live != nil && !mine:
		notice = fmt.Sprintf("the Deployment %s (uid %s) is not gpupool's: it was left", d.Key(), live.UID)
	case live != nil && d.OnDestroy == stockpool.DestroyOrphan:
		notice = fmt.Sprintf("the Deployment %s was left, and nobody keeps it as declared any longer", d.Key())
	case live != nil:
		if live.DeletionTimestamp == nil {
			err = c.DeleteStock(ctx, live)
		}
		return false, "", err
	}
	return true, notice, f.forget(ctx, c, r, j)
}

// forget removes what is recorded of a pool that is gone, and leaves a tombstone.
func (f *Flow) forget(ctx context.Context, c Cluster, r stored, j journal) error {
	d := r.Value.Declaration
	if err := f.records().WriteTombstone(ctx, d, f.clusterNow(c)); err != nil {
		return err
	}
	tombstone, err := f.Keeper.Tombstone(ctx, d.UID)
	if err != nil {
		return err
	}
	f.outbox.Note(f.outbox.Sign(j.Value.Destroyed(d, tombstone.Value.DestroyedAt), f.Keeper.Actor)...)
	f.tell(ctx)
	if j.Exists() {
		if err := record.Remove(ctx, f.Keeper.Store, store.StockJournals, d.UID, j.Revision); err != nil {
			return err
		}
	}
	return f.records().Remove(ctx, r)
}

// stillDeleting is the record of a pool whose deletion was begun; nil where somebody
// finished it.
func (f *Flow) stillDeleting(ctx context.Context, d stockpool.Declaration) (*stored, error) {
	return f.records().Still(ctx, d, declaration.Deleting)
}
