package toycloud

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// ObserveRegion lists every instance that has a pool's uid.
func (c *Cloud) ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, region, func(i spotpool.Instance) bool { return i.PoolUID != "" })
}

// ObserveNamed lists the instances that have a pool's name.
func (c *Cloud) ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, region, func(i spotpool.Instance) bool { return i.PoolName == name })
}

// ObserveInstances looks instances up by id.
func (c *Cloud) ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, region, func(i spotpool.Instance) bool { return slices.Contains(ids, i.ID) })
}

// ObservePool lists the instances that have the uid, and those of ids, whose tags may be
// late.
func (c *Cloud) ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, region, func(i spotpool.Instance) bool { return i.PoolUID == uid || slices.Contains(ids, i.ID) })
}

// list lists the instances that match, by the tags that they show by now.
func (c *Cloud) list(ctx context.Context, region string, match func(spotpool.Instance) bool) ([]spotpool.Instance, time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, "List"); err != nil {
		return nil, time.Time{}, err
	}
	var list []spotpool.Instance
	for _, i := range c.instances {
		if observed := c.observed(i); i.Region == region && match(observed) {
			list = append(list, observed)
		}
	}
	slices.SortFunc(list, func(a, b spotpool.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return list, c.now, nil
}

// observed returns an instance as it is listed now. If a protection is misread, a protected
// instance is terminated.
func (c *Cloud) observed(i *instance) spotpool.Instance {
	out := i.Instance
	if out.State == spotpool.StatePending && !c.now.Before(i.LaunchedAt.Add(starting)) {
		out.State = spotpool.StateRunning
	}
	out.APIProtected = i.protected
	if c.now.Before(i.listedAt) {
		return out
	}
	out.PoolUID, out.PoolName, out.ConfigurationTag = i.tags[spotpool.TagUID], i.tags[spotpool.TagPool], i.tags[spotpool.TagConfiguration]
	out.SeqTag, _ = strconv.ParseInt(i.tags[spotpool.TagSequence], 10, 64) // a sequence that a person wrote is none
	out.Protected = i.tags[spotpool.TagProtected] != ""
	return out
}
