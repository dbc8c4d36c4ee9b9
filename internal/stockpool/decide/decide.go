package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Situation is all that Decide judges by.
type Situation struct {
	Declaration stockpool.Declaration // valid, with its defaults
	Journal     stockpool.Journal
	Observation stockpool.Observation
	// Covers are the budgets that cover the pool's pods, and the one that it names.
	Covers []Cover
	// Refuses says that the API server refuses an application.
	Refuses bool
	// Reverted says that this operation has reverted drift already: what is there again
	// counts as it is.
	Reverted bool
	// Recorded says that the store has a record of the pool, which an import would find.
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
	// ByDrift says that the budget counts the pods only by what others made of the
	// Deployment.
	ByDrift bool `json:"-"`
	// ByPods says that the budget counts pods that run, and not by what they are made from;
	// WaitsUntil is how long a rollout that is under way may take to replace them.
	ByPods     bool      `json:"-"`
	WaitsUntil time.Time `json:"-"`
	// Why the stock pool does not grow because of it.
	Reason string `json:"reason,omitempty"`
}

// Plan is what follows from a situation.
type Plan struct {
	Result
	// Replicas is how many pods the Deployment is to have now.
	Replicas int
	Journal  stockpool.Journal
	Status   Status
}

// Decide says what is to be done about a stock pool. Where nothing was observed, that is
// nothing.
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
