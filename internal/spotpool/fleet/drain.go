package fleet

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// RequestDrain records that a node is to be drained for the end of its instance, before
// anything is done to it. A drain under way goes on, and if the cloud gave notice
// meanwhile has until then. One that is over is done again: it was for a notice, or its
// node takes new pods again.
func (f Fleet) RequestDrain(about history.About, d spotpool.Decision) (Fleet, []history.Event) {
	if d.Node == nil {
		return f, nil
	}
	why := ""
	if len(d.Reasons) > 0 {
		why = d.Reasons[0]
	}
	return f.drainMoved(about, d.InstanceIDs[0], func(drain node.Drain) node.Drain {
		if !drain.Open() || drain.Over() || drain.UID != d.Node.UID {
			drain = node.Drain{
				InstanceID: d.InstanceIDs[0], Node: d.Node.Name, UID: d.Node.UID, Why: why, Refresh: d.Refresh, Phase: node.Asked, AskedAt: about.At,
			}
		}
		drain.TakenAt = d.TakenAt
		return drain
	})
}

// RecordDrain records what an attempt at a drain showed.
func (f Fleet) RecordDrain(about history.About, id string, p node.Progress, how spotpool.Drain) (Fleet, []history.Event) {
	return f.drainMoved(about, id, func(d node.Drain) node.Drain { return d.After(p, time.Duration(how.Timeout), how.OnTimeout, about.At) })
}

// RestartDrain records that a node was not as its drain had left it when its instance was
// about to be terminated.
func (f Fleet) RestartDrain(about history.About, id string, p node.Progress) (Fleet, []history.Event) {
	return f.drainMoved(about, id, func(d node.Drain) node.Drain { return d.Again(p, about.At) })
}

// RequestUncordon records that a node is about to be uncordoned: if its end is wanted
// again, its drain starts from its beginning.
func (f Fleet) RequestUncordon(id string) Fleet {
	return f.changed([]string{id}, func(k *Known) { k.Drain = k.Drain.Undoing() })
}

// RecordUncordon records that a node has new pods again. That it was kept stays recorded.
func (f Fleet) RecordUncordon(about history.About, id string) (Fleet, []history.Event) {
	return f.drainMoved(about, id, func(d node.Drain) node.Drain {
		if d.Phase == node.Kept {
			d.Uncordoned = true
			return d
		}
		return node.Drain{}
	})
}

// DrainOf is the drain of an instance's node; the zero value if there is none.
func (f Fleet) DrainOf(id string) node.Drain {
	k, _ := f.Of(id)
	return k.Drain
}

// drainMoved changes the drain of an instance's node, with the events of that.
func (f Fleet) drainMoved(about history.About, id string, move func(node.Drain) node.Drain) (_ Fleet, events []history.Event) {
	return f.changed([]string{id}, func(k *Known) {
		before := k.Drain
		k.Drain = move(before)
		events = drainEvents(about, before, k.Drain)
	}), events
}

// drainEvents are those of a drain that was one and is another now.
func drainEvents(about history.About, before, after node.Drain) (events []history.Event) {
	of := func(d node.Drain) history.Node {
		return history.Node{InstanceID: d.InstanceID, Name: d.Node, UID: d.UID}
	}
	if after.Phase == node.NoDrain {
		if before.Open() {
			events = append(events, about.Drain(history.Uncordon, of(before), before.AskedAt))
		}
		return events
	}
	if !after.AskedAt.Equal(before.AskedAt) || after.UID != before.UID {
		events = append(events, because(about, after.Why).Drain(history.Drain, of(after), after.AskedAt))
		before = node.Drain{}
	}
	if after.EndedAt.IsZero() || after.Phase == before.Phase {
		return events
	}
	return append(events, because(about, leftBy(after)...).Drained(of(after), after.AskedAt, string(after.Phase)))
}

// leftBy says what a drain that ended left on its node.
func leftBy(d node.Drain) []string {
	if d.Left == 0 {
		return nil
	}
	return append([]string{fmt.Sprintf("%d %s left", d.Left, wording.Plural(d.Left, "pod was", "pods were"))}, d.Blocked...)
}

// because is what events tell, with other reasons.
func because(about history.About, reasons ...string) history.About {
	about.Reasons = reasons
	return about
}

// Replacement is that of an instance by another one from now on, or not any more.
type Replacement struct {
	InstanceID, Configuration string
	Since                     time.Time // zero if it is not replaced any more
	Why                       string
	NeverJoined               bool // that is why
}

// Replace records which instances others are to take the places of, or are not any more.
func (f Fleet) Replace(about history.About, changes []Replacement) (_ Fleet, events []history.Event) {
	for _, c := range changes {
		f = f.changed([]string{c.InstanceID}, func(k *Known) {
			if k.ReplacedSince = c.Since; !c.Since.IsZero() {
				about.At = c.Since
				events = append(events, because(about, c.Why).Replaced(k.node(), c.Since))
			}
		})
	}
	return f, events
}

// DeleteNode records that the Node of an instance that is gone is deleted at this time,
// so that its end is an event once an observation shows it. At the zero time that is
// withdrawn: it was refused, and whoever deletes it later is somebody else.
func (f Fleet) DeleteNode(d spotpool.Decision, at time.Time) Fleet {
	f.Past = slices.Clone(f.Past)
	for n, p := range f.Past {
		if d.Node != nil && p.Node.UID == d.Node.UID && slices.Contains(d.InstanceIDs, p.InstanceID) {
			f.Past[n].NodeDeletedAt = at
		}
	}
	return f
}
