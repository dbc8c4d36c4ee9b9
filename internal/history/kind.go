package history

import "slices"

// Kind is what an event tells.
type Kind string

// The kinds of events. The list is closed: who adds one adds it to Kinds, too.
const (
	Launch     Kind = "launch"      // the cloud took a launch
	Refused    Kind = "refused"     // the cloud refused a launch
	Begin      Kind = "begin"       // an instance came
	Reclaim    Kind = "reclaim"     // the cloud took an instance back
	End        Kind = "end"         // an instance ended otherwise
	Terminate  Kind = "terminate"   // instances were asked to end
	Adopt      Kind = "adopt"       // instances were taken into a pool
	Create     Kind = "create"      // a pool or a budget was declared
	Update     Kind = "update"      // its declaration changed
	Destroy    Kind = "destroy"     // it was destroyed
	Freeze     Kind = "freeze"      // new pods are kept out
	Unfreeze   Kind = "unfreeze"    // they are let in again
	Pause      Kind = "pause"       // a workload was stopped
	Resume     Kind = "resume"      // it was started again
	Evict      Kind = "evict"       // a pod was evicted
	Threshold  Kind = "threshold"   // a budget's use reached a percentage that is told of
	Exceeded   Kind = "exceeded"    // a budget was used up
	Recovered  Kind = "recovered"   // its use fell below the limit
	GateClosed Kind = "gate_closed" // a pool may not launch, because of its budget
	GateOpened Kind = "gate_opened" // it may again
	Price      Kind = "price"       // an offering in use costs something else
	Failed     Kind = "failed"      // something about a pool or a budget failed
	RunFailed  Kind = "run_failed"  // a whole run failed
	Grant      Kind = "grant"       // a person added hours to a budget for a while
	Hold       Kind = "hold"        // a person keeps a pool from launching and ending
	Release    Kind = "release"     // a grant or a hold ended, by itself or early
	Loss       Kind = "loss"        // a document of the ledger could not be read
)

// Kinds returns all kinds of events.
func Kinds() []Kind {
	return []Kind{
		Launch, Refused, Begin, Reclaim, End, Terminate, Adopt, Create, Update, Destroy, Freeze, Unfreeze, Pause, Resume, Evict,
		Threshold, Exceeded, Recovered, GateClosed, GateOpened, Price, Failed, RunFailed, Grant, Hold, Release, Loss,
	}
}

// ranks order the kinds by what may follow from what: a pool that lost an instance
// launches, and what it launched begins.
var ranks = func() map[Kind]int {
	ranks := map[Kind]int{}
	for n, k := range []Kind{
		Create, Update, Adopt, Grant, Hold, Price, Loss, Reclaim, Threshold, Exceeded, Recovered, GateClosed, GateOpened,
		Freeze, Pause, Evict, Unfreeze, Resume, Terminate, End, Release, Launch, Refused, Begin, Destroy, Failed, RunFailed,
	} {
		ranks[k] = n + 1
	}
	return ranks
}()

// Rank orders the events of one second as they follow from each other.
func (k Kind) Rank() int { return ranks[k] }

// Known says whether this gpupool tells events of the kind.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Trouble says whether the kind tells of what did not work, and is told again for as
// long as it doesn't.
func (k Kind) Trouble() bool { return k == Refused || k == Failed || k == RunFailed }
