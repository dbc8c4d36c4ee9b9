package fleet

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// RequestDrain records that a node will be drained before its instance is terminated. A drain
// in progress continues, until a later interruption notice at most. A complete one starts
// again: it was for a notice, or its node was uncordoned.
func (f Fleet) RequestDrain(about history.About, d spotpool.Decision) (Fleet, []history.Event) {
	if d.Node == nil {
		return f, nil
	}
	var why reason.Reason
	if len(d.Reasons) > 0 {
		why = d.Reasons[0]
	}
	return f.changeDrain(about, d.InstanceIDs[0], func(drain node.Drain) node.Drain {
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
	return f.changeDrain(about, id, func(d node.Drain) node.Drain { return d.After(p, time.Duration(how.Timeout), how.OnTimeout, about.At) })
}

// RestartDrain records that a node had changed since its drain when its instance was about to
// be terminated.
func (f Fleet) RestartDrain(about history.About, id string, p node.Progress) (Fleet, []history.Event) {
	return f.changeDrain(about, id, func(d node.Drain) node.Drain { return d.Again(p, about.At) })
}

// RequestUncordon records that a node is about to be uncordoned: a later drain starts from
// its beginning.
func (f Fleet) RequestUncordon(id string) Fleet {
	return f.change([]string{id}, func(k *Known) { k.Drain = k.Drain.Undoing() })
}

// RecordUncordon records that a node was uncordoned. That it was kept stays recorded.
func (f Fleet) RecordUncordon(about history.About, id string) (Fleet, []history.Event) {
	return f.changeDrain(about, id, func(d node.Drain) node.Drain {
		if d.Phase == node.Kept {
			d.Uncordoned = true
			return d
		}
		return node.Drain{}
	})
}

// DrainOf returns the drain of an instance's node; the zero value if there is none.
func (f Fleet) DrainOf(id string) node.Drain {
	k, _ := f.Of(id)
	return k.Drain
}

// changeDrain changes the drain of an instance's node, and returns the events.
func (f Fleet) changeDrain(about history.About, id string, move func(node.Drain) node.Drain) (_ Fleet, events []history.Event) {
	return f.change([]string{id}, func(k *Known) {
		before := k.Drain
		k.Drain = move(before)
		events = drainEvents(about, before, k.Drain)
	}), events
}

// drainEvents returns the events of a changed drain.
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
	return append(events, because(about, leftovers(after)...).Drained(of(after), after.AskedAt, string(after.Phase)))
}

// leftovers says what a drain left on its node.
func leftovers(d node.Drain) reason.Reasons {
	if d.Left == 0 {
		return nil
	}
	left := reason.Reasons{reason.PodsLeft(reason.Count(d.Left))}
	for _, why := range d.Blocked {
		left = append(left, reason.PodBlocked(reason.NewForeign(why)))
	}
	return left
}

// because returns about with other reasons.
func because(about history.About, reasons ...reason.Reason) history.About {
	about.Reasons = slices.DeleteFunc(reasons, reason.Reason.IsZero)
	return about
}

// Replacement begins or cancels the replacement of an instance.
type Replacement struct {
	InstanceID, Configuration string
	Since                     time.Time // zero if it is no longer replaced
	Why                       reason.Reason
	Early                     bool // whether it failed before it was proven
}

// Replace records which instances are replaced, or no longer are.
func (f Fleet) Replace(about history.About, changes []Replacement) (_ Fleet, events []history.Event) {
	for _, c := range changes {
		f = f.change([]string{c.InstanceID}, func(k *Known) {
			if k.ReplacedSince = c.Since; !c.Since.IsZero() {
				about.At = c.Since
				events = append(events, because(about, c.Why).Replaced(k.node(), c.Since))
			}
		})
	}
	return f, events
}

// DeleteNode records that the Node of a former instance is deleted at this time. So its end is
// an event once it is observed. The zero time reverts that: the deletion was refused.
func (f Fleet) DeleteNode(d spotpool.Decision, at time.Time) Fleet {
	f.Past = slices.Clone(f.Past)
	for n, p := range f.Past {
		if d.Node != nil && p.Node.UID == d.Node.UID && slices.Contains(d.InstanceIDs, p.InstanceID) {
			f.Past[n].NodeDeletedAt = at
		}
	}
	return f
}
