package history

import "time"

// Node is an instance as the node that it is, or was.
type Node struct {
	InstanceID string
	Name, UID  string // empty where it never was one
}

func (a About) node(kind Kind, n Node, key ...string) Event {
	e := a.event(kind, key...)
	e.Count, e.InstanceIDs, e.Node = 1, []string{n.InstanceID}, n.Name
	return e
}

// Joined tells that an instance became a Ready node.
func (a About) Joined(n Node) Event { return a.node(Join, n, n.InstanceID) }

// Replaced tells that another instance is to take the place of one that fails as a node,
// since a moment.
func (a About) Replaced(n Node, since time.Time) Event {
	return a.node(Replace, n, n.InstanceID, milli(since))
}

// Noticed tells that the cloud said when it takes an instance back.
func (a About) Noticed(n Node, taken time.Time) Event {
	e := a.node(Notice, n, n.InstanceID, milli(taken))
	e.Until = moment(taken)
	return e
}

// Drain makes a [Drain] of a node that is to be emptied before its instance ends, or an
// [Uncordon], since that end is not wanted any more; by the moment at which the drain was
// decided.
func (a About) Drain(kind Kind, n Node, asked time.Time) Event {
	return a.node(kind, n, n.InstanceID, n.UID, milli(asked))
}

// Drained tells that a drain ended, and how.
func (a About) Drained(n Node, asked time.Time, how string) Event {
	e := a.node(Drained, n, n.InstanceID, n.UID, milli(asked), how)
	e.Outcome = how
	return e
}

// NodeDeleted tells that the Node of an instance that is gone was deleted.
func (a About) NodeDeleted(n Node) Event { return a.node(DeleteNode, n, n.UID) }
