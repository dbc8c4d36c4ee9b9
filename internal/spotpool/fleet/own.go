package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// ListingLag bounds how long an instance may be missing from listings after its launch was
// accepted: RunInstances returns IDs before it creates the instances. Within it, a missing
// instance does not count as lost.
const ListingLag = 2 * time.Minute

// Tagged returns the instances with the pool's tags, sorted and without duplicates. UID,
// region and account must agree.
func Tagged(d spotpool.Declaration, o spotpool.Observation) []spotpool.Instance {
	var own []spotpool.Instance
	for _, i := range o.Instances {
		if d.UID != "" && i.PoolUID == d.UID && i.Region == d.Region && i.AccountID == d.AccountID {
			own = append(own, i)
		}
	}
	slices.SortStableFunc(own, func(a, b spotpool.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(own, func(a, b spotpool.Instance) bool { return a.ID == b.ID })
}

// OwnInstance is one of the pool's own instances, and how it was found.
type OwnInstance struct {
	spotpool.Instance
	// Untagged instances are known by their recorded IDs: their tags have not arrived yet.
	Untagged bool
	// Unlisted instances were launched within ListingLag, and no listing shows them yet.
	Unlisted bool
}

// Listed returns the pool's instances in an observation: those with its tags, and those of
// its own launches whose tags have not arrived yet.
func (f Fleet) Listed(d spotpool.Declaration, o spotpool.Observation) []spotpool.Instance {
	var list []spotpool.Instance
	for _, i := range f.Own(d, o, o.At) {
		if !i.Unlisted {
			list = append(list, i.Instance)
		}
	}
	return list
}

// Own returns the pool's own instances, sorted by ID. They have its tags, or are of its own
// launches and have no tags yet, or are not listed yet. It never returns an instance with
// another pool's UID.
func (f Fleet) Own(d spotpool.Declaration, o spotpool.Observation, now time.Time) []OwnInstance {
	found := make([]OwnInstance, 0, len(o.Instances))
	listed := make(map[string]bool, len(o.Instances))
	for _, i := range Tagged(d, o) {
		listed[i.ID] = true
		found = append(found, OwnInstance{Instance: i})
	}
	for _, i := range o.Instances {
		if listed[i.ID] {
			continue
		}
		listed[i.ID] = true
		if i.PoolUID == "" && i.Region == d.Region && i.AccountID == d.AccountID && f.Expects(i.ID, now) {
			found = append(found, OwnInstance{Instance: i, Untagged: true})
		}
	}
	for _, k := range f.Known {
		if !listed[k.InstanceID] && !k.Seen && !k.Ended && now.Sub(k.RecordedAt) < ListingLag {
			found = append(found, OwnInstance{Unlisted: true, Instance: spotpool.Instance{
				ID: k.InstanceID, Region: d.Region, AccountID: d.AccountID, PoolUID: d.UID, PoolName: d.Name,
				AvailabilityZone: k.AvailabilityZone, InstanceType: k.InstanceType, ChargeType: k.ChargeType,
				SeqTag: k.SeqTag, State: spotpool.StatePending, LaunchedAt: k.RecordedAt,
			}})
		}
	}
	slices.SortFunc(found, func(a, b OwnInstance) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// Expects reports whether an instance without tags is the pool's: its ID was recorded, and
// its tags were never observed or may still arrive. One that loses them later was untagged by
// hand, and is no longer the pool's.
func (f Fleet) Expects(id string, now time.Time) bool {
	i, found := f.find(id)
	return found && (!f.Known[i].Tagged || now.Sub(f.Known[i].RecordedAt) <= spotpool.TagLag)
}
