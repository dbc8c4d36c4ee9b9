package reconcile

import (
	"context"
	"errors"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// again runs until it is stopped. What fails in one run may succeed in the next; only
// the store and credentials must be there from the start. Between two runs it hears of
// notices.
func (o *options) again(ctx context.Context, w reconcile.World) error {
	all, ears := w.Runner(), o.listen(w.SpotPools())
	defer ears.close()
	for {
		next := o.session.Now().Add(o.every)
		if err := o.goOn(ctx, o.once(ctx, all, o.runOptions())); err != nil {
			return err
		}
		if err := o.untilNext(ctx, all, ears, next); err != nil {
			return err
		}
	}
}

// goOn tells of what a run ended with, and is the error that ends all of them.
func (o *options) goOn(ctx context.Context, err error) error {
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

// untilNext waits until the next run is due. Of the pools whose instances are taken back
// meanwhile, or were during the run before, it runs at once.
func (o *options) untilNext(ctx context.Context, all *reconcile.Runner, ears *ears, next time.Time) error {
	for {
		ears.follow(ctx)
		if asked, some := ears.heard(ctx); some {
			if err := o.goOn(ctx, o.once(ctx, all, asked)); err != nil {
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
		case <-ears.wake:
			timer.Stop()
		}
	}
}
