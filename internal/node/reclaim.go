package node

import "time"

// NoticeSlack is by how much a notice's time may be off: one that lies further ahead than
// the cloud gives notice can't be, and an instance that runs on for so long after it was
// not taken.
const NoticeSlack = 5 * time.Minute

// ReclaimAt is when the cloud takes the node's instance back, by a notice that is in
// force; zero where there is none.
func (n Node) ReclaimAt(now time.Time) time.Time {
	over := now.Sub(n.TakenAt) >= NoticeSlack
	if n.TakenAt.IsZero() || over || n.TakenAt.Sub(now) > NoticeAhead+NoticeSlack {
		return time.Time{}
	}
	return n.TakenAt
}
