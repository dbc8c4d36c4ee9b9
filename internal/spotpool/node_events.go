package spotpool

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// asNode is an instance as events tell of the node that it is.
func (k Known) asNode() history.Node {
	return history.Node{InstanceID: k.InstanceID, Name: k.Node.Name, UID: k.Node.UID}
}

// metNode tells what is new of an instance as a node, after a look; j must be a clone.
func (j *Journal) metNode(was node.Memory, k Known, now time.Time) {
	if was.JoinedAt.IsZero() && !k.Node.JoinedAt.IsZero() {
		j.tell(j.about(now).Joined(k.asNode()))
	}
}

// Replacement is that of an instance by another one from now on, or not any more.
type Replacement struct {
	InstanceID, Configuration string
	Since                     time.Time // zero if it is not replaced any more
	Why                       string
	NeverJoined               bool // that is why
}

// Replaces notes which instances others are to take the places of, or are not any more,
// and tells of the former.
func (j Journal) Replaces(changes []Replacement) Journal {
	j = j.Clone()
	for _, c := range changes {
		i, known := j.find(c.InstanceID)
		if !known {
			continue
		}
		k := &j.Known[i]
		if k.ReplacedSince = c.Since; c.Since.IsZero() {
			continue
		}
		j.tell(j.about(c.Since, c.Why).Replaced(k.asNode(), c.Since))
		if c.NeverJoined {
			j.NeverJoined = j.NeverJoined.Late(c.Configuration, c.InstanceID)
		}
	}
	return j
}

// drainMoved changes the drain of instances' nodes, and tells what became of them.
func (j Journal) drainMoved(ids []string, now time.Time, change func(*Known)) Journal {
	var moved []history.Event
	j = j.changed(ids, func(k *Known) {
		before := k.Drain
		change(k)
		moved = append(moved, j.drainEvents(before, k.Drain, now)...)
	})
	for _, e := range moved {
		j.tell(e)
	}
	return j
}

// drainEvents are what there is to tell of a drain that was one and is another now.
func (j *Journal) drainEvents(before, after node.Drain, now time.Time) (events []history.Event) {
	of := func(d node.Drain) history.Node {
		return history.Node{InstanceID: d.InstanceID, Name: d.Node, UID: d.UID}
	}
	if after.Phase == node.NoDrain {
		if before.Open() {
			events = append(events, j.about(now).Drain(history.Uncordon, of(before), before.AskedAt))
		}
		return events
	}
	if !after.AskedAt.Equal(before.AskedAt) || after.UID != before.UID {
		events = append(events, j.about(now, after.Why).Drain(history.Drain, of(after), after.AskedAt))
		before = node.Drain{}
	}
	if after.EndedAt.IsZero() || after.Phase == before.Phase {
		return events
	}
	return append(events, j.about(now, leftBy(after)...).Drained(of(after), after.AskedAt, string(after.Phase)))
}

// leftBy says what a drain that ended left on its node.
func leftBy(d node.Drain) []string {
	if d.Left == 0 {
		return nil
	}
	return append([]string{fmt.Sprintf("%d %s left", d.Left, wording.Plural(d.Left, "pod was", "pods were"))}, d.Blocked...)
}

// DeletesNode notes that the Node of an instance that is gone is about to be deleted, so
// that its end is told once a look shows it.
func (j Journal) DeletesNode(d Decision, now time.Time) Journal {
	j = j.Clone()
	for n, p := range j.Past {
		if d.Node != nil && p.Node.UID == d.Node.UID && slices.Contains(d.InstanceIDs, p.InstanceID) {
			j.Past[n].NodeDeletedAt = now
		}
	}
	return j
}

// NodeNotDeleted withdraws the event that a Node is about to be deleted: it was refused, and who
// deletes it later is somebody else.
func (j Journal) NodeNotDeleted(d Decision) Journal { return j.DeletesNode(d, time.Time{}) }

// forgotten tells which Nodes that were to be deleted a look does not show any more, and
// forgets them; j must be a clone. A cluster that was not seen tells nothing.
func (j *Journal) forgotten(l node.Look, now time.Time) {
	if !l.Seen() {
		return
	}
	for n, p := range j.Past {
		there := slices.ContainsFunc(l.Nodes, func(other node.Node) bool { return other.UID == p.Node.UID })
		if p.NodeDeletedAt.IsZero() || there {
			continue
		}
		j.tell(j.about(now, "its instance is gone").NodeDeleted(history.Node{InstanceID: p.InstanceID, Name: p.Node.Name, UID: p.Node.UID}))
		j.Past[n].Node, j.Past[n].NodeDeletedAt = node.Memory{}, time.Time{}
	}
}
