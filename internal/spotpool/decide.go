package spotpool

import (
	"fmt"
	"time"
)

// MaxBatch is the most instances one launch asks for: as many as one
// DescribeInstances by ids can show (RunInstances itself allows 500).
const MaxBatch = 100

// Gate says whether a pool's launches are held back, as an exceeded budget does.
type Gate struct {
	Closed bool `json:"closed"`
	// Unknown says that it is closed since what the budget has used is not known.
	Unknown bool   `json:"-"`
	Reason  string `json:"reason"`
}

// SoFar is what one run has done to a pool so far, and what it was refused.
type SoFar struct {
	Launched  int  // instances asked for, refused launches aside
	Refreshed bool // a batch of a refresh was started
	// Refused are the instances that the run asked the cloud to end, and the cloud
	// refused. The run does not ask again, and goes on without their end.
	Refused []string
	// Halted says why the run launches nothing more; empty while it may.
	Halted string
}

// Situation is everything that decisions about a pool depend on.
type Situation struct {
	Declaration Declaration
	Observation Observation
	Journal     Journal
	Now         time.Time // by the cloud's clock
	SoFar       SoFar
	Gate        Gate
	// Hold is the one in force; nil where there is none.
	Hold *Hold
}

// Plan is what to do in a situation, with the reasons why nothing more is done.
type Plan struct {
	Counts
	// Decisions stand in the order in which they are to be carried out. A
	// launch never counts on the room that a termination of the same plan makes.
	Decisions []Decision
	Members   []Member
	// Journal is the situation's journal brought up to date with the
	// observation. Decisions are not in it yet.
	Journal Journal
	// Notices say what became of instances since the journal was written.
	Notices []string
	// Short says why the pool stays below its minimum, or why its outdated instances
	// stay, after these decisions: all of it.
	Short Reasons
	// Warnings are for a person to look at, and stop nothing.
	Warnings []string
	// Gate and Hold are the situation's.
	Gate Gate
	Hold *Hold
	// Refusal says why nothing can be decided: the observation is of another
	// account or region than the pool. Everything else is then empty.
	Refusal string
}

// Decide says what to do about a pool. It is a pure function: the same situation
// always gives the same plan, tokens included.
//
// It never launches more than maximum less held, and never counts or ends an instance
// that is not the pool's own. It decides nothing where the pool has its minimum, is
// not above its maximum, and has nothing to replace, or is on hold.
func Decide(s Situation) Plan {
	s.Declaration = s.Declaration.WithDefaults()
	d, o := s.Declaration, s.Observation
	if refusal := mismatch(d, o); refusal != "" {
		return Plan{Counts: count(d, nil, 0), Journal: s.Journal, Refusal: refusal}
	}
	found := ownInstances(d, s.Journal, o, s.Now)
	journal, notices := s.Journal.updated(d, found, s.Now)
	p := newPlanner(s, found, journal)
	p.plan.Notices, p.plan.Gate, p.plan.Hold = notices, s.Gate, s.Hold
	p.plan.Journal.ShortSince = shortSince(s, p)
	p.plan.Journal.declared(d, s.Now)
	p.plan.Journal.gated(d, s.Gate, s.Now)
	p.plan.Journal.priced(p.plan.Members, p.offers, s.Now)
	if s.Hold != nil {
		p.holdStill()
	} else {
		p.decide()
	}
	p.warn()
	return p.plan
}

func (p *planner) decide() {
	if p.SoFar.Halted == "" {
		p.resume()
	}
	p.trim()
	p.topUp()
	p.replace()
}

// mismatch says why an observation is not of this pool; empty where it is.
func mismatch(d Declaration, o Observation) string {
	switch {
	case o.AccountID != "" && d.AccountID != "" && o.AccountID != d.AccountID:
		return fmt.Sprintf("%s belongs to account %s, and what was observed to account %s: use the credentials of account %s", d.Object(), d.AccountID, o.AccountID, d.AccountID)
	case o.Region != "" && o.Region != d.Region:
		return fmt.Sprintf("%s is in %s, and what was observed in %s", d.Object(), d.Region, o.Region)
	}
	return ""
}

// shortSince is since when the pool has been short of running instances. A launch
// does not end that: only instances that run do.
func shortSince(s Situation, p *planner) time.Time {
	since := p.plan.Journal.ShortSince
	switch {
	case s.Gate.Closed || s.Hold != nil || p.running >= s.Declaration.Minimum:
		return time.Time{}
	case since.IsZero() && p.plan.Shortfall > 0:
		return s.Now
	}
	return since
}
