// Package loop repeats runs, for the commands that run until they are interrupted.
package loop

import (
	"context"
	"errors"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// Loop repeats runs at an interval. Interruption notices start runs of their pools in between.
type Loop struct {
	Session *process.Session
	Every   time.Duration
	// Options are those of each run.
	Options reconcile.RunOptions
	// Once runs once, and returns its error with an exit code.
	Once func(ctx context.Context, all *reconcile.Runner, asked reconcile.RunOptions) error
	// Reach returns the cluster whose nodes are watched.
	Reach func() (*cluster.Cluster, error)
	// Wake starts a run before it is due; nil if nothing does.
	Wake <-chan struct{}
}

// Repeat runs until interrupted. A failed run is retried by the next; only the store and
// credentials must exist at the start.
func (l *Loop) Repeat(ctx context.Context, w reconcile.World) error {
	all, watcher := w.Runner(), l.watcher(w.SpotPools())
	defer watcher.close()
	for {
		next := l.Session.Now().Add(l.Every)
		if err := l.reportError(ctx, l.Once(ctx, all, l.Options)); err != nil {
			return err
		}
		if err := l.waitForNext(ctx, all, watcher, next); err != nil {
			return err
		}
	}
}

// reportError prints the error of a run, and returns one that ends all runs.
func (l *Loop) reportError(ctx context.Context, err error) error {
	if signal := process.Interrupted(ctx); signal != nil {
		return process.WithExitCode(signal.Code(), signal)
	}
	if err != nil && !process.Silent(err) {
		l.Session.Complain(err)
	}
	if errors.Is(err, process.ErrReaderGone) {
		return err
	}
	return nil
}

// waitForNext waits until the next run is due.
func (l *Loop) waitForNext(ctx context.Context, all *reconcile.Runner, watcher *noticeWatcher, next time.Time) error {
	for {
		watcher.update(ctx)
		if asked, some := watcher.due(ctx); some {
			if err := l.reportError(ctx, l.Once(ctx, all, asked)); err != nil {
				return err
			}
			continue
		}
		timer := time.NewTimer(next.Sub(l.Session.Now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
			return nil
		case <-l.Wake:
			timer.Stop()
			return nil
		case <-watcher.wake:
			timer.Stop()
		}
	}
}
