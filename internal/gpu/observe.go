package gpu

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// World is the context in which a pod is observed.
type World struct {
	// Now is the moment of the observation, by the cluster's clock.
	Now time.Time
	// Read is when the pods were read, if that is after Now: their times between the two are valid.
	// Zero means Now.
	Read time.Time
	// Nodes returns the nodes that have or recently had a name. None means that the node is
	// unknown, and what its pods hold is an estimate. If nil, every node counts as present and
	// ready, and everything is an estimate.
	Nodes func(name string) []Node
	// Reserved reports whether a reservation pod of a group of fractions runs, or ran, on a node
	// (ReservationOf). If nil, the pods' own annotations count, as an estimate.
	Reserved func(node, group string) bool
	// Claims returns a resource claim; nil if it does not exist. If Claims is nil, devices that
	// pods hold by claim do not count, and that is a problem.
	Claims func(namespace, name string) *resourcev1.ResourceClaim
	// Inventory is the content of the resource slices; nil if there are none.
	Inventory *Inventory
}

const annotationPrefix = "gpupool/"

// Observe returns what a pod holds, from when to when, and all that accounting and enforcement need of
// it. It never fails: what it cannot understand is in the pod's Problems.
func (t *Table) Observe(pod *corev1.Pod, w World) Pod {
	s := Pod{
		UID: string(pod.UID), Namespace: pod.Namespace, Name: pod.Name,
		Owner: ControllerOf(pod), Labels: pod.Labels, Live: liveOf(pod),
	}
	var problems doubts
	if s.UID == "" {
		problems.add(reason.PodWithoutUID())
	}
	v := interval{
		moments: moments{now: ledger.TimeOf(w.Now), latest: max(ledger.TimeOf(w.Now), ledger.TimeOf(w.Read)), doubts: &problems},
		pod:     pod, node: &s.Node,
	}
	s.Scheduled = v.scheduled()
	s.Node = v.nodeOf(w, s.Scheduled)
	t.holds(&s, pod, w, &problems)
	holds := len(s.Shares) > 0 || problems.lost
	if holds && !ledger.KeepsAll(pod.Labels) {
		problems.add(reason.PodLabelsCut())
	}
	s.Running = v.running()
	s.End, s.Refused = v.end(s.Scheduled), v.refused()
	s.Problems = problems.list
	s.Incomplete = holds && problems.lost && pod.Spec.NodeName != ""
	return s
}

// holds computes what the pod holds once it is bound to its node, and how well that is confirmed.
func (t *Table) holds(s *Pod, pod *corev1.Pod, w World, problems *doubts) {
	if isReservation(pod) || !t.MayHold(pod) {
		return
	}
	y := &tally{table: t, pod: pod, node: &s.Node, doubts: *problems}
	held := y.requested()
	if isMirror(pod) {
		if len(held) > 0 || len(pod.Spec.ResourceClaims) > 0 || ByFraction(pod) {
			y.doubts.recordLoss(reason.StaticPodUncounted())
		}
		*problems = y.doubts
		return
	}
	shared := y.claimed(held, w)
	if !held.gpus() && !shared.gpus() {
		y.fraction(held, w)
	}
	names := sortedKeys(held)
	for _, name := range names {
		held[name] = y.within(name, held[name], held)
	}
	s.Shares = y.splitByGPU(y.shares(held, names, ""))
	for _, claim := range sortedKeys(shared) {
		s.Shares = append(s.Shares, y.shares(shared[claim], sortedKeys(shared[claim]), claim)...)
	}
	y.plausible(s.Shares)
	s.Shown, s.Capped = y.shown(ledger.TimeOf(w.Now)), y.capped
	*problems = y.doubts
}

func liveOf(pod *corev1.Pod) Live {
	l := Live{Phase: string(pod.Status.Phase), ResourceVersion: pod.ResourceVersion, PriorityClassName: pod.Spec.PriorityClassName}
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		l.TerminationGrace = *pod.Spec.TerminationGracePeriodSeconds
	}
	if pod.DeletionTimestamp != nil {
		l.Deletion = ledger.TimeOf(pod.DeletionTimestamp.Time)
	}
	if pod.Spec.Priority != nil {
		l.Priority = *pod.Spec.Priority
	}
	for key, value := range pod.Annotations {
		if strings.HasPrefix(key, annotationPrefix) {
			if l.Annotations == nil {
				l.Annotations = map[string]string{}
			}
			l.Annotations[key] = value
		}
	}
	l.Mirror = isMirror(pod)
	return l
}

// isMirror reports whether a pod is the mirror of a static pod. No scheduler assigned devices to it, and the
// kubelet of any node can create one in any namespace: it counts against no budget.
func isMirror(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror
}
