package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Fleet is what is known of a pool's instances, and of those that are gone.
type Fleet struct {
	Known []Known `json:"known,omitempty"` // by id
	Past  []Past  `json:"past,omitempty"`
}

// Of is what is recorded of an instance; false if nothing is.
func (f Fleet) Of(id string) (Known, bool) {
	n, found := f.find(id)
	if !found {
		return Known{}, false
	}
	return f.Known[n], true
}

// find returns where an id is recorded, or would be: they are in order.
func (f Fleet) find(id string) (int, bool) {
	return slices.BinarySearchFunc(f.Known, id, func(k Known, id string) int { return cmp.Compare(k.InstanceID, id) })
}

// changed is the fleet after a change of what is recorded of instances, if anything is.
func (f Fleet) changed(ids []string, change func(*Known)) Fleet {
	f.Known = slices.Clone(f.Known)
	for _, id := range ids {
		if n, found := f.find(id); found {
			change(&f.Known[n])
		}
	}
	return f
}

// Record records instances that are new, and returns these.
func (f Fleet) Record(list ...Known) (_ Fleet, added []Known) {
	f.Known = slices.Clone(f.Known)
	for _, k := range list {
		if n, found := f.find(k.InstanceID); !found {
			f.Known, added = slices.Insert(f.Known, n, k), append(added, k)
		}
	}
	return f, added
}

// MarkListed records that these instances were listed: one that is missing from now on
// was reclaimed.
func (f Fleet) MarkListed(ids []string) Fleet {
	return f.changed(ids, func(k *Known) { k.Seen = true })
}

// Terminate records that the termination of these instances is requested, so that their
// disappearance does not count as a reclaim.
func (f Fleet) Terminate(about history.About, ids []string) (Fleet, []history.Event) {
	why := ""
	if len(about.Reasons) > 0 {
		why = about.Reasons[0]
	}
	f = f.changed(ids, func(k *Known) { k.Ended, k.EndedAt, k.EndReason = true, about.At, why })
	return f, []history.Event{about.Instances(history.Terminate, ids...)}
}

// Keep records that the termination of instances was refused. What was drained for it
// rests, as others would be drained in vain.
func (f Fleet) Keep(ids []string, now time.Time) Fleet {
	return f.changed(ids, func(k *Known) {
		if k.Drain.Over() {
			k.Drain.Phase, k.Drain.Refused, k.Drain.EndedAt = node.Kept, true, now
		}
		k.Ended, k.EndedAt, k.UnsettledSince, k.EndReason = false, time.Time{}, time.Time{}, ""
	})
}

// Detach forgets instances that are the pool's no more, and returns what was known of
// them.
func (f Fleet) Detach(ids []string) (_ Fleet, detached []Known) {
	list := f.Known
	f.Known = nil
	for _, k := range list {
		if slices.Contains(ids, k.InstanceID) {
			detached = append(detached, k)
		} else {
			f.Known = append(f.Known, k)
		}
	}
	return f, detached
}

// IDs are those of the recorded instances, and of those that are gone, but not for sure,
// and were nodes. Recorded ids are looked up one by one as well, since tags arrive late
// and the pages of a listing are no snapshot.
func (f Fleet) IDs() []string {
	ids := f.Unconfirmed()
	for _, k := range f.Known {
		ids = append(ids, k.InstanceID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Unconfirmed are the recorded instances that were nodes, and of which it is not known
// for sure that they are gone.
func (f Fleet) Unconfirmed() []string {
	var ids []string
	for _, k := range f.Known {
		if k.Node.UID != "" {
			ids = append(ids, k.InstanceID)
		}
	}
	for _, p := range f.Past {
		if p.Node.UID != "" && !p.Confirmed {
			ids = append(ids, p.InstanceID)
		}
	}
	return ids
}

// WereNodes reports whether an instance that is gone was a node whose own end was not
// observed yet.
func (f Fleet) WereNodes() bool {
	return slices.ContainsFunc(f.Past, func(p Past) bool { return p.Node.UID != "" })
}

// AnyDrained reports whether a drain holds a node that is to be let go again.
func (f Fleet) AnyDrained() bool { return len(f.CordonedNodes()) > 0 }

// AnyNode reports whether an instance may be a node with the pool's mark.
func (f Fleet) AnyNode() bool {
	return slices.ContainsFunc(f.Known, func(k Known) bool { return k.Node.UID != "" })
}

// CordonedNodes are the names of the nodes that drains hold, as far as is known.
func (f Fleet) CordonedNodes() []string {
	var names []string
	for _, k := range f.Known {
		if k.Drain.Holds() {
			names = append(names, k.Drain.Node)
		}
	}
	return names
}
