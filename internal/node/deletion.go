package node

import "time"

// ReclaimReserve is how long before a reclaim a pod should have ended. A kubelet and a runtime under load need
// it.
const ReclaimReserve = 15 * time.Second

// GraceBefore is how many seconds a pod with a grace period gets to end before its instance is reclaimed. It
// is at least one: with none, the pod would go on, unseen.
func GraceBefore(at, now time.Time, grace int64) int64 {
	return max(1, min(grace, int64((at.Sub(now)-ReclaimReserve)/time.Second)))
}

// Deletion is a pod to delete before its node's instance is reclaimed.
type Deletion struct {
	Pod   Pod
	Grace int64 // in seconds
}

// Deletions returns the pods to delete before the reclaim of a node at a time, and those that are deleted. A
// pod that would end after the reclaim is deleted again. All die with the instance: no protection, disruption
// budget or missing controller spares them. As in a drain, pods of daemon sets, mirror pods and ended pods do
// not count.
func Deletions(pods []Pod, at, now time.Time) (list []Deletion, deleted []Pod) {
	for _, p := range pods {
		if p.stays() {
			continue
		}
		if p.Ending && !p.EndsAt.After(at) {
			deleted = append(deleted, p)
			continue
		}
		list = append(list, Deletion{Pod: p, Grace: GraceBefore(at, now, p.Grace)})
	}
	return list, deleted
}
