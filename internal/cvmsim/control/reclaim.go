package control

import (
	"cmp"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// ReclaimRequest selects spot instances to reclaim: by IDs, or Count of a pool.
type ReclaimRequest struct {
	InstanceIDs []string `json:"instance_ids,omitempty"`
	Pool        string   `json:"pool,omitempty"`
	// Region narrows Pool to one region.
	Region string `json:"region,omitempty"`
	// Count is how many of the pool, oldest first; 0 means 1.
	Count int `json:"count,omitempty"`
	// Notice is how long before the metadata service announces it; 0 reclaims at once.
	Notice world.Duration `json:"notice,omitempty"`
	// View is the visible state afterwards; empty means ViewVanish.
	View string `json:"view,omitempty"`
	// Linger is how long the other two views last; 0 means the terminate
	// delay.
	Linger world.Duration `json:"linger,omitempty"`
}

// Reclaim reclaims instances and returns their IDs.
func (p *Panel) Reclaim(r ReclaimRequest) ([]string, error) {
	r.View = cmp.Or(r.View, world.ViewVanish)
	if r.View != world.ViewVanish && r.View != world.ViewTerminating && r.View != world.ViewShutdown {
		return nil, fieldError("view", "must be vanish, terminating or shutdown, not %q", r.View)
	}
	if err := cmp.Or(notNegative("notice", r.Notice), notNegative("linger", r.Linger)); err != nil {
		return nil, err
	}
	var ids []string
	err := p.store.Change(func(w *world.World) error {
		now := w.Now()
		w.Advance(now)
		chosen, err := chooseReclaimed(w, r)
		if err != nil {
			return err
		}
		for _, in := range chosen {
			ids = append(ids, in.ID)
			w.AnnounceReclaim(in, now.Add(time.Duration(r.Notice)), r.View, r.Linger)
		}
		w.Advance(now)
		return nil
	})
	return ids, err
}

func chooseReclaimed(w *world.World, r ReclaimRequest) ([]*world.Instance, error) {
	if (len(r.InstanceIDs) == 0) == (r.Pool == "") {
		return nil, fieldError("instance_ids", "give either instance_ids or pool")
	}
	if len(r.InstanceIDs) > 0 {
		if r.Count != 0 {
			return nil, fieldError("count", "goes with pool, not with instance_ids")
		}
		return reclaimableByID(w, r.InstanceIDs)
	}
	count := cmp.Or(r.Count, 1)
	if count < 0 {
		return nil, fieldError("count", "must be above 0")
	}
	var chosen []*world.Instance
	for _, in := range w.Instances.Ordered() {
		if len(chosen) < count && in.FinalTag(world.PoolTag) == r.Pool && api.Fits(r.Region, in.Region) && world.Reclaimable(in) == "" {
			chosen = append(chosen, in)
		}
	}
	if len(chosen) < count {
		return nil, fieldError("count", "the pool %q has %d spot instances that can be reclaimed, not %d", r.Pool, len(chosen), count)
	}
	return chosen, nil
}

func reclaimableByID(w *world.World, ids []string) ([]*world.Instance, error) {
	chosen := make([]*world.Instance, len(ids))
	for i, id := range ids {
		in := w.Instances.Get(id)
		if in == nil {
			return nil, fieldError("instance_ids", "there is no instance %q", id)
		}
		if why := world.Reclaimable(in); why != "" {
			return nil, fieldError("instance_ids", "%s %s", id, why)
		}
		chosen[i] = in
	}
	return chosen, nil
}
