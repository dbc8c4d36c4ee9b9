package loop

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// pools are the declared spot pools.
type pools interface {
	// WithNodes are the keys of the pools with nodes, by UID.
	WithNodes(ctx context.Context) (map[string]string, error)
}

// noticeWatcher watches nodes for interruption notices while a selected pool has nodes.
type noticeWatcher struct {
	loop *Loop
	flow pools
	wake chan struct{} // there are notices

	mu      sync.Mutex
	notices []cluster.Noticed // without a run

	stop func()        // of the watch; nil without one
	done chan struct{} // closed at the end of the watch
}

func (l *Loop) watcher(flow pools) *noticeWatcher {
	return &noticeWatcher{loop: l, flow: flow, wake: make(chan struct{}, 1)}
}

// update opens the watch if a pool has nodes, and otherwise closes it. The next run reports
// an unreadable store.
func (w *noticeWatcher) update(ctx context.Context) {
	pools, err := w.pools(ctx)
	switch {
	case err != nil || w.loop.Options.DryRun:
	case len(pools) == 0:
		w.close()
	case w.stop == nil:
		w.open(ctx)
	}
}

// pools are the selected pools with nodes, by UID.
func (w *noticeWatcher) pools(ctx context.Context) (map[string]string, error) {
	pools, err := w.flow.WithNodes(ctx)
	for uid, key := range pools {
		if !w.loop.Options.Names.Pool(key) {
			delete(pools, uid)
		}
	}
	return pools, err
}

func (w *noticeWatcher) open(ctx context.Context) {
	reached, err := w.loop.Reach()
	if err != nil {
		return // the run reports it
	}
	ctx, w.stop = context.WithCancel(ctx)
	w.done = make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		reached.WatchNotices(ctx, cluster.NoticeHandlers{Notice: w.notice, Trouble: w.trouble})
	}(w.done)
}

// close ends the watch, if one is open.
func (w *noticeWatcher) close() {
	if w.stop == nil {
		return
	}
	w.stop()
	<-w.done
	w.stop = nil
}

func (w *noticeWatcher) notice(n cluster.Noticed) {
	w.mu.Lock()
	w.notices = append(w.notices, n)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default: // already pending
	}
}

func (w *noticeWatcher) trouble(err error) {
	if err == nil {
		w.loop.Session.Logger().Info("watching nodes again")
		return
	}
	w.loop.Session.Warn(fmt.Sprintf("nodes cannot be watched, so only the next run observes interruption notices: %v", err))
}

// due is a run of the pools with new interruption notices, if any. It waits for another run
// until the instances are gone.
func (w *noticeWatcher) due(ctx context.Context) (asked reconcile.RunOptions, some bool) {
	w.mu.Lock()
	notices := w.notices
	w.notices = nil
	w.mu.Unlock()
	if len(notices) == 0 {
		return asked, false
	}
	asked = w.loop.Options
	pools, err := w.pools(ctx)
	if err != nil {
		w.loop.Session.Complain(err)
		return asked, false
	}
	var names declaration.Names
	for _, n := range notices {
		key, ours := pools[n.PoolUID]
		if !ours {
			continue // a pool of another store
		}
		names = append(names, key)
		asked.RunLockTimeout = max(asked.RunLockTimeout, n.TakenAt.Sub(w.loop.Session.Now()))
		w.loop.Session.Logger().Info("interruption notice", "pool", key, "node", n.Node, "taken_at", n.TakenAt)
	}
	slices.Sort(names)
	asked.Names = slices.Compact(names)
	return asked, len(names) > 0
}
