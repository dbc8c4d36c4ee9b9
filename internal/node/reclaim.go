package node

import "time"

// NoticeSlack is the tolerance for a notice's time. A notice further ahead is invalid, as Tencent Cloud gives
// none so early. An instance that still runs this long after the time was not reclaimed.
const NoticeSlack = 5 * time.Minute

// ReclaimAt is when Tencent Cloud reclaims the node's instance, by a notice in force; zero if there is none.
func (n Node) ReclaimAt(now time.Time) time.Time { return ReclaimAt(n.TakenAt, now) }

// ReclaimAt is when Tencent Cloud reclaims an instance, by a notice of that time; zero if it is not in force.
func ReclaimAt(takenAt, now time.Time) time.Time {
	over := now.Sub(takenAt) >= NoticeSlack
	if takenAt.IsZero() || over || takenAt.Sub(now) > NoticeAhead+NoticeSlack {
		return time.Time{}
	}
	return takenAt
}
