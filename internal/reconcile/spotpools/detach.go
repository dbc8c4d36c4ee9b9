package spotpools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// detach lets the pool's instances go on without it: their nodes are uncordoned by then,
// bear no mark that would have the next pool miss their interruption notices, and then
// their tags are removed.
func (x deletion) detach(ctx context.Context, d spotpool.Declaration, p *pass) error {
	if !p.nodes.observation.Seen() {
		if err := x.refuseCordoned(ctx, d, p.latest.plan.Journal); err != nil {
			return err
		}
	}
	for _, n := range p.nodes.observation.Nodes {
		if n.Pool != d.UID || slices.Contains(p.latest.plan.NodesLeft, n.Name) { // whose Node is deleted by its mark
			continue
		}
		cluster, err := x.clusterOf(ctx, d)
		if err == nil {
			err = cluster.UnmarkNode(ctx, n, d.UID)
		}
		if err != nil && !errors.Is(err, node.ErrChanged) {
			return fmt.Errorf("removing the mark of %s from the node %s, for which another pool would miss its interruption notices: %w", d.Object(),
				n.Name, err)
		}
		x.forgetCluster()
	}
	return x.untagAll(ctx, d, p.latest)
}

// refuseCordoned refuses to detach instances whose nodes stay cordoned, since their
// cluster can't be reached.
func (x deletion) refuseCordoned(ctx context.Context, d spotpool.Declaration, j journal.Journal) error {
	names := j.CordonedNodes()
	if len(names) == 0 || d.OnDestroy != spotpool.DestroyRetain {
		return nil
	}
	_, err := x.clusterOf(ctx, d)
	if err == nil {
		_, err = x.observeCluster(ctx, actMaxAge, false)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("the pool cordoned %s for terminations that do not come, and its instances are not detached before that is undone: %w. Run terraform "+
		"destroy again once the cluster can be reached. If it is gone for good, remove the tag gpupool/uid from the instances, or set on_destroy = "+
		"\"delete\" and apply first", wording.Some(names), err)
}

// untagAll takes the pool's own tags off its instances, and leaves them running.
// Instances that have not shown their tags yet are waited for, since the cloud would
// tag them afterwards.
func (x deletion) untagAll(ctx context.Context, d spotpool.Declaration, seen *poolObservation) error {
	ids := seen.plan.Releasable(seen.observation.At)
	if len(ids) == 0 {
		return nil
	}
	if err := x.Cloud.Untag(ctx, d.Region, ids, spotpool.OwnTags()); err != nil {
		return err
	}
	x.forgetRegion(d.Region)
	j, err := x.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	_, err = x.saveJournal(ctx, d, j, j.Value.Detach(ids, seen.observation.At))
	return err
}
