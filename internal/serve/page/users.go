package page

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// users are who used the GPU-hours of a budget, and the latest pods that ended.
type users struct {
	BudgetUsage
	Ended []endedPod
}

// endedPod is a pod and how it ended.
type endedPod struct {
	usage.Pod
	How string
}

// newUsers has the pods of a namespace, or of all. Events are those of the budget.
func newUsers(u BudgetUsage, events []event, namespace string) *users {
	of, evicted := &users{BudgetUsage: u}, map[string]string{}
	for _, e := range events {
		if e.Kind == history.Evict || e.Kind == history.Evicted {
			for _, p := range e.Pods {
				evicted[p.UID] = e.Object
			}
		}
	}
	pods := slices.DeleteFunc(slices.Clone(u.Ended), func(p usage.Pod) bool { return namespace != "" && p.Namespace != namespace })
	for _, p := range pods[:min(len(pods), eventsAtMost)] {
		how := howEnded(p.EndSource)
		if by := evicted[p.UID]; by != "" {
			how = "evicted by " + by
		}
		of.Ended = append(of.Ended, endedPod{p, how})
	}
	return of
}

// howEnded is how a pod ended, by the source of its end.
func howEnded(source *string) string {
	if source == nil {
		return ""
	}
	switch ledger.Source(*source) {
	case ledger.Rejected:
		return "its node rejected it"
	case ledger.ContainerFinished, ledger.NotReady, ledger.StatusWritten, ledger.SeenTerminal:
		return "its containers ended"
	case ledger.DisruptionTarget:
		return "evicted or preempted"
	case ledger.InstanceEnded:
		return "its instance was reclaimed or terminated"
	case ledger.NodeGone:
		return "its node disappeared"
	case ledger.DeletionTimestamp, ledger.Event:
		return "deleted"
	}
	return "deleted; the time is an estimate"
}
