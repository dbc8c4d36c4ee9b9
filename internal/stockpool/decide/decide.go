package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Situation is the input of Decide.
type Situation struct {
	Declaration stockpool.Declaration // valid, with its defaults
	Journal     stockpool.Journal
	Observation stockpool.Observation
	// Covers are the budgets that cover the pool's pods, and the one that it names.
	Covers []Cover
	// Refuses reports that the API server refuses an application.
	Refuses bool
	// Reverted reports that this operation has already reverted drift. What reappears then is
	// left as it is.
	Reverted bool
	// Recorded reports that the store has a record of the pool, which an import would find.
	Recorded bool
	Now      time.Time
}

// Cover is a budget that covers the pool's pods, or that the pool names.
type Cover struct {
	// The budget's name.
	Budget string `json:"budget"`
	// Whether its limit is exceeded.
	Exceeded bool `json:"exceeded"`
	// Whether it pauses the pods that it covers.
	Pauses bool `json:"pauses"`
	// Whether its usage is unknown.
	Unknown bool `json:"unknown"`
	// ByDrift reports that the budget counts the pods only because of changes that others made
	// to the Deployment.
	ByDrift bool `json:"-"`
	// ByPods reports that the budget counts running pods by their own labels, and not by the
	// template. WaitsUntil is when a rollout in progress must have replaced them.
	ByPods     bool      `json:"-"`
	WaitsUntil time.Time `json:"-"`
	// Why the stock pool does not grow because of it.
	Reason reason.Reason `json:"reason,omitzero"`
}

// For returns the cover as a reader of the stock pool and the budget may see it.
func (c Cover) For(reader reason.Renderer) Cover {
	c.Reason = reader.Redact(c.Reason)
	return c
}

// Plan is the output of Decide.
type Plan struct {
	Result
	// Replicas is how many pods the Deployment must have now.
	Replicas int
	Journal  stockpool.Journal
	Status   Status
}

// Decide returns what to do about a stock pool: nothing if nothing was observed.
func Decide(s Situation) Plan {
	v, t := begin(s), Tally{journal: s.Journal.Of(s.Declaration)}
	var r Result
	for _, rule := range v.rules() {
		var more Result
		t, more = rule(v, t)
		r.add(more)
	}
	object := s.Declaration.Object()
	for n := range r.Decisions {
		r.Decisions[n].Object = object
	}
	return Plan{Result: r, Replicas: t.replicas, Journal: t.journal, Status: v.status(t, r)}
}
