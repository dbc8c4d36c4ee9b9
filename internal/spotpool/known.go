package spotpool

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Known is an instance whose id was recorded. Recorded ids are looked up one by one
// as well, since tags arrive late and the pages of a listing are no snapshot.
type Known struct {
	InstanceID string `json:"instance_id"`
	Market
	SubnetID string `json:"subnet_id,omitempty"` // where the launch said so
	SeqTag   int64  `json:"seq,omitempty"`       // its tag gpupool/seq, once known
	// RecordedAt is when the cloud accepted the launch, or else when the instance was
	// first seen or adopted.
	RecordedAt time.Time `json:"recorded_at,omitzero"`
	Seen       bool      `json:"seen,omitempty"`   // was listed since
	Tagged     bool      `json:"tagged,omitempty"` // was listed with the pool's tags
	// UnsettledSince is when the instance was first seen starting or rebooting,
	// or still running after its end was asked for.
	UnsettledSince time.Time `json:"unsettled_since,omitzero"`
	// Ended says that its end was asked for, or that it ended unasked and this was
	// noticed.
	Ended bool `json:"ended,omitempty"`
	// EndedAt is when its end was asked for, where the pool did.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// NoticedAt is when its end was first noticed, where the pool did not ask for it.
	NoticedAt time.Time `json:"noticed_at,omitzero"`
	// EndReason is why the pool asked for its end.
	EndReason string `json:"end_reason,omitempty"`
	// Node is what is remembered of it as a node, Drain how far that is emptied, and
	// ReplacedSince since when another is to take its place.
	Node          node.Memory `json:"node,omitzero"`
	Drain         node.Drain  `json:"drain,omitzero"`
	ReplacedSince time.Time   `json:"replaced_since,omitzero"`
	// TakenAt is when the cloud takes it back, by a notice that is in force.
	TakenAt time.Time `json:"taken_at,omitzero"`
	// ToldTakenAt is the TakenAt of the last notice that was told, in force or not, until
	// its node is seen without one: a notice that is renewed, or was not seen for a while,
	// is no news.
	ToldTakenAt time.Time `json:"told_taken_at,omitzero"`
}

// Past is an instance that is gone.
type Past struct {
	InstanceID string    `json:"instance_id"`
	SeqTag     int64     `json:"seq,omitempty"`
	EndedAt    time.Time `json:"ended_at,omitzero"`   // when the pool asked for its end
	NoticedAt  time.Time `json:"noticed_at,omitzero"` // when its end was noticed, where the pool did not ask
	// Node is the node that it was. AbsentSince is when the cloud first said, asked for
	// its id, that there is no such instance, and Confirmed that it said so again a
	// minute later.
	Node        node.Memory `json:"node,omitzero"`
	AbsentSince time.Time   `json:"absent_since,omitzero"`
	Confirmed   bool        `json:"confirmed,omitempty"`
	// NodeDeletedAt is when its Node was about to be deleted; zero once that is told.
	NodeDeletedAt time.Time `json:"node_deleted_at,omitzero"`
	// NodeInUse says that another machine uses its Node: that became Ready, or had the
	// address of another instance, after the instance was gone for sure.
	NodeInUse bool `json:"node_in_use,omitempty"`
}

// confirmAfter is how long after the first look that showed an instance gone a second
// one has to show the same.
const confirmAfter = time.Minute

// confirm notes which instances that are gone the cloud does not know, asked for their
// ids; j must be a clone.
func (j *Journal) confirm(absent []string, now time.Time) {
	for n, p := range j.Past {
		j.Past[n] = p.absent(slices.Contains(absent, p.InstanceID), now)
	}
}

// absent notes what a look showed of an instance that is gone.
func (p Past) absent(shown bool, now time.Time) Past {
	switch {
	case !shown || p.Node.UID == "": // one that is there is no Past any more
	case p.AbsentSince.IsZero():
		p.AbsentSince = now
	case now.Sub(p.AbsentSince) >= confirmAfter:
		p.Confirmed = true
	}
	return p
}

// inUse notes which Nodes of instances that are gone for sure another machine uses. A
// kubelet that finds a Node of its host name registers as that Node, which keeps the
// provider ID of the instance that is gone; j must be a clone.
func (j *Journal) inUse(l node.Look, of node.Matches) {
	for at, p := range j.Past {
		if !p.Confirmed || p.NodeInUse {
			continue
		}
		n, found := l.Node(p.Node.UID)
		j.Past[at].NodeInUse = found && !n.Silent() && (n.ReadySince.After(p.AbsentSince) || of.Contests(n))
	}
}

// GoneAt is when its end was asked for, or else noticed.
func (p Past) GoneAt() time.Time {
	if p.EndedAt.IsZero() {
		return p.NoticedAt
	}
	return p.EndedAt
}

// pastFor is how long instances that are gone are remembered, so that later runs can
// tell when what ran on them ended.
const pastFor = 48 * time.Hour

// KnownIDs lists the recorded instances.
func (j Journal) KnownIDs() []string {
	ids := make([]string, len(j.Known))
	for i, k := range j.Known {
		ids[i] = k.InstanceID
	}
	return ids
}

// Listed notes that these instances were listed: one that is missing from now on was
// reclaimed.
func (j Journal) Listed(ids []string) Journal {
	return j.changed(ids, func(k *Known) { k.Seen = true })
}

// Adopted records instances that were taken into the pool.
func (j Journal) Adopted(instances []Instance, now time.Time) Journal {
	j = j.Clone()
	var ids []string
	for _, i := range instances {
		if _, known := j.find(i.ID); !known {
			ids = append(ids, i.ID)
		}
		j = j.know(Known{InstanceID: i.ID, Market: i.Market(), SubnetID: i.SubnetID, SeqTag: i.SeqTag, RecordedAt: now, Seen: true})
	}
	if len(ids) > 0 {
		j.tell(j.about(now).Instances(history.Adopt, ids...))
	}
	return j
}

// Ending notes that the end of these instances is asked for, so that their
// disappearance does not count as a reclaim.
func (j Journal) Ending(ids []string, now time.Time, reasons ...string) Journal {
	why := ""
	if len(reasons) > 0 {
		why = reasons[0]
	}
	j = j.changed(ids, func(k *Known) { k.Ended, k.EndedAt, k.EndReason = true, now, why })
	j.tell(j.about(now, reasons...).Instances(history.Terminate, ids...))
	return j
}

// NotEnding takes back that the end of instances was asked for: it was refused. What was
// drained for it rests, as others would be drained in vain.
func (j Journal) NotEnding(ids []string, now time.Time) Journal {
	return j.changed(ids, func(k *Known) {
		if k.Drain.Over() {
			k.Drain.Phase, k.Drain.Refused, k.Drain.EndedAt = node.Kept, true, now
		}
		k.Ended, k.EndedAt, k.UnsettledSince, k.EndReason = false, time.Time{}, time.Time{}, ""
	})
}

// Released forgets instances that were detached from the pool.
func (j Journal) Released(ids []string, now time.Time) Journal {
	j = j.Clone()
	for _, k := range j.Known {
		if slices.Contains(ids, k.InstanceID) {
			j.tell(j.about(now, "detached: it goes on running, and is the pool's no more").Instance(history.End, j.instance(k)))
		}
	}
	j.Known = slices.DeleteFunc(j.Known, func(k Known) bool { return slices.Contains(ids, k.InstanceID) })
	return j
}

// Expects reports whether an instance without tags is the pool's: its id was
// recorded, and its tags were never seen or may still come. Someone took the tags off
// one that loses them later, and it is the pool's no more.
func (j Journal) Expects(id string, now time.Time) bool {
	i, found := j.find(id)
	return found && (!j.Known[i].Tagged || now.Sub(j.Known[i].RecordedAt) <= TagLag)
}

// Of is what is recorded of an instance; false if nothing is.
func (j Journal) Of(id string) (Known, bool) {
	i, found := j.find(id)
	if !found {
		return Known{}, false
	}
	return j.Known[i], true
}

// find returns where an id is recorded, or would be: they are in order.
func (j Journal) find(id string) (int, bool) {
	return slices.BinarySearchFunc(j.Known, id, func(k Known, id string) int { return cmp.Compare(k.InstanceID, id) })
}

// know records an instance once; j must be a clone.
func (j Journal) know(k Known) Journal {
	if i, found := j.find(k.InstanceID); !found {
		j.Known = slices.Insert(j.Known, i, k)
	}
	return j
}

// changed changes what is recorded of instances, where anything is.
func (j Journal) changed(ids []string, change func(*Known)) Journal {
	j = j.Clone()
	for _, id := range ids {
		if i, found := j.find(id); found {
			change(&j.Known[i])
		}
	}
	return j
}
