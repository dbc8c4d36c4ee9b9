package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Situation is all that Decide judges by.
type Situation struct {
	Declaration budget.Declaration // valid
	Result      meter.Result       // of Evaluate, for this declaration
	// Previous is the status that the last run wrote; nil before the first.
	Previous *budget.Status
	Now      time.Time // the cluster's clock
	// Grants are those of the budget. The result is of Declaration.Granted.
	Grants budget.Grants
	RunID  string

	Observation
	// Frozen says that this budget's freeze is in force.
	Frozen bool
	// FreezeOutdated says that it is in force for another selector than the
	// declaration's.
	FreezeOutdated bool
	// FreezeRecoversAt is what it names as its end; zero where that is nothing.
	FreezeRecoversAt time.Time
	// PriorityClasses are the values of the cluster's priority classes, by name.
	PriorityClasses map[string]int32
	// SelectorDoubts say how the selector does not fit the cluster, for a person.
	SelectorDoubts []string
	// StoreNamespace is where the store lives; nothing in it is ever touched.
	StoreNamespace string
	// CameAbout are the ids of the events of Previous.AboutTo that turned out to have
	// happened.
	CameAbout map[string]bool
	// Unseen says that it can't be told what is in force.
	Unseen bool
}

// Observation is what comes and goes while a run deals with other budgets. A run judges all
// budgets by a first one, in which there are no pods, and acts on each by a second one.
type Observation struct {
	// Pods are those that hold GPUs now, or wait for some, of any budget: Decide picks
	// its own.
	Pods []budget.Pod
	// Owned says that all pods that hold GPUs were observed, and whose they are.
	Owned bool
	// Paused are the workloads that are paused, by this budget or another.
	Paused []Paused
}

// Paused is a workload that a budget paused.
type Paused struct {
	budget.Workload
	BudgetUID string
	// Set is what its pods are told apart by, as far as is known: their namespace,
	// its labels, and the labels of the workload's template. Nil where it is not.
	Set               *ledger.LabelSet
	PriorityClassName string // of its template of pods
	// Running says that it is not stopped, as far as was observed.
	Running bool
	// UnderWay says that the pause has not come to its end, or that its end has
	// begun: a run was killed then.
	UnderWay bool
	// Undone says that someone started it again, and that the budget left it so: it
	// does not count as paused any longer.
	Undone bool
}

// WantedPods are the pods that Decide asks for.
type WantedPods string

// What pods Decide asks for.
const (
	NoPods      WantedPods = "none"
	WaitingPods WantedPods = "waiting" // those that wait for GPUs
	AllPods     WantedPods = "all"     // those that hold GPUs, too
)

// Enforces reports whether the limit is reached and more follows from it than alerts,
// at once or once the grace is over.
func (s Situation) Enforces() bool {
	return s.Result.Usage.Exceeded() && s.Declaration.Enforce.Action != budget.AlertOnly
}

// WantsPods says which pods of now decide what is done. A freeze touches none, and
// only warns of those that wait.
func (s Situation) WantsPods() WantedPods {
	switch {
	case !s.Enforces():
		return NoPods
	case s.Declaration.Enforce.Action == budget.Freeze:
		return WaitingPods
	}
	return AllPods
}

// WantsOwners are the pods of a second observation whose workloads decide what is done.
func (s Situation) WantsOwners(second Observation) []budget.Pod {
	s.Observation = second
	f, action := factsOf(s), s.Declaration.Enforce.Action
	var owned []budget.Pod
	for _, p := range f.touchable() {
		// An eviction asks only what a waiting pod's Job would make of it.
		if action == budget.Pause || action == budget.Evict && p.Waits() && p.Controller().Kind == "Job" {
			owned = append(owned, p)
		}
	}
	if action == budget.Pause && len(owned) > 0 {
		owned = append(owned, f.sparing()...)
	}
	return owned
}

// WouldPause reports whether the budget would pause a workload that another one has
// paused: its pods would count against a limit that is reached.
func (s Situation) WouldPause(p Paused) bool {
	if !s.Result.Usage.Exceeded() || s.Declaration.Enforce.Action != budget.Pause {
		return false
	}
	f := factsOf(s)
	return f.due && f.doubt() == "" && f.covers(p)
}
