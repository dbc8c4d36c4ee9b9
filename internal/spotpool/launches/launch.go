package launches

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Launch is a pending launch: one that is written down before it is requested, until its
// outcome is definite. How far it has come follows from what is stored, see
// [Launch.State].
type Launch struct {
	Request   spotpool.Request `json:"request"`
	WrittenAt time.Time        `json:"written_at"`
	// AskedAt and LostAt tell three states apart. Both are set in asked, AskedAt alone
	// is set in unknown, and neither in written.
	//
	// AskedAt is when the latest call was made that may have launched something, if
	// that is not known to be the first one.
	AskedAt time.Time `json:"asked_at,omitzero"`
	// LostAt is when the call before that was made, whose answer was lost.
	LostAt time.Time `json:"lost_at,omitzero"`
	// Seen lists the instances found so far that carry the launch's sequence. One of
	// them proves that the launch took effect, even after that instance is gone.
	Seen []string `json:"seen,omitempty"`
	// Reasons are those of the decision, and Price what one instance was known to cost.
	Reasons []string       `json:"reasons,omitempty"`
	Price   spotpool.Price `json:"hourly_price,omitempty"`
}

// Repeatable reports whether the next run asks for the launch again.
func (l Launch) Repeatable() bool { return states[l.State()].repeatable }

// Missing is how many of the launch's instances were never found.
func (l Launch) Missing() int { return max(0, l.Request.Count-len(l.Seen)) }

// requestedAt is the latest time at which the launch can have taken effect.
func (l Launch) requestedAt() time.Time {
	if l.AskedAt.After(l.WrittenAt) {
		return l.AskedAt
	}
	return l.WrittenAt
}

// repeated records a call that is made since the answer to the one before was lost.
func (l Launch) repeated(now time.Time) Launch {
	l.LostAt, l.AskedAt = l.requestedAt(), now
	return l
}

// withoutLastCall records that the last call launched nothing: what may have launched is
// the call before it.
func (l Launch) withoutLastCall() Launch {
	l.AskedAt, l.LostAt = l.LostAt, time.Time{}
	return l
}

// refusal is what a refusal means for the launch; empty if it means nothing. A
// refusal speaks of its own call only: the cloud documents neither how long it
// remembers a ClientToken nor whether it checks the token before its stock and quotas.
// So if the answer to an earlier call was lost, the launch counts as refused only once
// instances of that call would have been listed and were not.
func (l Launch) refusal(e *spotpool.CloudError, now time.Time) event {
	switch {
	case !e.NothingLaunched:
		return ""
	case !l.LostAt.IsZero() && now.Sub(l.LostAt) <= spotpool.TagLag:
		return lastCallRefused
	}
	return refused
}

// mayHaveMade reports whether an instance can be of this launch. Tag numbers are used
// again, so the instance must not be older than the launch. The cloud gives CreatedTime
// in whole seconds, and its clocks differ.
func (l Launch) mayHaveMade(i spotpool.Instance) bool {
	const skew = time.Minute
	return i.SeqTag > 0 && i.SeqTag == l.Request.SeqTag && (i.LaunchedAt.IsZero() || !i.LaunchedAt.Before(l.WrittenAt.Add(-skew)))
}

// found are the instances of the launch that were found by now.
func (l Launch) found(instances []spotpool.Instance) []string {
	ids := slices.Clone(l.Seen)
	for _, i := range instances {
		if l.mayHaveMade(i) {
			ids = append(ids, i.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Effect is a launch that took effect, with its instances.
type Effect struct {
	Launch
	InstanceIDs []string
	At          time.Time // when that was known
}

// Event is the effect for the history.
func (e Effect) Event(about history.About) history.Event {
	r := e.Request
	about.At, about.Reasons = e.At, e.Reasons
	return about.Launched(history.Ask{
		Sequence: int(r.Sequence), WrittenAt: e.WrittenAt, Count: r.Count, Offering: r.Offering.Market(r.ChargeType).HistoryOffering(r.Offering.SubnetID),
		ChargeType: string(r.ChargeType), Price: e.Price.Text(), InstanceIDs: e.InstanceIDs,
	})
}
