package node

import "time"

// Health is the health of an instance as a node.
type Health string

// The values of a health. The zero value is unknown health, which has no consequences.
const (
	Unknown   Health = ""             // not known
	Joining   Health = "joining"      // it runs and is not a Ready node yet
	Late      Health = "never_joined" // it did not join within `join_timeout`
	Healthy   Health = "ready"        // it is a Ready node
	Unready   Health = "unready"      // it was a Ready node and is not now
	Unhealthy Health = "unhealthy"    // it has not been Ready for longer than `unhealthy_timeout`
)

// Failed reports whether an instance in this health is to be replaced.
func (h Health) Failed() bool { return h == Late || h == Unhealthy }

// Status is the state of an instance's node in the journal.
type Status struct {
	// JoinedAt is when it was first seen as a Ready node.
	JoinedAt time.Time `json:"joined_at,omitzero"`
	// Proven says that it was Ready at least ProvenAfter later. A fault of its configuration, such as of
	// the driver, shows earlier.
	Proven bool `json:"proven,omitempty"`
	// Ready says that the last observation of its node found it Ready. Since is when that,
	// or that it is not, was first seen of the running instance; Observed how long it was.
	Ready    bool      `json:"ready,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Observed Elapsed   `json:"observed,omitzero"`
	// Name and UID are those of the node that it was last seen to be.
	Name string `json:"node,omitempty"`
	UID  string `json:"node_uid,omitempty"`
}

// After returns the status after an observation. It learns nothing if the cluster was not observed, or if the
// instance's node is not known. The node is then not even known to be still unready, or to have had time to
// join. Time without observations counts against no instance, and times that a node writes itself do not
// count.
func (s Status) After(match Match, running bool, t Timeouts, now time.Time) Status {
	if !running {
		return Status{JoinedAt: s.JoinedAt, Proven: s.Proven, Name: s.Name, UID: s.UID}
	}
	if match.Standing == Unseen || match.Standing == Contested {
		s.Observed = s.Observed.Missed()
		return s
	}
	ready := false
	if match.Standing == Present {
		s.Name, s.UID = match.Node.Name, match.Node.UID
		ready = match.Node.Ready == ReadyTrue
	}
	if s.Since.IsZero() || ready != s.Ready {
		s.Ready, s.Since, s.Observed = ready, now, newElapsed(now)
	}
	if ready && s.JoinedAt.IsZero() {
		s.JoinedAt = now
	}
	s.Proven = s.Proven || ready && now.Sub(s.JoinedAt) >= ProvenAfter
	s.Observed = s.Observed.Continue(now, s.limit(t))
	return s
}

// ProvenAfter is how long after it joined a Ready node shows that its configuration works.
const ProvenAfter = time.Hour

// MinReady is how long a node must have been Ready to count as available, so that a working instance may
// terminate. It is longer than a cluster takes to notice that a kubelet stopped.
const MinReady = 2 * time.Minute

// Available reports whether its node is Ready, and has been for MinReady.
func (s Status) Available(now time.Time) bool { return s.Ready && s.Observed.For(now) >= MinReady }

// Timeouts limit the time in which an instance is not a Ready node.
type Timeouts struct {
	Join      time.Duration // from running to the first time
	Unhealthy time.Duration // afterwards
}

// limit is for how long what lasts is counted.
func (s Status) limit(t Timeouts) time.Duration {
	switch {
	case s.Ready:
		return MinReady
	case s.JoinedAt.IsZero():
		return t.Join
	}
	return t.Unhealthy
}

// Until returns when an instance fails if its node does not become Ready.
func (s Status) Until(t Timeouts, now time.Time) time.Time { return s.Observed.Until(s.limit(t), now) }

// Health returns the health of an instance with this status, after the same observation.
func (s Status) Health(match Match, t Timeouts, now time.Time) Health {
	failed := s.Observed.For(now) >= s.limit(t)
	switch {
	case match.Standing == Unseen || match.Standing == Contested || s.Since.IsZero():
		return Unknown
	case match.Standing == Present && match.Node.Ready == ReadyTrue:
		return Healthy
	case s.JoinedAt.IsZero() && !failed:
		return Joining
	case s.JoinedAt.IsZero():
		return Late
	case !failed:
		return Unready
	}
	return Unhealthy
}
