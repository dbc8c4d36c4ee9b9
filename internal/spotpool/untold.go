package spotpool

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// NotedPrice is what a market in use was last seen to cost.
type NotedPrice struct {
	Market
	Price Price     `json:"hourly_price"`
	Since time.Time `json:"since"`
}

// Created tells that the pool was declared; its journal is new.
func (j Journal) Created(d Declaration, now time.Time) Journal {
	j = j.of(d)
	j.tell(j.about(now).Declaration(history.Create))
	return j
}

// Told leaves out the events that the history has by now.
func (j Journal) Told(has func(history.Event) bool) Journal {
	if left := history.Untold(j.Untold, has); len(left) < len(j.Untold) {
		j = j.Clone()
		if j.Untold = left; left == nil {
			j.LeftOut = 0
		}
	}
	return j
}

// Stored is the journal as it is to be stored: events that are more than it keeps are
// left out, and counted.
func (j Journal) Stored() Journal {
	kept, leftOut := history.Newest(j.Untold)
	j.Untold, j.LeftOut = kept, j.LeftOut+leftOut
	return j
}

// of is the journal as that of a pool, which events name.
func (j Journal) of(d Declaration) Journal {
	j = j.Clone()
	j.Object, j.UID = d.Object(), d.UID
	return j
}

// tell adds an event to those that are to be told; j must be a clone. What is not
// known to be of a pool tells nothing.
func (j *Journal) tell(e history.Event) {
	if j.UID != "" {
		j.Untold = append(j.Untold, e)
	}
}

func (j *Journal) about(at time.Time, reasons ...string) history.About {
	return history.About{At: at, Object: j.Object, ObjectUID: j.UID, Reasons: reasons}
}

// instance is one as events tell of it, at the price that was last noted.
func (j *Journal) instance(k Known) history.Instance {
	i := history.Instance{ID: k.InstanceID, Offering: k.Market.told(k.SubnetID), ChargeType: string(k.ChargeType)}
	if n := j.noted(k.Market); n >= 0 {
		i.Price = j.Prices[n].Price.told()
	}
	return i
}

func (m Market) told(subnetID string) history.Offering {
	return history.Offering{AvailabilityZone: m.AvailabilityZone, InstanceType: m.InstanceType, SubnetID: subnetID}
}

func (p Price) told() string {
	if p == 0 {
		return ""
	}
	return p.String()
}

// launched tells that a launch took effect, and notes for whom its token is; j must be a
// clone.
func (j *Journal) launched(i Intent, ids []string, at time.Time) {
	r := i.Request
	j.awaited(r.Sequence, ids)
	j.tell(j.about(at, i.Reasons...).Launched(history.Ask{
		Sequence: int(r.Sequence), WrittenAt: i.WrittenAt, Count: r.Count, Offering: r.Offering.Market(r.ChargeType).told(r.Offering.SubnetID),
		ChargeType: string(r.ChargeType), Price: i.Price.told(), InstanceIDs: ids,
	}))
}

// begun tells of an instance that came; j must be a clone.
func (j *Journal) begun(k Known, price Price) {
	i := j.instance(k)
	if price > 0 {
		i.Price = price.told()
	}
	j.tell(j.about(k.RecordedAt).Instance(history.Begin, i))
}

// lost tells of an instance that ended though the pool did not ask for it; j must be a
// clone.
func (j *Journal) lost(k Known, why string, now time.Time) {
	if k.ChargeType == Spot {
		j.tell(j.about(now, why).Instance(history.Reclaim, j.instance(k)))
		return
	}
	j.tell(j.about(now, why).Instance(history.End, j.instance(k)))
}

// gone tells of the end of an instance that is recorded and is not there any more,
// unless it was told when it began to end; j must be a clone.
func (j *Journal) gone(k Known, now time.Time) {
	switch {
	case !k.Ended:
		j.lost(k, goneUnasked, now)
	case k.NoticedAt.IsZero() && !k.EndedAt.IsZero():
		j.tell(j.about(now, k.EndReason).Instance(history.End, j.instance(k)))
	}
}

const goneUnasked = "gone: reclaimed by the cloud, or ended or untagged by someone else"

// met tells what is new of an instance that was found. One that ends already when it is
// first seen is told of only where an open launch may have made it: else it is of a
// journal that was lost.
func (j *Journal) met(i OwnInstance, was Known, before bool, k Known, open []Intent, now time.Time) {
	ending := i.State == StateTerminating || i.State == StateShutdown
	if !before {
		ours := slices.ContainsFunc(open, func(o Intent) bool { return i.SeqTag > 0 && o.Request.SeqTag == i.SeqTag && o.mayHaveMade(i) })
		if ending && !ours {
			return
		}
		j.begun(k, 0)
	}
	switch {
	case was.Ended || !k.Ended:
	case i.State == StateLaunchFailed:
		j.tell(j.about(now, "LAUNCH_FAILED: "+orUnknown(i.OperationError)).Instance(history.End, j.instance(k)))
	case ending:
		j.lost(k, string(i.State)+": being reclaimed by the cloud, or ended by someone else", now)
	}
}

// declared notes which declaration the pool has, and tells that it changed; j must be
// a clone.
func (j *Journal) declared(d Declaration, now time.Time) {
	if d.Generation <= j.Generation {
		return
	}
	if j.Generation > 0 {
		j.tell(j.about(now).Updated(d.Generation))
	}
	j.Generation = d.Generation
}

// gated notes since when the pool's budget holds its launches back, and tells when that
// begins and ends; j must be a clone.
func (j *Journal) gated(d Declaration, g Gate, now time.Time) {
	switch closed := !j.GateClosedSince.IsZero(); {
	case !closed && g.Closed && d.Budget != "":
		j.GateClosedSince = now
		j.tell(j.about(now, g.Reason).Since(history.GateClosed, now))
	case closed && !g.Closed:
		j.tell(j.about(now).Since(history.GateOpened, j.GateClosedSince))
		j.GateClosedSince = time.Time{}
	}
}

// priced notes what the markets cost in which instances run, and tells of those whose
// price is another than before; j must be a clone. Where no prices were learned, or a
// market has none, it keeps what was noted.
func (j *Journal) priced(found []OwnInstance, offers map[Market]Offer, now time.Time) {
	used := map[Market]string{} // and a subnet in which it is
	for _, i := range found {
		if i.State == StateRunning && !i.Restricted {
			used[i.Market()] = i.SubnetID
		}
	}
	j.Prices = slices.DeleteFunc(j.Prices, func(n NotedPrice) bool { _, inUse := used[n.Market]; return !inUse })
	for _, m := range slices.SortedFunc(maps.Keys(used), compareMarkets) {
		price, subnet := offers[m].Price, used[m]
		if price == 0 {
			continue
		}
		n := j.noted(m)
		if n < 0 {
			j.Prices = append(j.Prices, NotedPrice{Market: m, Price: price, Since: now})
			continue
		}
		if old := j.Prices[n]; old.Price != price {
			j.tell(j.about(now, "it was "+old.Price.String()).Priced(m.told(subnet), string(m.ChargeType), price.told(), old.Since))
			j.Prices[n].Price, j.Prices[n].Since = price, now
		}
	}
	if len(j.Prices) == 0 {
		j.Prices = nil
	}
	slices.SortFunc(j.Prices, func(a, b NotedPrice) int { return compareMarkets(a.Market, b.Market) })
}

func compareMarkets(a, b Market) int {
	return cmp.Or(cmp.Compare(a.AvailabilityZone, b.AvailabilityZone), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.ChargeType, b.ChargeType))
}

// noted is where a market's price is noted; -1 where it is not.
func (j *Journal) noted(m Market) int {
	return slices.IndexFunc(j.Prices, func(n NotedPrice) bool { return n.Market == m })
}
