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
	// RunningSince is since when the instance is known to have run and been able to
	// join, by the cloud's clock.
	RunningSince time.Time `json:"running_since,omitzero"`
	// JoinedAt is when it was first seen as a Ready node.
	JoinedAt time.Time `json:"joined_at,omitzero"`
	// UnreadySince is since when it has been none; zero while it is one, or never was.
	UnreadySince time.Time `json:"unready_since,omitzero"`
	// Name and UID are those of the node that it was last seen to be.
	Name string `json:"node,omitempty"`
	UID  string `json:"node_uid,omitempty"`
}

// Seen is the memory after a look. Where the cluster was not seen, or whose node the
// instance is can't be told, nothing about its node is learned: also not that it is
// unready still, or had time to join. The time which nobody saw counts against no
// instance.
func (m Memory) Seen(match Match, running bool, now time.Time) Memory {
	if !running {
		return Memory{JoinedAt: m.JoinedAt, Name: m.Name, UID: m.UID}
	}
	if m.RunningSince.IsZero() {
		m.RunningSince = now
	}
	switch match.Standing {
	case Unseen, Contested:
		m.UnreadySince = time.Time{}
		if m.JoinedAt.IsZero() {
			m.RunningSince = now // who knows whether it could have joined
		}
	case Absent:
		if !m.JoinedAt.IsZero() && m.UnreadySince.IsZero() {
			m.UnreadySince = now
		}
	case Present:
		n := match.Node
		m.Name, m.UID = n.Name, n.UID
		switch {
		case n.Ready == ReadyTrue:
			m.UnreadySince = time.Time{}
			if m.JoinedAt.IsZero() {
				m.JoinedAt = now
			}
		case !m.JoinedAt.IsZero() && m.UnreadySince.IsZero():
			m.UnreadySince = n.unreadySince(m.JoinedAt, now)
		}
	}
	return m
}

// unreadySince is since when a node has not been Ready: since the cluster says so,
// unless that is before it joined or in the future.
func (n Node) unreadySince(joined, now time.Time) time.Time {
	if n.ReadySince.Before(joined) || n.ReadySince.After(now) {
		return now
	}
	return n.ReadySince
}

// Timeouts are how long an instance may be no Ready node.
type Timeouts struct {
	Join      time.Duration // from running to the first time
	Unhealthy time.Duration // afterwards
}

// Health is how an instance fares of which this is remembered, after the same look.
func (m Memory) Health(match Match, t Timeouts, now time.Time) Health {
	switch {
	case match.Standing == Unseen || match.Standing == Contested || m.RunningSince.IsZero():
		return Unknown
	case match.Standing == Present && match.Node.Ready == ReadyTrue:
		return Healthy
	case m.JoinedAt.IsZero() && now.Sub(m.RunningSince) < t.Join:
		return Joining
	case m.JoinedAt.IsZero():
		return Late
	case now.Sub(m.UnreadySince) < t.Unhealthy:
		return Unready
	}
	return Unhealthy
}
