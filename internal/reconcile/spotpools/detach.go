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

// detach detaches the pool's instances, which keep running. Their nodes are uncordoned by
// then. It removes the marks, with which the next pool would ignore their interruption
// notices, and then the tags.
func (x deletion) detach(ctx context.Context, d spotpool.Declaration, p *pass) error {
	if !p.nodes.observation.Observed() {
		if err := x.refuseCordoned(ctx, d, p.latest.plan.Journal); err != nil {
			return err
		}
	}
	for _, n := range p.nodes.observation.Nodes {
		if n.Pool != d.UID || slices.Contains(p.latest.plan.NodesLeft, n.Name) { // that Node is deleted, which needs the mark
			continue
		}
		cluster, err := x.clusterOf(ctx, d)
		if err == nil {
			err = cluster.UnmarkNode(ctx, n, d.UID)
		}
		if err != nil && !errors.Is(err, node.ErrChanged) {
			return fmt.Errorf("removing the mark of %s from node %s, without which another pool ignores its interruption notices: %w", d.Object(),
				n.Name, err)
		}
		x.forgetCluster()
	}
	return x.untagAll(ctx, d, p.latest)
}

// refuseCordoned refuses to detach instances whose nodes stay cordoned, since their cluster is
// unreachable.
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
	return fmt.Errorf("the pool cordoned %s, and its instances are not detached before these nodes are uncordoned: %w. Run terraform destroy "+
		"again once the cluster is reachable. If it is gone for good, remove the tag gpupool/uid from the instances, or set on_destroy = "+
		"\"delete\" and apply first", wording.Some(names), err)
}

// untagAll removes the pool's own tags from its instances. It waits for instances without
// their tags, since Tencent Cloud would tag them afterwards.
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
