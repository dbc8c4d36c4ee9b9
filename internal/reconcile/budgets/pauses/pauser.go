package pauses

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Pauser pauses and resumes workloads for one budget. What it does to many of them
// goes by inBatch; what it does to each stands in pause.go and resume.go.
type Pauser struct {
	Keeper  record.Keeper
	Clock   func() time.Time
	Cluster Cluster
	Budget  budget.Declaration // of a destroyed one, its name, uid and cluster
	// Declared are the budgets of the cluster: the labels that their selectors ask for
	// are worth keeping of what is paused.
	Declared []budget.Declaration
	// Wanted names another budget that is exceeded and would hold a workload, if
	// any. Nil where nobody knows.
	Wanted func(seen budget.WorkloadState) string
	// Learn hears what the budget has paused after each batch; nil where nobody does.
	Learn func(paused []declaration.Pause)
}

// otherPause is the pause that another budget has of a workload.
type otherPause struct {
	owner *Paused
	pause declaration.Pause
}

// others are the pauses that other budgets have of a workload, and by which they hold
// it if it is stopped. One that a kill cut short counts as well: its budget goes on
// with it.
func (p Pauser) others(known batchPauses, w budget.Workload) ([]otherPause, error) {
	for _, uid := range slices.Sorted(maps.Keys(known.all.Broken)) {
		if uid != p.Budget.UID {
			return nil, fmt.Errorf("whether another budget holds the %s can't be told: %w", w, known.all.Broken[uid])
		}
	}
	var others []otherPause
	for _, other := range known.all.ByBudget {
		if other.UID == p.Budget.UID || other.ClusterUID != p.Budget.ClusterUID {
			continue
		}
		if pause := other.pauseOf(w); pause.Phase != "" && pause.Phase != declaration.Started {
			others = append(others, otherPause{owner: other, pause: pause})
		}
	}
	return others, nil
}

// handOn gives others the count of a later pause than theirs: it had that many when
// it was last stopped, and is to get them back from whoever lets it go last.
func handOn(pause declaration.Pause, others []otherPause) {
	for _, o := range others {
		if o.pause.At.Before(pause.At) {
			o.pause.At, o.pause.Replicas = pause.At, pause.Replicas
			o.owner.set(o.pause)
		}
	}
}
