package spotpool

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Drains notes that a node is to be emptied for the end of its instance: before
// anything is done to it. One whose drain is under way goes on with it, and where the
// cloud gave notice meanwhile has until then. One that is over is done afresh: it was for
// a notice, or its node takes new pods again.
func (j Journal) Drains(d Decision, now time.Time) Journal {
	if d.Node == nil {
		return j
	}
	why := ""
	if len(d.Reasons) > 0 {
		why = d.Reasons[0]
	}
	return j.drainMoved(d.InstanceIDs, now, func(k *Known) {
		if !k.Drain.Open() || k.Drain.Over() || k.Drain.UID != d.Node.UID {
			k.Drain = node.Drain{InstanceID: k.InstanceID, Node: d.Node.Name, UID: d.Node.UID, Why: why, Refresh: d.Refresh, Phase: node.Asked, AskedAt: now}
		}
		k.Drain.TakenAt = d.TakenAt
	})
}

// Drained notes what an attempt at a drain showed.
func (j Journal) Drained(id string, p node.Progress, how Drain, now time.Time) Journal {
	return j.drainMoved([]string{id}, now, func(k *Known) { k.Drain = k.Drain.After(p, time.Duration(how.Timeout), how.OnTimeout, now) })
}

// DrainedAgain notes that a node was not as its drain had left it when its instance was
// about to be terminated: the drain starts again.
func (j Journal) DrainedAgain(id string, p node.Progress, now time.Time) Journal {
	return j.drainMoved([]string{id}, now, func(k *Known) { k.Drain = k.Drain.Again(p, now) })
}

// Uncordons notes that a node is about to be uncordoned: if its end is wanted again, its
// drain starts from its beginning.
func (j Journal) Uncordons(id string, now time.Time) Journal {
	return j.changed([]string{id}, func(k *Known) { k.Drain = k.Drain.Undoing() })
}

// Uncordoned notes that a node has new pods again. That it was kept stays noted.
func (j Journal) Uncordoned(id string, now time.Time) Journal {
	return j.drainMoved([]string{id}, now, func(k *Known) {
		if k.Drain.Phase == node.Kept {
			k.Drain.Uncordoned = true
			return
		}
		k.Drain = node.Drain{}
	})
}

// NeverJoining says why replacing is suspended until a person releases it, or a node
// joins after all, or the configuration changes; empty where it is not for that.
func (j Journal) NeverJoining(d Declaration) string {
	if d.Nodes == nil {
		return ""
	}
	return node.Suspended(j.NeverJoined, node.Count{}, node.Count{})
}

// ReplacingAgain lets replacing go on that is suspended as instances never joined.
func (j Journal) ReplacingAgain() Journal {
	j = j.Clone()
	j.NeverJoined = node.Streak{}
	return j
}

// DrainOf is the drain of an instance's node; the zero value where there is none.
func (j Journal) DrainOf(id string) node.Drain {
	k, _ := j.Of(id)
	return k.Drain
}
