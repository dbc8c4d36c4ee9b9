package stockpools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Delete destroys a stock pool. It deletes the Deployment and its pods, or retains them as
// declared. Once they are gone, it removes the record. It waits for that without the pool's
// lock. The next destroy or run resumes an interrupted deletion. The notices report what was
// left.
func (f *Flow) Delete(ctx context.Context, d stockpool.Declaration, wait time.Duration) (notices reason.Reasons, err error) {
	c, err := f.connectOwn(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("%s is not destroyed: %w", d.Object(), err)
	}
	defer f.report(ctx)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		var of clearing
		err := f.records().Locked(ctx, d, func(ctx context.Context) (err error) {
			r, err := f.records().Deletable(ctx, d)
			if of.gone = !r.Exists(); err != nil || of.gone {
				return err
			}
			d = r.Value.Declaration
			if r, err = f.records().BeginDeletion(ctx, r); err != nil {
				return err
			}
			of, err = c.clear(ctx, r)
			return err
		})
		if err != nil || of.gone {
			return of.notices, err
		}
		select {
		case <-ctx.Done():
			return of.notices, &terminatingError{d.Object(), of.ending}
		case <-time.After(f.pollInterval()):
		}
	}
}

// terminatingError reports that pods are still terminating.
type terminatingError struct {
	object string
	// pods is how many are terminating without a Deployment; 0 while the Deployment waits for
	// its own.
	pods int
}

// Because says what the deletion waits for.
func (e *terminatingError) Because() reason.Reason {
	if e.pods > 0 {
		return reason.PodsTerminating(reason.Object(e.object), reason.Count(e.pods))
	}
	return reason.DeploymentTerminating(reason.Object(e.object))
}

func (e *terminatingError) Error() string { return e.Because().String() }

// clearing is the progress of a deletion.
type clearing struct {
	gone    bool
	ending  int            // pods that terminate without a Deployment
	notices reason.Reasons // about what was left
}

// clear deletes the pool's own Deployment. Once it is gone and no pod is terminating, clear
// removes the pool's documents. Foreign objects of its name and running pods are left. The
// pool's lock must be held.
func (c connection) clear(ctx context.Context, r stored) (of clearing, err error) {
	d := r.Value.Declaration.WithDefaults()
	c.records().NoteDeletion(&c.outbox, r, expiry(d, c.now())...)
	c.report(ctx)
	j, err := c.loadJournal(ctx, d)
	if err != nil {
		return of, err
	}
	observation, err := c.cluster.StockOf(ctx, d.Namespace, d.Name)
	if err != nil {
		return of, err
	}
	if !observation.Known() {
		return of, errors.New("the cluster could not be observed")
	}
	mine := decide.Situation{Declaration: d, Journal: j.Value, Observation: observation}.Mine()
	switch live := observation.Deployment; {
	case live != nil && !mine:
		of.notices = reason.Reasons{reason.ForeignLeft(reason.Word(d.Key()), reason.Word(live.UID))}
	case live != nil && d.OnDestroy == stockpool.DestroyRetain:
		left := reason.Retained(reason.Word(d.Key()))
		if j.Value.PausedSince != nil && observation.Replicas() == 0 {
			if err := c.cluster.ScaleStock(ctx, live, d.Replicas); err != nil {
				return of, fmt.Errorf("%s is not destroyed: a budget had paused it, and its Deployment could not be scaled back to %d: %w",
					d.Object(), d.Replicas, err)
			}
			left = reason.RetainedSize(left, reason.Count(d.Replicas))
		}
		of.notices = reason.Reasons{left}
	case live != nil:
		if live.DeletionTimestamp == nil {
			err = c.cluster.DeleteStock(ctx, live)
		}
		return of, err
	default:
		if of = remainingPods(d, observation.Pods); of.ending > 0 {
			return of, nil
		}
	}
	of.gone = true
	unreported, err := c.forget(ctx, r, j)
	if unreported > 0 {
		of.notices = append(of.notices, reason.DestroyLost())
	}
	return of, err
}

// remainingPods sorts the pods of a deleted Deployment: it waits for those that terminate, and names
// those that keep running. Those may be wanted.
func remainingPods(d stockpool.Declaration, pods []stockpool.Pod) (of clearing) {
	var running []string
	for _, p := range pods {
		switch {
		case p.Ending:
			of.ending++
		case !p.Ended():
			running = append(running, p.Name)
		}
	}
	switch {
	case d.OnDestroy == stockpool.DestroyRetain:
		of.ending = 0
	case len(running) > 0:
		of.notices = reason.Reasons{reason.PodsLeftRunning(running, reason.Word(d.Namespace))}
	}
	return of
}

// forget removes the documents of a deleted pool, and leaves a tombstone. It returns how many
// of its events the history lacks: the deletion does not wait for them.
func (c connection) forget(ctx context.Context, r stored, j journal) (unreported int, err error) {
	d := r.Value.Declaration
	if err := c.records().WriteTombstone(ctx, d, c.now()); err != nil {
		return 0, err
	}
	tombstone, err := c.Repository.Tombstone(ctx, d.UID)
	if err != nil {
		return 0, err
	}
	c.outbox.Note(c.outbox.Sign(j.Value.DestroyEvents(d, tombstone.Value.DestroyedAt), c.Repository.Actor)...)
	unreported = c.report(ctx)
	if j.Exists() {
		if err := record.Remove(ctx, c.Repository.Store, store.StockJournals, d.UID, j.Revision); err != nil {
			return unreported, err
		}
	}
	return unreported, c.records().Remove(ctx, r)
}
