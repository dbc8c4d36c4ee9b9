package node

import "time"

// Health is how an instance fares as a node.
type Health string

// What it may be. The zero value says that it is not known, and nothing follows from it.
const (
	Unknown   Health = ""
	Joining   Health = "joining"      // it runs, and is no Ready node yet
	Late      Health = "never_joined" // the same, for longer than the join timeout
	Healthy   Health = "ready"
	Unready   Health = "unready"   // it was a Ready node, and is none now
	Unhealthy Health = "unhealthy" // the same, for longer than the unhealthy timeout
)

// Failed reports whether an instance in this health is to be replaced.
func (h Health) Failed() bool { return h == Late || h == Unhealthy }

// Memory is what is remembered of an instance as a node, from look to look.
type Memory struct {
	// JoinedAt is when it was first seen as a Ready node.
	JoinedAt time.Time `json:"joined_at,omitzero"`
	// Ready says that the last observation of its node found it Ready. Since is when that,
	// or that it is not, was first seen of the running instance; Observed how long it was.
	Ready    bool      `json:"ready,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Observed Elapsed   `json:"observed,omitzero"`
	// Name and UID are those of the node that it was last seen to be.
	Name string `json:"node,omitempty"`
	UID  string `json:"node_uid,omitempty"`
}

// Seen is the memory after a look. Where the cluster was not seen, or whose node the
// instance is can't be told, nothing about its node is learned: also not that it is
// unready still, or had time to join. The time which nobody saw counts against no
// instance, and the times that a node writes itself count for nothing.
func (m Memory) Seen(match Match, running bool, t Timeouts, now time.Time) Memory {
	if !running {
		return Memory{JoinedAt: m.JoinedAt, Name: m.Name, UID: m.UID}
	}
	if match.Standing == Unseen || match.Standing == Contested {
		m.Observed = m.Observed.missed()
		return m
	}
	ready := false
	if match.Standing == Present {
		m.Name, m.UID = match.Node.Name, match.Node.UID
		ready = match.Node.Ready == ReadyTrue
	}
	if m.Since.IsZero() || ready != m.Ready {
		m.Ready, m.Since, m.Observed = ready, now, begun(now)
	}
	if ready && m.JoinedAt.IsZero() {
		m.JoinedAt = now
	}
	m.Observed = m.Observed.seen(now, m.limit(t))
	return m
}

// MinReady is how long a node must have been Ready to count as available, for which an
// instance that works may end: longer than a cluster takes to notice that a kubelet
// stopped.
const MinReady = 2 * time.Minute

// Available reports whether its node is Ready, and has been for MinReady.
func (m Memory) Available(now time.Time) bool { return m.Ready && m.Observed.For(now) >= MinReady }

// Timeouts are how long an instance may be no Ready node.
type Timeouts struct {
	Join      time.Duration // from running to the first time
	Unhealthy time.Duration // afterwards
}

// limit is for how long what lasts is counted.
func (m Memory) limit(t Timeouts) time.Duration {
	switch {
	case m.Ready:
		return MinReady
	case m.JoinedAt.IsZero():
		return t.Join
	}
	return t.Unhealthy
}

// Until is when an instance that is no Ready node fails, if it stays so.
func (m Memory) Until(t Timeouts, now time.Time) time.Time { return m.Observed.Until(m.limit(t), now) }

// Health is how an instance fares of which this is remembered, after the same look.
func (m Memory) Health(match Match, t Timeouts, now time.Time) Health {
	failed := m.Observed.For(now) >= m.limit(t)
	switch {
	case match.Standing == Unseen || match.Standing == Contested || m.Since.IsZero():
		return Unknown
	case match.Standing == Present && match.Node.Ready == ReadyTrue:
		return Healthy
	case m.JoinedAt.IsZero() && !failed:
		return Joining
	case m.JoinedAt.IsZero():
		return Late
	case !failed:
		return Unready
	}
	return Unhealthy
}
