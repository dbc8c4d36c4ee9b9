package node

import "time"

// NoticeSlack is by how much a notice's time may be off: one that lies further ahead than
// the cloud gives notice can't be, and an instance that runs on for so long after it was
// not taken.
const NoticeSlack = 5 * time.Minute

// ReclaimAt is when the cloud takes the node's instance back, by a notice that is in
// force; zero where there is none.
func (n Node) ReclaimAt(now time.Time) time.Time { return ReclaimAt(n.TakenAt, now) }

// ReclaimAt is when the cloud takes an instance back, by a notice of that time; zero where
// it is not in force.
func ReclaimAt(takenAt, now time.Time) time.Time {
	over := now.Sub(takenAt) >= NoticeSlack
	if takenAt.IsZero() || over || takenAt.Sub(now) > NoticeAhead+NoticeSlack {
		return time.Time{}
	}
	return takenAt
}
