package decide

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// facts are a situation, and what follows from it before anything is decided. No rule changes them.
type facts struct {
	reach
	usage    budget.Usage
	previous budget.Status // the last status of this budget; zero if there is none
	own      []Paused      // by this budget
	due      bool          // the grace is over
	// status is the part that depends on no decision; of alerts, those that have not re-armed.
	status budget.Status
}

func factsOf(s Situation) facts {
	s.Declaration = s.Declaration.WithDefaults()
	f := facts{reach: reach{Situation: s}, usage: s.Result.Usage}
	if s.Previous != nil && s.Previous.UID == s.Declaration.UID {
		f.previous = *s.Previous
	}
	f.own = slices.DeleteFunc(slices.Clone(s.Paused), func(p Paused) bool { return p.BudgetUID != s.Declaration.UID })
	f.matcher, f.invalid = s.Declaration.Selector.Matcher()
	return f.judged()
}

func (f facts) judged() facts {
	of, now := f.Declaration, f.Now.Truncate(time.Millisecond).UTC()
	s := budget.Status{
		Name: of.Name, UID: of.UID, Generation: of.Generation, Terms: of.Terms(), Counted: of.Counted(), ClusterUID: of.ClusterUID,
		RunID: f.RunID, At: now, Usage: f.usage, ExceededSince: f.Result.ExceededSince,
		Grants:     f.Grants.InForce(f.Now),
		KnownSince: f.Result.KnownSince,
	}
	if f.usage.Exceeded() {
		s.ReportedAt, s.Certain = &now, f.usage.Certain() >= f.usage.Limit && !f.Result.EndsLost
		if since := f.Result.ExceededSince; f.previous.ReportedAt != nil && since != nil && !since.After(f.previous.At) {
			s.ReportedAt = f.previous.ReportedAt
		}
		if of.Enforce.Action != budget.AlertOnly {
			at := f.graceEnds(*s.ReportedAt)
			s.EnforceAt, f.due = &at, !now.Before(at)
		}
	}
	f.status = s.WithPaused(f.previousPauses())
	f.status.Missing = uncertainty{&f}.missing()
	f.status.Unknown = uncertainty{&f}.unknown()
	if f.status.Unknown != nil {
		f.status.ReportedAt = f.previous.ReportedAt // it has not recovered as far as is known
	}
	f.status.Fired = f.firedThresholds()
	f.beginEvents()
	return f
}

// graceEnds returns when enforcement may begin. The grace period runs from the latest of the crossing,
// the publication of the limit, and the first run that reported it.
func (f *facts) graceEnds(reported time.Time) time.Time {
	from := reported
	if since := f.Result.ExceededSince; since != nil && since.After(from) {
		from = *since
	}
	if published := f.Declaration.Granted(f.Grants, f.Now).PublishedAt; published.After(from) {
		from = published
	}
	return from.Add(f.Declaration.Enforce.Grace()).UTC()
}

// previousPauses returns what the status lists as paused. What was lost stays in it until it runs
// again.
func (f *facts) previousPauses() []budget.PausedWorkload {
	if f.Unseen {
		return f.previous.Paused
	}
	return append(PausedBy(f.Declaration.UID, f.Paused), f.Lost...)
}

// paused counts the workloads that this budget has stopped and that are not resumed.
func (f *facts) paused() int {
	return len(slices.DeleteFunc(slices.Clone(f.own), func(p Paused) bool { return p.Running || p.Undone }))
}

// enforced reports whether a freeze or a pause of this budget is in force.
func (f *facts) enforced() bool { return f.Frozen || len(f.own) > 0 }

// namespaces returns those that used most, by name; if there are none, those of the last status.
func (f *facts) namespaces() []string {
	of := f.usage
	if len(of.ByNamespace) == 0 {
		of = f.previous.Usage
	}
	return slices.Sorted(slices.Values(of.MostUsing()))
}
