package budget

import (
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Grant is additional GPU-hours for a budget, until they expire. The declaration does not change.
type Grant struct {
	exception.Exception
	// The additional GPU-hours.
	GPUHours string `json:"gpu_hours"`
}

// For returns the grant as a reader of its budget may see it.
func (g Grant) For(reader reason.Renderer) Grant {
	g.Exception = g.Exception.For(reader)
	return g
}

// Amount is what it adds, in milli-GPU-seconds; nothing if it can't be read.
func (g Grant) Amount() int64 {
	amount, err := ParseHours(g.GPUHours)
	if err != nil {
		return 0
	}
	return amount
}

// String describes the grant: how much, until when, the requester and the reason.
func (g Grant) String() string { return g.Hours() + " " + g.Exception.String() }

// Hours is how much it adds, for people.
func (g Grant) Hours() string { return wording.Amount(g.GPUHours, "GPU-hour") }

// Grants are the grants of one budget. An expired one stays until the history has
// recorded its end.
type Grants struct {
	List []Grant `json:"grants"`
	// EndedAt is when the last of those ended that are no longer listed.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// Unreported are events that the history may lack.
	Unreported []history.Event `json:"unreported,omitempty"`
}

// MaxGrants is how many grants of a budget may be in force at a time.
const MaxGrants = 100

// InForce returns the grants that have not ended.
func (g Grants) InForce(now time.Time) []Grant { return exception.InForce(g.List, now) }

// granted is the sum of the grants in force, up to the largest limit.
func (g Grants) granted(now time.Time) int64 {
	sum := int64(0)
	for _, grant := range g.InForce(now) {
		sum = min(sum+grant.Amount(), MaxGPUHours*Hour)
	}
	return sum
}

// changedAt is when a grant last began or ended, and the limit with it.
func (g Grants) changedAt(now time.Time) time.Time {
	at := g.EndedAt
	for _, grant := range g.List {
		for _, moment := range []time.Time{grant.From, grant.Until} {
			if !moment.After(now) && moment.After(at) {
				at = moment
			}
		}
	}
	return at
}

// Granted returns the declaration with the limit of now: the declared one plus all grants. A changed grant is
// a new limit, as a changed gpu_hours is: its grace period starts again.
func (d Declaration) Granted(g Grants, now time.Time) Declaration {
	if at := g.changedAt(now); at.After(d.PublishedAt) {
		d.PublishedAt = at
	}
	declared, err := d.Limit()
	more := g.granted(now)
	if err != nil || more == 0 {
		return d
	}
	d.GPUHours = Hours(min(declared+more, MaxGPUHours*Hour))
	for _, grant := range slices.SortedFunc(slices.Values(g.InForce(now)), func(a, b Grant) int { return a.Until.Compare(b.Until) }) {
		d.LimitFalls = append(d.LimitFalls, LimitFall{grant.Until, min(declared+g.granted(grant.Until), MaxGPUHours*Hour)})
	}
	return d
}

// Add adds a grant, and drops those that ended.
func (g Grants) Add(d Declaration, grant Grant, now time.Time) (Grants, error) {
	if _, err := ParseHours(grant.GPUHours); err != nil {
		return g, fmt.Errorf("the GPU-hours to grant: %w", err)
	}
	g = g.current(d, now)
	g.List = append(g.List, grant)
	declared, err := d.Limit()
	switch {
	case err != nil:
		return g, err
	case len(g.List) > MaxGrants:
		return g, fmt.Errorf("%d grants are in force already, and that is the most: release some first", MaxGrants)
	case declared+g.granted(now) > MaxGPUHours*Hour:
		return g, fmt.Errorf("with it, the limit would be above %d GPU-hours", MaxGPUHours)
	}
	why := reason.Granted(reason.Amount(grant.GPUHours), reason.NewForeign(grant.Why))
	return g.reporting(grant.Begun(d.About(time.Time{}), why).Exception(history.Grant, grant.ID, grant.Until)), nil
}

// Release ends all that are in force, and returns these.
func (g Grants) Release(d Declaration, r exception.Release) (after Grants, released []Grant) {
	r.At = r.At.UTC().Truncate(time.Millisecond)
	after = g.current(d, r.At)
	released, after.List = after.List, nil
	for _, grant := range released {
		after = after.reporting(grant.Released(d.About(time.Time{}), r, reason.GrantEndsEarly(reason.Amount(grant.GPUHours), reason.Word(grant.Who))))
	}
	if len(released) > 0 && r.At.After(after.EndedAt) {
		after.EndedAt = r.At
	}
	return after, released
}

// Events returns the events that the history may lack.
func (g Grants) Events(d Declaration, now time.Time) []history.Event {
	return g.current(d, now).Unreported
}

// WithoutReported leaves out what ended, and the events that the history has by now.
func (g Grants) WithoutReported(d Declaration, now time.Time, has func(history.Event) bool) Grants {
	g = g.current(d, now)
	g.Unreported = history.Unreported(g.Unreported, has)
	return g
}

// current drops what ended by itself, and tells so.
func (g Grants) current(d Declaration, now time.Time) Grants {
	all := g.List
	g.List = g.InForce(now)
	for _, grant := range all {
		if grant.InForce(now) {
			continue
		}
		if grant.Until.After(g.EndedAt) {
			g.EndedAt = grant.Until
		}
		g = g.reporting(grant.Ended(d.About(time.Time{}), reason.GrantEnds(reason.Amount(grant.GPUHours), reason.Word(grant.Who))))
	}
	return g
}

func (g Grants) reporting(e history.Event) Grants {
	g.Unreported = history.Keep(g.Unreported, e)
	return g
}

// About returns the common fields of the budget's events.
func (d Declaration) About(at time.Time) history.About {
	return history.About{At: at, Object: d.Object(), ObjectUID: d.UID, ClusterUID: d.ClusterUID}
}

// LimitedAt returns the status with the limit of now: grants that have ended since no longer count. A release
// removes a grant from the budget's, so read the grants after the status. ended are those that no longer
// count.
func (s Status) LimitedAt(of Grants, now time.Time) (limited Status, ended []Grant) {
	judged := s.Grants
	s.Grants = nil
	for _, grant := range judged {
		if grant.InForce(now) && slices.ContainsFunc(of.List, func(g Grant) bool { return g.ID == grant.ID }) {
			s.Grants = append(s.Grants, grant)
			continue
		}
		s.Usage.Limit = max(1, s.Usage.Limit-grant.Amount())
		ended = append(ended, grant)
	}
	return s, ended
}

// Validate returns what a stored list of grants lacks.
func (g Grants) Validate() error { return exception.ValidateAll("a grant", g.List) }

// Validate returns what a grant lacks.
func (g Grant) Validate() error {
	if err := g.Exception.Validate(); err != nil {
		return err
	}
	_, err := ParseHours(g.GPUHours)
	return err
}
