package spotpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// clusterObserver observes the nodes of the cluster at hand. The pools of one process share
// observations of them.
type clusterObserver struct {
	*Ports

	mu   sync.Mutex
	last *clusterObservation // nil where there is none to share
	// failure is why the last observation failed, and failed when it did: who waited for
	// it need not find out as slowly.
	failure error
	failed  time.Time
}

// clusterObservation is one observation of the nodes of the cluster at hand.
type clusterObservation struct {
	uid   string
	index *node.Index
	taken time.Time // this machine's clock
	pods  bool      // the pods with GPUs were to be counted
	// uncounted says why they could not be; nil where they were, or nobody asked.
	uncounted error
	pools     poolsWithNodes
}

// actMaxAge is how old the observation of the nodes may be by which is acted.
const actMaxAge = 3 * time.Second

// pollMaxAge is how old it may be where what was asked for is waited for.
const pollMaxAge = time.Second

// reach returns the cluster at hand, and its identity.
func (o *clusterObserver) reach(ctx context.Context) (Cluster, string, error) {
	return record.Reach(ctx, o.Cluster, "pools with nodes")
}

// clusterOf returns the cluster at hand, if it is the pool's.
func (o *clusterObserver) clusterOf(ctx context.Context, d spotpool.Declaration) (Cluster, error) {
	c, uid, err := o.reach(ctx)
	if err != nil {
		return nil, err
	}
	return c, SameCluster(d, uid)
}

// SameCluster refuses a pool whose nodes are of another cluster.
func SameCluster(d spotpool.Declaration, uid string) error {
	if uid != d.ClusterUID {
		return &record.ClusterError{
			Object: d.Object(), Own: d.ClusterUID, AtHand: uid, Move: "; where the pool moves to another cluster, apply it without nodes first",
		}
	}
	return nil
}

// bound is a declaration with the cluster that its nodes are of. One that had none is
// given the cluster at hand; another than it had is refused. Where the nodes are given
// up, the cluster stays known until what was done to them is undone.
func (f *Flow) bound(ctx context.Context, d spotpool.Declaration, had string, j journal.Journal) (spotpool.Declaration, error) {
	had = cmp.Or(had, d.ClusterUID)
	d.ClusterUID = ""
	if j.NeedsCluster(d) {
		d.ClusterUID = had
	}
	if d.Nodes == nil && (d.ClusterUID == "" || j.Undoes()) {
		return d, nil
	}
	_, uid, err := f.reach(ctx)
	switch {
	case d.Nodes == nil && uid != had: // its marks stay, and keep it from no other cluster
		d.ClusterUID = ""
		return d, nil
	case d.Nodes == nil:
		return d, nil
	case err != nil && had == "":
		return d, fmt.Errorf("%s has nodes, and which cluster they are of can't be learned: %w", d.Object(), err)
	case err != nil: // a cluster that is away keeps nobody from changing the rest
		return d, f.SameBudget(ctx, d)
	case had == "":
		d.ClusterUID = uid
	}
	if err := SameCluster(d, uid); err != nil {
		return d, err
	}
	return d, f.SameBudget(ctx, d)
}

// boundByJournal is bound for a pool that may have a record and a journal.
func (f *Flow) boundByJournal(ctx context.Context, d spotpool.Declaration, r stored) (spotpool.Declaration, error) {
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return d, err
	}
	old, left := r.Value.Declaration, j.Value
	left.Tokens = left.Tokens.Unexpired(f.now())
	if r.Exists() && !left.NeedsCluster(old) && (d.ClusterUID == "" || d.ClusterUID == old.ClusterUID) {
		old.ClusterUID, d.ClusterUID = "", "" // nothing of the pool is left there
	}
	return f.bound(ctx, d, old.ClusterUID, j.Value)
}

// observeCluster returns an observation of the nodes that is at most maxAge old, with the pods
// on them counted where that is asked for and can be. Callers that ask meanwhile wait for
// it.
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
	case ctx.Err() == nil: // else it says nothing about the cluster
		o.failure, o.failed = err, time.Now()
	}
	return seen, err
}

// observeNodes observes the nodes now.
func (o *clusterObserver) observeNodes(ctx context.Context, pods bool) (*clusterObservation, error) {
	c, _, err := o.reach(ctx)
	if err != nil {
		return nil, err
	}
	s := &clusterObservation{taken: time.Now(), pods: pods}
	observation, err := c.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking at the nodes of the cluster: %w", err)
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

// forgetCluster drops the observation of the cluster, which may have changed since.
func (o *clusterObserver) forgetCluster() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last, o.failure = nil, nil
}

// nodeObservation is what was observed of a pool's cluster: nothing if the pool asks none,
// or if err says why it was not observed.
type nodeObservation struct {
	observation node.Observation
	others      node.Count // nodes of other pools
	err         error
	// remark says why what was done to nodes can't be undone, where the pool has given
	// them up, or why the pods on them could not be counted; empty where nothing is in the
	// way.
	remark string
}

// observePoolNodes observes the nodes that concern a pool, and the health of the others.
// The error of another cluster than the pool's is *record.ClusterError, and refuses the
// pool; any other leaves the nodes unseen.
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
		return nodeObservation{remark: fmt.Sprintf("what %s did to its cluster can't be undone, be it nodes that are cordoned, nodes with its mark, for which "+
			"a pool that adopts them would miss their interruption notices, or bootstrap tokens that are valid still: %s", d.Object(), err)}
	case err != nil:
		return nodeObservation{err: err}
	}
	s := nodeObservation{observation: observed.index.Of(spotpool.NodeInstances(cloud.Instances), d.UID)}
	s.observation.Elsewhere = o.claimed(ctx, d, s.observation, cloud.Instances)
	if observed.uncounted != nil {
		s.remark = fmt.Sprintf("which instances of %s have pods with GPUs is not known, and some that have may end before others: %s", d.Object(),
			observed.uncounted)
	}
	for _, n := range s.observation.Nodes {
		if n.Ready != node.ReadyTrue && d.Nodes != nil { // else nobody asks how the others fare
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

// claimed are the instances of others that nodes claim to be while they leave in doubt
// which node an instance of the pool is. Where the cloud can't be asked, the doubt stays.
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

// refuses is the error for which nothing at all is done to the pool; nil where there is
// none.
func (s nodeObservation) refuses() error {
	var other *record.ClusterError
	if errors.As(s.err, &other) {
		return s.err
	}
	return nil
}
