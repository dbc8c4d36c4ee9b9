package stockpools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Delete ends a stock pool for good: its Deployment and its pods are deleted, or left
// where its declaration says so, and what is recorded of it is removed once they were
// observed to be gone. It waits for that at most so long, without the pool's lock. A deletion
// that was cut short is finished by the next one, or by a run. The notice says what was
// left.
func (f *Flow) Delete(ctx context.Context, d stockpool.Declaration, wait time.Duration) (notice string, err error) {
	c, err := f.connectOwn(ctx, d)
	if err != nil {
		return "", fmt.Errorf("%s is not destroyed: %w", d.Object(), err)
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
			return of.notice, err
		}
		select {
		case <-ctx.Done():
			return of.notice, &stillEndingError{d.Object(), of.ending}
		case <-time.After(f.pollInterval()):
		}
	}
}

// stillEndingError says that a pool's pods have not ended yet.
type stillEndingError struct {
	object string
	// pods is how many are ending without a Deployment; 0 where that waits for its own.
	pods int
}

func (e *stillEndingError) Error() string {
	what := "its Deployment is being deleted, and waits for its pods to end"
	if e.pods > 0 {
		what = fmt.Sprintf("its Deployment is gone, and %d of its pods %s ending", e.pods, wording.Plural(e.pods, "is", "are"))
	}
	return e.object + " is not destroyed yet: " + what + ". The next run of gpupool reconcile goes on with it, or destroy it again"
}

// clearing is how far a pool's end has come.
type clearing struct {
	gone   bool
	ending int    // pods that end without a Deployment
	notice string // of what was left
}

// clear deletes a pool's own Deployment, and once that is gone and no pod is ending what
// is recorded of the pool. What somebody else made by its name is left, and so are pods
// that nobody ends. The pool's lock must be held.
func (c connection) clear(ctx context.Context, r stored) (of clearing, err error) {
	d := r.Value.Declaration.WithDefaults()
	c.records().NoteDeletion(&c.outbox, r)
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
		return of, errors.New("the cluster did not say what is there")
	}
	mine := decide.Situation{Declaration: d, Journal: j.Value, Observation: observation}.Mine()
	switch live := observation.Deployment; {
	case live != nil && !mine:
		of.notice = fmt.Sprintf("the Deployment %s (uid %s) is not gpupool's: it was left", d.Key(), live.UID)
	case live != nil && d.OnDestroy == stockpool.DestroyRetain:
		of.notice = fmt.Sprintf("the Deployment %s was left, and nobody keeps it as declared any longer", d.Key())
		if j.Value.PausedSince != nil && observation.Replicas() == 0 {
			if err := c.cluster.ScaleStock(ctx, live, d.Replicas); err != nil {
				return of, fmt.Errorf("%s is not destroyed: a budget had it paused, and its Deployment could not get its %d replicas back: %w",
					d.Object(), d.Replicas, err)
			}
			of.notice += fmt.Sprintf(". A budget had paused it, and it has its %d replicas again: budgets pause it like any other Deployment",
				d.Replicas)
		}
	case live != nil:
		if live.DeletionTimestamp == nil {
			err = c.cluster.DeleteStock(ctx, live)
		}
		return of, err
	default:
		if of = leftBy(d, observation.Pods); of.ending > 0 {
			return of, nil
		}
	}
	of.gone = true
	unreported, err := c.forget(ctx, r, j)
	if unreported > 0 {
		lacks := "the history could not be told that it is destroyed, and nothing tells it later"
		of.notice = strings.Join(slices.DeleteFunc([]string{of.notice, lacks}, func(text string) bool { return text == "" }), "; ")
	}
	return of, err
}

// leftBy is how pods stand whose Deployment is gone: those that end are waited for, and
// those that somebody left running are named. Whoever left them may want them.
func leftBy(d stockpool.Declaration, pods []stockpool.Pod) (of clearing) {
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
		of.notice = fmt.Sprintf("its Deployment was deleted by somebody, and its pods %s in the namespace %s were left: delete them where nobody wants them",
			wording.Some(running), d.Namespace)
	}
	return of
}

// forget removes what is recorded of a pool that is gone, and leaves a tombstone. It
// returns how many events of it the history lacks: an end does not wait
// for that.
func (c connection) forget(ctx context.Context, r stored, j journal) (unreported int, err error) {
	d := r.Value.Declaration
	if err := c.records().WriteTombstone(ctx, d, c.now()); err != nil {
		return 0, err
	}
	tombstone, err := c.Keeper.Tombstone(ctx, d.UID)
	if err != nil {
		return 0, err
	}
	c.outbox.Note(c.outbox.Sign(j.Value.Destroyed(d, tombstone.Value.DestroyedAt), c.Keeper.Actor)...)
	unreported = c.report(ctx)
	if j.Exists() {
		if err := record.Remove(ctx, c.Keeper.Store, store.StockJournals, d.UID, j.Revision); err != nil {
			return unreported, err
		}
	}
	return unreported, c.records().Remove(ctx, r)
}
