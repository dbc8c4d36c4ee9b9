package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// listingLag bounds how long an instance may be missing from listings after its
// launch was accepted: RunInstances answers with ids before the instances are
// made, and names no bound. Within it, a missing instance does not count as
// reclaimed.
const listingLag = 2 * time.Minute

// Tagged lists the instances that carry the pool's tags: uid, region and account must
// agree. It drops repeated ids, and sorts by id.
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
	// Untagged ones are recorded by id, and their tags have not arrived yet.
	Untagged bool
	// Unlisted ones were launched a moment ago, and no listing shows them yet.
	Unlisted bool
}

// Listed lists the pool's instances that an observation shows: those that carry its tags,
// and those of its own launches whose tags have not come yet.
func (f Fleet) Listed(d spotpool.Declaration, o spotpool.Observation) []spotpool.Instance {
	var list []spotpool.Instance
	for _, i := range f.Own(d, o, o.At) {
		if !i.Unlisted {
			list = append(list, i.Instance)
		}
	}
	return list
}

// Own finds the pool's own instances, sorted by id: those that carry its
// tags, those of its own launches whose tags have not come, and those of its own
// launches that no listing has yet. It never takes an instance that carries another
// pool's uid.
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
		if !listed[k.InstanceID] && !k.Seen && !k.Ended && now.Sub(k.RecordedAt) < listingLag {
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

// Expects reports whether an instance without tags is the pool's: its id was
// recorded, and its tags were never seen or may still come. Someone took the tags off
// one that loses them later, and it is the pool's no more.
func (f Fleet) Expects(id string, now time.Time) bool {
	i, found := f.find(id)
	return found && (!f.Known[i].Tagged || now.Sub(f.Known[i].RecordedAt) <= spotpool.TagLag)
}
