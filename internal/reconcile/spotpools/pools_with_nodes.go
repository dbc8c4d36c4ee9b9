package spotpools

import (
	"context"
	"fmt"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// poolsWithNodes are the pools of a cluster whose marks count. They are read once for each
// observation.
type poolsWithNodes struct {
	mu   sync.Mutex
	read bool
	uids map[string]bool
	all  bool // a record is unreadable, so that any mark may be of a declared pool
}

// poolsOf returns a function that reports whether a mark is of a declared pool with nodes in
// the cluster. A destroyed pool may leave marks.
func (o *clusterObserver) poolsOf(ctx context.Context, observed *clusterObservation) (counts func(poolUID string) bool, err error) {
	p := &observed.pools
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.read {
		list, err := o.records().List(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading which pools have nodes in the cluster: %w", err)
		}
		p.uids, p.read = map[string]bool{}, true
		for _, l := range list {
			d := l.Record.Declaration
			p.all = p.all || l.Err != nil
			if l.Err == nil && d.Nodes != nil && d.ClusterUID == observed.uid && l.Record.Phase != declaration.Deleting {
				p.uids[d.UID] = true
			}
		}
	}
	return func(poolUID string) bool { return p.all || p.uids[poolUID] }, nil
}
