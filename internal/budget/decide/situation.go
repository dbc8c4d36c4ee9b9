package decide

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Situation is the input of Decide.
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
	// FreezeOutdated says that it has another selector than the declaration.
	FreezeOutdated bool
	// FreezeRecoversAt is the end that it announces; zero if none.
	FreezeRecoversAt time.Time
	// FreezeSlots is who last wrote what a freeze would use.
	FreezeSlots budget.SlotWrite
	// PriorityClasses are the values of the cluster's priority classes, by name.
	PriorityClasses map[string]int32
	// ClusterDoubts are warnings that the declaration needs something that the cluster does not have, and of pods that count
	// wrongly.
	ClusterDoubts reason.Reasons
	// StoreNamespace is the namespace of the store; nothing in it is ever changed.
	StoreNamespace string
	// Happened are the IDs of the events of Previous.AboutTo that happened.
	Happened map[string]bool
	// Unseen says that what is in force could not be observed.
	Unseen bool
	// Lost are the workloads of Previous.Paused that are still stopped but in no document of pauses.
	Lost []budget.PausedWorkload
}

// Observation is what changes while a run works on other budgets. A run judges all budgets by a first
// one without pods, and acts on each by a second one.
type Observation struct {
	// Pods are those of any budget that hold GPUs or wait for some: Decide selects its own.
	Pods []budget.Pod
	// Owned says that all pods that hold GPUs were observed, with their owners.
	Owned bool
	// Paused are the workloads that are paused, by this budget or another.
	Paused []Paused
}

// Paused is a workload that a budget paused.
type Paused struct {
	budget.Workload
	Replicas  int32 // before the pause
	BudgetUID string
	// Set is the namespace, its labels, and the labels of the workload's pod template; nil if
	// unknown.
	Set               *ledger.LabelSet
	PriorityClassName string // of its pod template
	CreatedAt, Since  time.Time
	// Running says that it was not observed to be stopped.
	Running bool
	// UnderWay says that a run was killed while it paused or resumed it.
	UnderWay bool
	// Undone says that it was resumed manually and that the budget left it running: it no longer counts as
	// paused.
	Undone bool
}

// PausedBy returns the workloads of a list that a budget has paused and that are not resumed.
func PausedBy(budgetUID string, list []Paused) []budget.PausedWorkload {
	var held []budget.PausedWorkload
	for _, p := range list {
		if p.BudgetUID == budgetUID && !p.Undone {
			held = append(held, budget.PausedWorkload{Workload: p.Workload, Replicas: p.Replicas, Since: p.Since})
		}
	}
	return held
}

// WantedPods is which pods Decide needs.
type WantedPods string

// The pods that Decide can need.
const (
	NoPods      WantedPods = "none"
	WaitingPods WantedPods = "waiting" // those that wait for GPUs
	AllPods     WantedPods = "all"     // those that hold GPUs, too
)

// Enforces reports whether the limit is reached and an action is declared, even if the grace period
// is not over.
func (s Situation) Enforces() bool {
	return s.Result.Usage.Exceeded() && s.Declaration.Enforce.Action != budget.AlertOnly
}

// WantsPods returns which current pods Decide needs. A freeze changes none, and only warns of waiting
// ones.
func (s Situation) WantsPods() WantedPods {
	switch {
	case !s.Enforces():
		return NoPods
	case s.Declaration.Enforce.Action == budget.Freeze:
		return WaitingPods
	}
	return AllPods
}

// WantsOwners returns the pods of a second observation whose workloads Decide needs.
func (s Situation) WantsOwners(second Observation) []budget.Pod {
	s.Observation = second
	f, action := factsOf(s), s.Declaration.Enforce.Action
	var owned []budget.Pod
	for _, p := range f.touchable() {
		// An eviction needs only the Job of a pod, which may count it as a failure.
		if action == budget.Pause || action == budget.Evict && p.Controller().Kind == "Job" {
			owned = append(owned, p)
		}
	}
	if action == budget.Pause && len(owned) > 0 {
		owned = append(owned, f.sparing()...)
	}
	return owned
}

// WouldPause reports whether the budget would pause a workload that another one has paused.
func (s Situation) WouldPause(p Paused) bool {
	if !s.Result.Usage.Exceeded() || s.Declaration.Enforce.Action != budget.Pause {
		return false
	}
	f := factsOf(s)
	return f.due && f.doubt().IsZero() && f.covers(p)
}
