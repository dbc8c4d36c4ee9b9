package spotpool

import (
	"cmp"
	"slices"
	"time"
)

const (
	// TagLag bounds how long the tags of a launch may stay incomplete. The cloud
	// attaches tags after it creates instances (Tencent CVM, RunInstances,
	// TagSpecification) and names no bound; this is far above what is seen.
	TagLag = 10 * time.Minute
	// listingLag bounds how long an instance may be missing from listings after its
	// launch was accepted: RunInstances answers with ids before the instances are
	// made, and names no bound. Within it, a missing instance does not count as
	// reclaimed.
	listingLag = 2 * time.Minute
)

// Own lists the instances that are the pool's own: uid, region and account must
// agree. It drops repeated ids, and sorts by id.
func Own(d Declaration, o Observation) []Instance {
	var own []Instance
	for _, i := range o.Instances {
		if d.UID != "" && i.PoolUID == d.UID && i.Region == d.Region && i.AccountID == d.AccountID {
			own = append(own, i)
		}
	}
	slices.SortStableFunc(own, func(a, b Instance) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(own, func(a, b Instance) bool { return a.ID == b.ID })
}

// Holdings lists the pool's instances that were listed: those that carry its tags,
// and those of its own launches whose tags have not come yet.
func Holdings(d Declaration, j Journal, o Observation) []Instance {
	var list []Instance
	for _, i := range ownInstances(d, j, o, o.At) {
		if !i.Unlisted {
			list = append(list, i.Instance)
		}
	}
	return list
}

// OwnInstance is one of the pool's own instances, and how it was found.
type OwnInstance struct {
	Instance
	// Untagged ones are recorded by id, and their tags have not arrived yet.
	Untagged bool
	// Unlisted ones were launched a moment ago, and no listing shows them yet.
	Unlisted bool
}

// ownInstances finds the pool's own instances, sorted by id: those that carry its
// tags, those of its own launches whose tags have not come, and those of its own
// launches that no listing has yet. It never takes an instance that carries another
// pool's uid.
func ownInstances(d Declaration, j Journal, o Observation, now time.Time) []OwnInstance {
	found := make([]OwnInstance, 0, len(o.Instances))
	listed := make(map[string]bool, len(o.Instances))
	for _, i := range Own(d, o) {
		listed[i.ID] = true
		found = append(found, OwnInstance{Instance: i})
	}
	for _, i := range o.Instances {
		if listed[i.ID] {
			continue
		}
		listed[i.ID] = true
		if i.PoolUID == "" && i.Region == d.Region && i.AccountID == d.AccountID && j.Expects(i.ID, now) {
			found = append(found, OwnInstance{Instance: i, Untagged: true})
		}
	}
	for _, k := range j.Known {
		if !listed[k.InstanceID] && !k.Seen && !k.Ended && now.Sub(k.RecordedAt) < listingLag {
			found = append(found, OwnInstance{Unlisted: true, Instance: Instance{
				ID: k.InstanceID, Region: d.Region, AccountID: d.AccountID, PoolUID: d.UID, PoolName: d.Name,
				AvailabilityZone: k.AvailabilityZone, InstanceType: k.InstanceType, ChargeType: k.ChargeType,
				SeqTag: k.SeqTag, State: StatePending, LaunchedAt: k.RecordedAt,
			}})
		}
	}
	slices.SortFunc(found, func(a, b OwnInstance) int { return cmp.Compare(a.ID, b.ID) })
	return found
}
