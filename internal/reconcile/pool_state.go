package reconcile

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// PoolState is a pool as Terraform sees it: what is declared, and what was last
// seen of it.
type PoolState struct {
	Declaration spotpool.Declaration
	// Recorded says that the store holds a record of the pool.
	Recorded bool
	// Destroyed says that the pool is gone for good: it has a tombstone and
	// nothing is left of it.
	Destroyed   bool
	Observation spotpool.Observation
	// Journal is without the bodies of requests, which hold user data.
	Journal spotpool.Journal
	// Gate is what held launches back, if anything.
	Gate     spotpool.Gate
	Plan     spotpool.Plan
	Warnings []string
}

// newPoolState is what an attempt made of a recorded pool. Where it never could
// look, the state has no observation.
func newPoolState(a *attempt) PoolState {
	state := PoolState{Declaration: a.declaration, Recorded: true, Gate: a.gate}
	plan := a.plan()
	if plan != nil {
		state.Observation, state.Journal, state.Plan = a.latest.observation, withoutUserData(plan.Journal), *plan
		if plan.Shortfall > 0 {
			state.Warnings = append(state.Warnings, shortWarning(*plan))
		}
	}
	if a.failure != nil {
		state.Warnings = append(state.Warnings, a.failure.Error())
	}
	if plan == nil {
		state.Warnings = append(state.Warnings, a.warnings...)
	} else {
		state.Warnings = append(state.Warnings, plan.Warnings...)
	}
	return state
}

func shortWarning(p spotpool.Plan) string {
	text := fmt.Sprintf("capacity is %d, below the minimum of %d", p.Capacity, p.Minimum)
	for _, why := range p.Short {
		text += "\n- " + why
	}
	return text + "\nThe next apply or reconcile goes on with it."
}

// withoutUserData leaves out of the journal what must not be kept elsewhere.
func withoutUserData(j spotpool.Journal) spotpool.Journal {
	j = j.Clone()
	for n := range j.Intents {
		j.Intents[n].Request.UserData = ""
	}
	return j
}

// ExistsError says that a pool can't be created because it is there.
type ExistsError struct {
	Region, Name string
	What         string // "a record in the store …", "2 instances …"
}

// Error names the pool, what was found, and the import that takes it over.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("the spot pool %s/%s exists already: %s. To manage it here, import it: terraform import ADDRESS %s/%s. To have another pool, give it another name", e.Region, e.Name, e.What, e.Region, e.Name)
}
