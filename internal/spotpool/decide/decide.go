package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// MaxBatch is the most instances that one launch requests: as many as one DescribeInstances
// by IDs can return (RunInstances allows 500).
const MaxBatch = 100

// SoFar counts the changes of one run to a pool so far, and the refusals.
type SoFar struct {
	Launched  int  // instances requested, without refused launches
	Refreshed bool // a batch of a refresh was started
	// Refused are the instances that Tencent Cloud refused to terminate. The run does not
	// retry them.
	Refused []string
	// Replaced counts the instances that the run began to replace.
	Replaced int
	// Drained are the instances whose drains the run worked on, and Forgotten those whose
	// nodes it deleted. Uncordoned are the nodes that it uncordoned.
	Drained, Forgotten, Uncordoned []string
	// TokensEnded are the bootstrap tokens whose Secrets the run tried to delete.
	TokensEnded []string
	// Insists says that an operator applies: terminations that were refused before are
	// retried at once.
	Insists bool
	// Destroys says that an operator destroys the pool: a node that was kept is drained again
	// at once. Tried are the instances whose drains the destroy worked on.
	Destroys bool
	Tried    []string
	// Halted says why the run launches nothing more; empty while it may.
	Halted string
}

// Situation is everything on which decisions about a pool depend.
type Situation struct {
	Declaration spotpool.Declaration
	Observation spotpool.Observation
	Journal     journal.Journal
	Now         time.Time // by Tencent Cloud's clock
	SoFar       SoFar
	Gate        spotpool.Gate
	// Hold is the one in force; nil if there is none.
	Hold *spotpool.Hold
	// OtherNodes counts the nodes of other pools in the same cluster.
	OtherNodes node.Count
}

// Plan has the decisions in a situation, and why there are no more.
type Plan struct {
	spotpool.Bounds
	spotpool.Counts
	// Currency is that of the prices.
	Currency spotpool.Currency
	Result
	Members []Member
	// Journal is the situation's journal, up to date with the observation. Decisions are not
	// in it yet.
	Journal journal.Journal
	// Gate and Hold are the situation's.
	Gate spotpool.Gate
	Hold *spotpool.Hold
	// Nodes is the health of the members as nodes; nil if the pool has no nodes.
	Nodes *PoolNodes
	// Refusal says why nothing can be decided: the observation is of another account or
	// region, or in another currency. Everything else is then empty.
	Refusal reason.Reason
}

// Decide returns what to do about a pool. It is a pure function: the same situation always
// gives the same plan, with the same tokens.
//
// It never launches more than maximum less the total, and never counts or terminates an instance
// that is not the pool's own. It decides nothing if the pool has its minimum, is not above
// its maximum, and has nothing to replace. While the pool's budget drains it, both are 0.
func Decide(s Situation) Plan {
	s.Declaration = s.Declaration.WithDefaults()
	if refusal := mismatch(s.Declaration, s.Observation); !refusal.IsZero() {
		return Plan{Bounds: s.Declaration.Bounds(), Currency: s.Declaration.Currency, Journal: s.Journal, Refusal: refusal}
	}
	v, t, r := prepare(s)
	for _, rule := range v.rules() {
		var more Result
		t, more = rule(v, t)
		r.add(more)
	}
	return v.plan(t, r)
}

// prepare returns the input of the rules: the view and the first tally. The result has the
// update of the journal.
func prepare(s Situation) (View, Tally, Result) {
	if s.Observation.Cluster.ClusterUID != s.Declaration.ClusterUID { // of another cluster, nothing counts
		s.Observation.Cluster = node.Observation{}
	}
	s.Declaration.Currency = cmp.Or(s.Declaration.Currency, s.Observation.Currency)
	update := s.Journal.Update(s.Declaration, s.Observation, s.Gate, s.Now)
	v, t := begin(s, update)
	v.Journal.ShortSince = v.shortSince(t)
	v, resumed := v.noteSuspension()
	if s.Hold == nil {
		v = v.drainForBudget()
	}
	v.Journal.Surplus = v.surplusTime(t)
	return v, t, Result{Messages: append(update.Messages, resumed...), Warnings: slices.Clone(update.Nodes.Remarks)}
}

func (v View) plan(t Tally, r Result) Plan {
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w reason.Reason) bool { return slices.ContainsFunc(r.Short, spotpool.Reason{Why: w}.Same) })
	p := Plan{
		Bounds: v.bounds, Counts: v.counts, Currency: v.Declaration.Currency, Result: r, Members: t.members, Journal: v.Journal, Gate: v.Gate, Hold: v.Hold,
		Nodes: v.nodes,
	}
	if v.drains() {
		p.Wanted = new(0)
	}
	p.Capacity = t.capacity
	p.Shortfall = p.Missing(p.Counts)
	if len(r.Notes) == 0 {
		return p
	}
	p.Notes, p.Members = nil, slices.Clone(t.members)
	for _, note := range r.Notes {
		p.Journal = note(p.Journal)
	}
	for n, m := range p.Members {
		p.Members[n].Drain = p.Journal.DrainOf(m.ID)
	}
	return p
}

// mismatch says why an observation is not of this pool; zero if it is.
func mismatch(d spotpool.Declaration, o spotpool.Observation) reason.Reason {
	switch {
	case o.AccountID != "" && d.AccountID != "" && o.AccountID != d.AccountID:
		return reason.ObservedAccount(reason.Object(d.Object()), reason.Word(d.AccountID), reason.Word(o.AccountID))
	case o.Region != "" && o.Region != d.Region:
		return reason.ObservedRegion(reason.Object(d.Object()), reason.Word(d.Region), reason.Word(o.Region))
	}
	if err := d.CheckCurrency(o.Currency); err != nil {
		return reason.Explain(err)
	}
	return reason.Reason{}
}

// shortSince returns since when the pool has been short of running instances. Only running
// instances end that; a launch does not.
func (v View) shortSince(t Tally) time.Time {
	since := v.Journal.ShortSince
	switch {
	case v.Gate.Closed || v.Hold != nil || t.running >= v.Declaration.Minimum:
		return time.Time{}
	case since.IsZero() && v.counts.Shortfall > 0:
		return v.Now
	}
	return since
}
