package history

import "time"

// Node is an instance with its current or former node.
type Node struct {
	InstanceID string
	Name, UID  string // empty if it never was one
}

func (a About) node(kind Kind, n Node, key ...string) Event {
	e := a.event(kind, key...)
	e.Count, e.InstanceIDs, e.Node = 1, []string{n.InstanceID}, n.Name
	return e
}

// Joined returns the event of an instance that became a Ready node.
func (a About) Joined(n Node) Event { return a.node(Join, n, n.InstanceID) }

// Replaced returns the event of a failing node that is being replaced since a moment.
func (a About) Replaced(n Node, since time.Time) Event {
	return a.node(Replace, n, n.InstanceID, milli(since))
}

// Noticed returns the event of an interruption notice, a [Notice], or a [Withdrawn] if it was
// withdrawn.
func (a About) Noticed(kind Kind, n Node, taken time.Time) Event {
	e := a.node(kind, n, n.InstanceID, milli(taken))
	e.Until = moment(taken)
	return e
}

// Drain returns a [Drain] of a node before its instance terminates, or an [Uncordon] if the
// termination is no longer wanted. Its time is that of the decision.
func (a About) Drain(kind Kind, n Node, asked time.Time) Event {
	return a.node(kind, n, n.InstanceID, n.UID, milli(asked))
}

// Drained returns the event of a drain's outcome.
func (a About) Drained(n Node, asked time.Time, how string) Event {
	e := a.node(Drained, n, n.InstanceID, n.UID, milli(asked), how)
	e.Outcome = how
	return e
}

// NodeDeleted returns the event of a deleted Node whose instance is gone.
func (a About) NodeDeleted(n Node) Event { return a.node(DeleteNode, n, n.UID) }
