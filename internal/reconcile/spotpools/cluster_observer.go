package spotpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// clusterObserver observes the nodes of the configured cluster. The pools of one process share
// observations.
type clusterObserver struct {
	*Ports

	mu   sync.Mutex
	last *clusterObservation // nil if there is none to share
	// failure is why the last observation failed, and failed when, so that waiting callers
	// fail at once.
	failure error
	failed  time.Time
}

// clusterObservation is one observation of the nodes of the configured cluster.
type clusterObservation struct {
	uid   string
	index *node.Index
	taken time.Time // by the local clock
	pods  bool      // the pods with GPUs were requested
	// uncounted is why they could not be counted; nil if they were, or were not requested.
	uncounted error
	pools     poolsWithNodes
}

// actMaxAge is how old the observation of nodes may be for an action.
const actMaxAge = 3 * time.Second

// pollMaxAge is how old it may be while waiting for an effect.
const pollMaxAge = time.Second

// reach returns the configured cluster, and its UID.
func (o *clusterObserver) reach(ctx context.Context) (Cluster, string, error) {
	return record.Reach(ctx, o.Cluster, "pools with nodes")
}

// clusterOf returns the configured cluster, if it is the pool's.
func (o *clusterObserver) clusterOf(ctx context.Context, d spotpool.Declaration) (Cluster, error) {
	c, uid, err := o.reach(ctx)
	if err != nil {
		return nil, err
	}
	return c, SameCluster(d, uid)
}

// SameCluster refuses a pool whose nodes are in another cluster.
func SameCluster(d spotpool.Declaration, uid string) error {
	if uid != d.ClusterUID {
		return &record.ClusterError{
			Object: d.Object(), Own: d.ClusterUID, AtHand: uid, Moves: true,
		}
	}
	return nil
}

// bind returns a declaration with the cluster of its nodes. A new one gets the configured
// cluster, and another cluster than before is refused. If nodes is removed, decisions still
// need the cluster. So cluster_uid stays until the first apply after a run has observed that
// cordons, marks and tokens are gone.
func (f *Flow) bind(ctx context.Context, d spotpool.Declaration, had string, j journal.Journal) (spotpool.Declaration, error) {
	had = cmp.Or(had, d.ClusterUID)
	d.ClusterUID = ""
	if j.NeedsCluster(d) {
		d.ClusterUID = had
	}
	if d.Nodes == nil && (d.ClusterUID == "" || j.NeedsCleanup()) {
		return d, nil
	}
	_, uid, err := f.reach(ctx)
	switch {
	case d.Nodes == nil && uid != had: // its marks stay, and do not bind it to that cluster
		d.ClusterUID = ""
		return d, nil
	case d.Nodes == nil:
		return d, nil
	case err != nil && had == "":
		return d, fmt.Errorf("%s has nodes, and their cluster is unknown: %w", d.Object(), err)
	case err != nil: // an unreachable cluster does not block other changes
		return d, f.SameBudget(ctx, d)
	case had == "":
		d.ClusterUID = uid
	}
	if err := SameCluster(d, uid); err != nil {
		return d, err
	}
	return d, f.SameBudget(ctx, d)
}

// bindByJournal is bind for a pool that may have a record and a journal.
func (f *Flow) bindByJournal(ctx context.Context, d spotpool.Declaration, r stored) (spotpool.Declaration, error) {
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return d, err
	}
	old, left := r.Value.Declaration, j.Value
	left.Tokens = left.Tokens.Unexpired(f.now())
	if r.Exists() && !left.NeedsCluster(old) && (d.ClusterUID == "" || d.ClusterUID == old.ClusterUID) {
		old.ClusterUID, d.ClusterUID = "", "" // nothing of the pool is left there
	}
	return f.bind(ctx, d, old.ClusterUID, j.Value)
}

// observeCluster returns an observation of the nodes that is at most maxAge old, with the
// counts of their pods if requested and possible. Concurrent callers wait for the same one.
func (o *clusterObserver) observeCluster(ctx context.Context, maxAge time.Duration, pods bool) (*clusterObservation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.last != nil && time.Since(o.last.taken) < maxAge && (o.last.pods || !pods):
		return o.last, nil
	case o.failure != nil && time.Since(o.failed) < min(maxAge, actMaxAge):
		return nil, o.failure
	}
	seen, err := o.observeNodes(ctx, pods)
	switch {
	case err == nil:
		o.last, o.failure = seen, nil
	case ctx.Err() == nil: // else the error is not the cluster's
		o.failure, o.failed = err, time.Now()
	}
	return seen, err
}

func (o *clusterObserver) observeNodes(ctx context.Context, pods bool) (*clusterObservation, error) {
	c, _, err := o.reach(ctx)
	if err != nil {
		return nil, err
	}
	s := &clusterObservation{taken: time.Now(), pods: pods}
	observation, err := c.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("observing the nodes: %w", err)
	}
	if pods {
		var count map[string]int
		if count, s.uncounted = c.GPUPods(ctx); s.uncounted == nil {
			observation = observation.Counted(count)
		}
	}
	s.uid, s.index = observation.ClusterUID, node.NewIndex(observation)
	return s, nil
}

// forgetCluster drops the observation of a cluster that may have changed.
func (o *clusterObserver) forgetCluster() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.failure = nil, nil
}

// nodeObservation is the observed state of a pool's cluster. It is empty if the pool needs
// none, or err is why it was not observed.
type nodeObservation struct {
	observation node.Observation
	others      node.Count // nodes of other pools
	err         error
	// remark says why cordons and marks of a pool without nodes stay, or why pods could not be
	// counted; zero if neither is the case.
	remark reason.Reason
}

// observePoolNodes observes a pool's nodes, and the health of other pools'. If the cluster is
// not the pool's, the error is *record.ClusterError, and refuses the pool. After any other
// error, the nodes are unknown.
func (o *clusterObserver) observePoolNodes(ctx context.Context, d spotpool.Declaration, j journal.Journal, cloud spotpool.Observation, maxAge time.Duration,
	pods bool) nodeObservation {
	if !j.NeedsCluster(d) {
		return nodeObservation{}
	}
	observed, err := o.observeCluster(ctx, maxAge, pods)
	if err == nil {
		err = SameCluster(d, observed.uid)
	}
	switch {
	case err != nil && d.Nodes == nil:
		return nodeObservation{remark: reason.ClusterNotCleaned(reason.Object(d.Object()), reason.Failure(err))}
	case err != nil:
		return nodeObservation{err: err}
	}
	s := nodeObservation{observation: observed.index.Of(spotpool.NodeInstances(cloud.Instances), d.UID)}
	s.observation.Elsewhere = o.claimed(ctx, d, s.observation, cloud.Instances)
	if observed.uncounted != nil {
		s.remark = reason.PodsUncounted(reason.Object(d.Object()), reason.Failure(observed.uncounted))
	}
	for _, n := range s.observation.Nodes {
		if n.Ready != node.ReadyTrue && d.Nodes != nil { // else the health of other pools does not matter
			counts, err := o.poolsOf(ctx, observed)
			if err != nil {
				return nodeObservation{err: err}
			}
			s.others = observed.index.Others(d.UID, counts, time.Duration(d.Nodes.UnhealthyTimeout), s.observation.At)
			break
		}
	}
	return s
}

// claimed returns the foreign instances that ambiguous nodes claim to be. If they cannot be
// read, the nodes stay ambiguous.
func (o *clusterObserver) claimed(ctx context.Context, d spotpool.Declaration, nodes node.Observation, instances []spotpool.Instance) []node.Instance {
	ids := nodes.Claimed(spotpool.NodeInstances(instances), d.Nodes != nil && d.Nodes.MatchAddress)
	if d.Nodes == nil || len(ids) == 0 {
		return nil
	}
	found, _, err := o.Cloud.ObserveInstances(ctx, d.Region, ids)
	if err != nil {
		return nil
	}
	return spotpool.NodeInstances(found)
}

// refusal returns the error that forbids any action on the pool; nil if there is none.
func (s nodeObservation) refusal() error {
	var other *record.ClusterError
	if errors.As(s.err, &other) {
		return s.err
	}
	return nil
}
