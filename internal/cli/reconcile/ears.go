package reconcile

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
	// WithNodes are the keys of the pools that have nodes, by uid.
	WithNodes(ctx context.Context) (map[string]string, error)
}

// ears hear of nodes that were given notice, by a watch that is open while a pool that
// the command looks after has nodes.
type ears struct {
	options *options
	flow    pools
	wake    chan struct{} // something was heard

	mu      sync.Mutex
	notices []cluster.Noticed // not yet run for

	stop func()        // of the watch; nil where none is open
	done chan struct{} // closed when it has ended
}

func (o *options) listen(flow pools) *ears {
	return &ears{options: o, flow: flow, wake: make(chan struct{}, 1)}
}

// follow opens the watch where a pool has nodes, and closes it where none has. What can't
// be read of the store is told by the next run.
func (e *ears) follow(ctx context.Context) {
	pools, err := e.pools(ctx)
	switch {
	case err != nil || e.options.dryRun:
	case len(pools) == 0:
		e.close()
	case e.stop == nil:
		e.open(ctx)
	}
}

// pools are those with nodes that the command looks after, by their uids.
func (e *ears) pools(ctx context.Context) (map[string]string, error) {
	pools, err := e.flow.WithNodes(ctx)
	for uid, key := range pools {
		if !e.options.names.Pool(key) {
			delete(pools, uid)
		}
	}
	return pools, err
}

func (e *ears) open(ctx context.Context) {
	reached, err := e.options.store.Reach()
	if err != nil {
		return // which the run says of the pool
	}
	ctx, e.stop = context.WithCancel(ctx)
	e.done = make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		reached.WatchNotices(ctx, cluster.NoticeEars{Notice: e.notice, Trouble: e.trouble})
	}(e.done)
}

// close ends the watch, if one is open.
func (e *ears) close() {
	if e.stop == nil {
		return
	}
	e.stop()
	<-e.done
	e.stop = nil
}

func (e *ears) notice(n cluster.Noticed) {
	e.mu.Lock()
	e.notices = append(e.notices, n)
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default: // it is awake
	}
}

func (e *ears) trouble(err error) {
	if err == nil {
		e.options.session.Logger().Info("notices are heard again")
		return
	}
	e.options.session.Warn(fmt.Sprintf("that the cloud takes an instance back is not heard at once, but seen by the next run, since the nodes can't "+
		"be watched: %v", err))
}

// heard is a run of the pools for which notice was heard, and whether there is any. It
// waits for a run of somebody else until the instances are gone.
func (e *ears) heard(ctx context.Context) (asked reconcile.RunOptions, some bool) {
	e.mu.Lock()
	notices := e.notices
	e.notices = nil
	e.mu.Unlock()
	if len(notices) == 0 {
		return asked, false
	}
	asked = e.options.runOptions()
	pools, err := e.pools(ctx)
	if err != nil {
		e.options.session.Complain(err)
		return asked, false
	}
	var names declaration.Names
	for _, n := range notices {
		key, ours := pools[n.PoolUID]
		if !ours {
			continue // another store's
		}
		names = append(names, key)
		asked.RunLockTimeout = max(asked.RunLockTimeout, n.TakenAt.Sub(e.options.session.Now()))
		e.options.session.Logger().Info("notice heard", "pool", key, "node", n.Node, "taken_at", n.TakenAt)
	}
	slices.Sort(names)
	asked.Names = slices.Compact(names)
	return asked, len(names) > 0
}
