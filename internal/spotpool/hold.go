package spotpool

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Hold is a pause of the reconciliation of a pool, until it expires. The declaration does not
// change.
type Hold struct{ exception.Exception }

// For returns the hold as a reader of its pool may see it.
func (h *Hold) For(reader reason.Renderer) *Hold {
	if h == nil {
		return nil
	}
	return &Hold{h.Exception.For(reader)}
}

// Holds are those of one pool. One that expired stays until the history has its event.
type Holds struct {
	List []Hold `json:"holds"`
	// Unreported are events that the history may lack.
	Unreported []history.Event `json:"unreported,omitempty"`
}

// MaxHolds is how many holds of a pool may be in force at the same time.
const MaxHolds = 100

// At returns the hold in force; of several, the one that expires last. It is nil if there is
// none.
func (h Holds) At(now time.Time) *Hold {
	var last *Hold
	for _, hold := range h.InForce(now) {
		if last == nil || hold.Until.After(last.Until) {
			last = &hold
		}
	}
	return last
}

// InForce returns those that have not expired.
func (h Holds) InForce(now time.Time) []Hold { return exception.InForce(h.List, now) }

// Add adds a hold, and removes those that expired.
func (h Holds) Add(d Declaration, hold Hold, now time.Time) (Holds, error) {
	h = h.current(d, now)
	h.List = append(h.List, hold)
	if len(h.List) > MaxHolds {
		return h, fmt.Errorf("%d holds are in force, which is the maximum: release them first", MaxHolds)
	}
	return h.reporting(hold.Begun(d.about(), reason.Given(reason.NewForeign(hold.Why))).Exception(history.Hold, hold.ID, hold.Until)), nil
}

// Release releases all that are in force, and returns these.
func (h Holds) Release(d Declaration, r exception.Release) (after Holds, released []Hold) {
	r.At = r.At.UTC().Truncate(time.Millisecond)
	after = h.current(d, r.At)
	released, after.List = after.List, nil
	for _, hold := range released {
		after = after.reporting(hold.Released(d.about(), r, reason.HoldEndsEarly(reason.Word(hold.Who))))
	}
	return after, released
}

// Events returns those that the history may lack.
func (h Holds) Events(d Declaration, now time.Time) []history.Event {
	return h.current(d, now).Unreported
}

// WithoutReported removes expired holds, and the events that the history has.
func (h Holds) WithoutReported(d Declaration, now time.Time, has func(history.Event) bool) Holds {
	h = h.current(d, now)
	h.Unreported = history.Unreported(h.Unreported, has)
	return h
}

// current removes expired holds, and adds their events.
func (h Holds) current(d Declaration, now time.Time) Holds {
	all := h.List
	h.List = h.InForce(now)
	for _, hold := range all {
		if !hold.InForce(now) {
			h = h.reporting(hold.Ended(d.about(), reason.HoldEnds(reason.Word(hold.Who))))
		}
	}
	return h
}

func (h Holds) reporting(e history.Event) Holds {
	h.Unreported = history.Keep(h.Unreported, e)
	return h
}

func (d Declaration) about() history.About {
	return history.About{Object: d.Object(), ObjectUID: d.UID}
}

// Validate returns what is wrong with a stored list of holds.
func (h Holds) Validate() error { return exception.ValidateAll("a hold", h.List) }

// Reason says why nothing is done to a pool on hold.
func (h Hold) Reason(d Declaration) reason.Reason {
	return reason.OnHold(reason.Word(h.Who), reason.Instant{Time: h.Until}, reason.NewForeign(h.Why), reason.Word(d.Key()))
}

// HeldError is returned if something was not done because of a hold.
type HeldError struct {
	Declaration Declaration
	Hold        Hold
}

// Because says who put the pool on hold, why, and how to end that.
func (e *HeldError) Because() reason.Reason {
	return reason.NotDoneOnHold(reason.Object(e.Declaration.Object()), e.Hold.Reason(e.Declaration))
}

// Error is Because as text.
func (e *HeldError) Error() string { return e.Because().String() }
