package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Fleet is a pool's instances, and those that are gone.
type Fleet struct {
	Known []Known `json:"known,omitempty"` // by id
	Past  []Past  `json:"past,omitempty"`
}

// Of returns the record of an instance; false if there is none.
func (f Fleet) Of(id string) (Known, bool) {
	n, found := f.find(id)
	if !found {
		return Known{}, false
	}
	return f.Known[n], true
}

// find returns the index at which an ID is recorded, or would be: they are sorted.
func (f Fleet) find(id string) (int, bool) {
	return slices.BinarySearchFunc(f.Known, id, func(k Known, id string) int { return cmp.Compare(k.InstanceID, id) })
}

// change returns the fleet after a change of the records of instances.
func (f Fleet) change(ids []string, change func(*Known)) Fleet {
	f.Known = slices.Clone(f.Known)
	for _, id := range ids {
		if n, found := f.find(id); found {
			change(&f.Known[n])
		}
	}
	return f
}

// Record adds instances, and returns the new ones.
func (f Fleet) Record(list ...Known) (_ Fleet, added []Known) {
	f.Known = slices.Clone(f.Known)
	for _, k := range list {
		if n, found := f.find(k.InstanceID); !found {
			f.Known, added = slices.Insert(f.Known, n, k), append(added, k)
		}
	}
	return f, added
}

// MarkListed records that these instances were listed: if one is missing later, it was lost.
func (f Fleet) MarkListed(ids []string) Fleet {
	return f.change(ids, func(k *Known) { k.Seen = true })
}

// Terminate records that the termination of these instances is requested, so that they do
// not count as lost later.
func (f Fleet) Terminate(about history.About, ids []string) (Fleet, []history.Event) {
	var why reason.Reason
	if len(about.Reasons) > 0 {
		why = about.Reasons[0]
	}
	f = f.change(ids, func(k *Known) { k.Ended, k.EndedAt, k.EndReason = true, about.At, why })
	return f, []history.Event{about.Instances(history.Terminate, ids...)}
}

// Keep records that the termination of instances was refused. Their drains rest, since other
// drains might be useless, too.
func (f Fleet) Keep(ids []string, now time.Time) Fleet {
	return f.change(ids, func(k *Known) {
		if k.Drain.Over() {
			k.Drain.Phase, k.Drain.Refused, k.Drain.EndedAt = node.Kept, true, now
		}
		k.Ended, k.EndedAt, k.UnsettledSince, k.EndReason = false, time.Time{}, time.Time{}, reason.Reason{}
	})
}

// Detach removes instances that are no longer the pool's, and returns their records.
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

// IDs returns those of the recorded instances, and of former nodes that are not certainly
// gone. They are read one by one, since tags arrive late and the pages of a listing are not a
// snapshot.
func (f Fleet) IDs() []string {
	ids := f.Unconfirmed()
	for _, k := range f.Known {
		ids = append(ids, k.InstanceID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Unconfirmed returns the recorded instances that were nodes and are not certainly gone.
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

// AnyFormerNode reports whether an instance is gone whose Node may still exist.
func (f Fleet) AnyFormerNode() bool {
	return slices.ContainsFunc(f.Past, func(p Past) bool { return p.Node.UID != "" })
}

// AnyDrained reports whether a drain cordons a node.
func (f Fleet) AnyDrained() bool { return len(f.CordonedNodes()) > 0 }

// AnyNode reports whether an instance may be a node with the pool's mark.
func (f Fleet) AnyNode() bool {
	return slices.ContainsFunc(f.Known, func(k Known) bool { return k.Node.UID != "" })
}

// CordonedNodes returns the names of the nodes that drains cordon, as far as is known.
func (f Fleet) CordonedNodes() []string {
	var names []string
	for _, k := range f.Known {
		if k.Drain.Holds() {
			names = append(names, k.Drain.Node)
		}
	}
	return names
}
