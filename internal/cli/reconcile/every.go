package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// repeat runs until interrupted. A failed run is retried by the next; only the store and
// credentials must exist at the start. Interruption notices start runs in between.
func (o *options) repeat(ctx context.Context, w reconcile.World) error {
	all, watcher := w.Runner(), o.watcher(w.SpotPools())
	defer watcher.close()
	for {
		next := o.session.Now().Add(o.every)
		if err := o.reportError(ctx, o.runOnce(ctx, all, o.runOptions())); err != nil {
			return err
		}
		if err := o.waitForNext(ctx, all, watcher, next); err != nil {
			return err
		}
	}
}

// reportError prints the error of a run, and returns one that ends all runs.
func (o *options) reportError(ctx context.Context, err error) error {
	if signal := process.Interrupted(ctx); signal != nil {
		return process.WithExitCode(signal.Code(), signal)
	}
	if err != nil && !process.Silent(err) {
		o.session.Complain(err)
	}
	if errors.Is(err, process.ErrReaderGone) {
		return err
	}
	return nil
}

// waitForNext waits until the next run is due. Interruption notices start runs of their pools
// at once.
func (o *options) waitForNext(ctx context.Context, all *reconcile.Runner, watcher *noticeWatcher, next time.Time) error {
	for {
		watcher.update(ctx)
		if asked, some := watcher.due(ctx); some {
			if err := o.reportError(ctx, o.runOnce(ctx, all, asked)); err != nil {
				return err
			}
			continue
		}
		timer := time.NewTimer(next.Sub(o.session.Now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
			return nil
		case <-watcher.wake:
			timer.Stop()
		}
	}
}
