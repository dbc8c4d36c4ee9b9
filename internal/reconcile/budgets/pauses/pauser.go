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

// Pauser pauses and resumes workloads for one budget. runBatch has the steps for many workloads,
// pause.go and resume.go those for each.
type Pauser struct {
	Repository record.Repository
	Clock      func() time.Time
	Cluster    Cluster
	Budget     budget.Declaration // of a destroyed one: its name, UID and cluster
	// Declared are the budgets of the cluster: labels in their selectors are stored with pauses.
	Declared []budget.Declaration
	// Wanted names another exceeded budget that would pause a workload, or returns "". It can be
	// nil.
	Wanted func(seen budget.WorkloadState) string
	// CronJobs are the UIDs of Jobs' CronJobs, by the Job's UID.
	CronJobs map[string]string
	// Learn is called with the budget's pauses after each batch; it can be nil.
	Learn func(paused []declaration.Pause)
}

// otherPause is another budget's pause of a workload.
type otherPause struct {
	owner *Paused
	pause declaration.Pause
}

// others returns the pauses that other budgets have of a workload. One that a kill interrupted
// counts, too: its budget continues it.
func (p Pauser) others(known batchPauses, w budget.Workload) ([]otherPause, error) {
	for _, uid := range slices.Sorted(maps.Keys(known.all.Broken)) {
		if uid != p.Budget.UID {
			return nil, fmt.Errorf("whether another budget has paused the %s is unknown: %w", w, known.all.Broken[uid])
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

// passReplicas gives the replica count of a later pause to the other budgets: the last one that
// releases the workload restores it.
func passReplicas(pause declaration.Pause, others []otherPause) {
	for _, o := range others {
		if o.pause.At.Before(pause.At) {
			o.pause.At, o.pause.Replicas = pause.At, pause.Replicas
			o.owner.set(o.pause)
		}
	}
}
