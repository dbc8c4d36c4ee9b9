package spotpool

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// noticed notes which instances the cloud takes back soon, as their nodes say, and what
// is new of that for people. Their markets are avoided from then on, as after a reclaim.
// A notice counts as it was first seen, and until its time has passed by more than a
// while: a node that renews it changes nothing before it was seen without one. It is over
// as well where the instance ends, its node no longer says so, or was not seen; j must be
// a clone that has an entry for each instance found, in the same order.
func (j *Journal) noticed(d Declaration, found []OwnInstance, of node.Matches, now time.Time) []string {
	var news []string
	for n, i := range found {
		k := &j.Known[n]
		k.TakenAt = time.Time{}
		match := of.Of(i.ID)
		if match.Standing == node.Present && match.Node.TakenAt.IsZero() {
			k.ToldTakenAt = time.Time{} // it was withdrawn
		}
		if d.Nodes == nil || match.Standing != node.Present || match.Node.TakenAt.IsZero() || !i.State.up() || i.ChargeType != Spot || k.Ended {
			continue
		}
		if !k.ToldTakenAt.IsZero() {
			k.TakenAt = node.ReclaimAt(k.ToldTakenAt, now)
			continue
		}
		k.TakenAt = node.ReclaimAt(match.Node.TakenAt, now)
		if k.TakenAt.IsZero() {
			continue
		}
		k.ToldTakenAt = k.TakenAt
		j.tell(j.about(now).Noticed(k.asNode(), k.TakenAt))
		*j = j.cool(Cooldown{Market: k.Market, Cause: CausedByReclaim, Detail: i.ID, Until: now.Add(time.Duration(d.Cooldown))})
		news = append(news, fmt.Sprintf("the cloud gave notice: it takes %s (%s) back at %s", i.ID, k.Market, wording.Instant(k.TakenAt)))
	}
	return news
}
