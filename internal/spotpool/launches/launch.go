package launches

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Launch is a pending launch. It is recorded before it is requested, until its outcome is
// definite. [Launch.State] derives its state.
type Launch struct {
	Request   spotpool.Request `json:"request"`
	WrittenAt time.Time        `json:"written_at"`
	// AskedAt and LostAt distinguish three states. Both are set in Asked, only AskedAt in
	// Unknown, and neither in Written.
	//
	// AskedAt is when the latest call was made that may have launched instances, if it may
	// not be the first one.
	AskedAt time.Time `json:"asked_at,omitzero"`
	// LostAt is when the call before that was made, whose response was lost.
	LostAt time.Time `json:"lost_at,omitzero"`
	// Seen are the instances that were found with the launch's sequence. One of them proves
	// that the launch took effect, even after that instance is gone.
	Seen []string `json:"seen,omitempty"`
	// Reasons are those of the decision, and Price the known price of one instance.
	Reasons reason.Reasons `json:"reasons,omitempty"`
	Price   spotpool.Price `json:"hourly_price,omitempty"`
	// Currency is that of Price and of the request's price cap.
	Currency spotpool.Currency `json:"currency,omitempty"`
}

// Retryable reports whether the next run retries the launch.
func (l Launch) Retryable() bool { return states[l.State()].retryable }

// Missing returns how many of the launch's instances were never found.
func (l Launch) Missing() int { return max(0, l.Request.Count-len(l.Seen)) }

// requestedAt returns the latest time at which the launch can have taken effect.
func (l Launch) requestedAt() time.Time {
	if l.AskedAt.After(l.WrittenAt) {
		return l.AskedAt
	}
	return l.WrittenAt
}

// withRetry records another call, since the response to the last one was lost.
func (l Launch) withRetry(now time.Time) Launch {
	l.LostAt, l.AskedAt = l.requestedAt(), now
	return l
}

// withoutLastCall records that the last call launched nothing. The call before it may have.
func (l Launch) withoutLastCall() Launch {
	l.AskedAt, l.LostAt = l.LostAt, time.Time{}
	return l
}

// refusal returns the event of a refusal; empty if there is none.
//
// A refusal is only about its own call. Tencent Cloud does not document for how long a
// ClientToken is valid, or that it checks the token before stock and quota. So after a lost
// response, the launch counts as refused only once its instances would have been listed.
func (l Launch) refusal(e *spotpool.CloudError, now time.Time) event {
	switch {
	case !e.NothingLaunched:
		return ""
	case !l.LostAt.IsZero() && now.Sub(l.LostAt) <= spotpool.TagLag:
		return lastCallRefused
	}
	return refused
}

// matches reports whether an instance can be of this launch. Tag numbers are reused, so the
// instance must not be older than the launch. CreatedTime has whole seconds, and Tencent
// Cloud's clocks differ.
func (l Launch) matches(i spotpool.Instance) bool {
	const skew = time.Minute
	return i.SeqTag > 0 && i.SeqTag == l.Request.SeqTag && (i.LaunchedAt.IsZero() || !i.LaunchedAt.Before(l.WrittenAt.Add(-skew)))
}

// instances returns those of the launch that were found so far.
func (l Launch) instances(list []spotpool.Instance) []string {
	ids := slices.Clone(l.Seen)
	for _, i := range list {
		if l.matches(i) {
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
	At          time.Time // when that was learned
}

// Event returns the event of the effect.
func (e Effect) Event(about history.About) history.Event {
	r := e.Request
	about.At, about.Reasons = e.At, e.Reasons
	return about.Launched(history.Ask{
		Sequence: int(r.Sequence), WrittenAt: e.WrittenAt, Count: r.Count, Offering: r.Offering.Market(r.ChargeType).HistoryOffering(r.Offering.SubnetID),
		ChargeType: string(r.ChargeType), Price: e.Price.Text(), Currency: string(e.Currency), InstanceIDs: e.InstanceIDs,
	})
}
