package gpu

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// stuckAfter is how long after its deletion timestamp, which includes the grace period, a pod
// counts as stuck.
const stuckAfter = 30 * second

// longestGrace bounds the arithmetic with a pod's grace period, in seconds: a thousand years.
const longestGrace = 1000 * 366 * 24 * 3600

// second is the precision of the API server's times.
const second = ledger.Time(time.Second / time.Millisecond)

// interval computes from when to when one pod holds its devices. Every time comes from the pod's
// object and not from the time of the observation, unless the pod ended at an unknown time.
type interval struct {
	moments
	pod  *corev1.Pod
	node *Node
}

// taken reports whether the pod's kubelet accepted it. A pod that bypasses the scheduler names its
// node itself, which may not exist.
func (v interval) taken() bool {
	return v.pod.Spec.NodeName != "" && !v.pod.Status.StartTime.IsZero()
}

// scheduled returns when the scheduler assigned the node's devices to the pod. That is before its
// kubelet accepted the pod, and counts once it did.
func (v interval) scheduled() ledger.Start {
	if !v.taken() {
		return ledger.Start{}
	}
	created, hasCreated := v.created()
	start := ledger.Start{At: created, Source: ledger.Created}
	if c := condition(v.pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionTrue {
		if at, ok := v.believe(lastTransition(corev1.PodScheduled), c.LastTransitionTime.Time); ok {
			return ledger.Start{At: max(at, created), Source: ledger.PodScheduled}
		}
	}
	if at, ok := v.check("status.startTime", v.pod.Status.StartTime); ok {
		return ledger.Start{At: max(at, created), Source: ledger.StartTime}
	}
	if at, ok := v.firstStarted(); ok {
		return ledger.Start{At: max(at, created), Source: ledger.ContainerStarted}
	}
	if !hasCreated {
		v.doubts.recordLoss(reason.StartUnknown())
		return ledger.Start{}
	}
	return start
}

// running returns when the first container started.
func (v interval) running() ledger.Start {
	at, ok := v.firstStarted()
	if !v.taken() || !ok {
		return ledger.Start{}
	}
	created, _ := v.created()
	return ledger.Start{At: max(at, created), Source: ledger.ContainerStarted}
}

func (v interval) created() (ledger.Time, bool) {
	if v.pod.CreationTimestamp.IsZero() {
		v.doubts.add(reason.PodWithoutCreation())
	}
	return v.believe("metadata.creationTimestamp", v.pod.CreationTimestamp.Time)
}

// appeared returns the pod's creation timestamp, without validation.
func (v interval) appeared() ledger.Time { return ledger.TimeOf(v.pod.CreationTimestamp.Time) }

// end returns when the pod released its devices; zero while it holds them. It is never before the
// start or after now.
func (v interval) end(start ledger.Start) ledger.End {
	if start.At == 0 {
		return ledger.End{}
	}
	end, ended := v.stuck()
	if v.terminal() {
		end, ended = v.capByStatus(v.terminated(start)), true
	}
	if !ended {
		return ledger.End{}
	}
	at := max(end.At, start.At)
	if at > v.now {
		return ledger.End{} // it was observed later, and still holds them
	}
	return ledger.ExactEnd(at, end.Source)
}

func (v interval) terminal() bool {
	return v.pod.Status.Phase == corev1.PodSucceeded || v.pod.Status.Phase == corev1.PodFailed
}

// stuck ends a pod whose deletion is overdue if its node is gone or silent. While the node is
// ready, the pod really holds the devices, whatever keeps the containers
// (NVIDIA/k8s-device-plugin#335), and the interval stays open.
func (v interval) stuck() (ledger.End, bool) {
	at, ok := v.deleted()
	if !ok || v.now <= at+stuckAfter || !v.node.Gone && !v.node.NotReady {
		return ledger.End{}, false
	}
	return ledger.ExactEnd(at, ledger.DeletionTimestamp), true
}

// terminated returns the best known end of a pod that ended.
func (v interval) terminated(start ledger.Start) ledger.End {
	if v.rejected() {
		return ledger.ExactEnd(start.At, ledger.Rejected)
	}
	f := v.finished()
	if f.known() && !f.more {
		return ledger.ExactEnd(f.at, ledger.ContainerFinished)
	}
	other, ok := v.otherEnd(start)
	switch {
	case ok && f.known():
		// A container's end is missing: it was no later than the pod's.
		if other.At > f.at {
			return other
		}
		return ledger.ExactEnd(f.at, ledger.ContainerFinished)
	case ok:
		return other
	case f.known() && f.main:
		return ledger.ExactEnd(f.at, ledger.ContainerFinished)
	}
	if length, told := v.runTime(); told && start.At != 0 {
		return ledger.ExactEnd(min(start.At+length, v.now), ledger.ContainerFinished)
	}
	return ledger.ExactEnd(v.now, ledger.SeenTerminal)
}

// otherEnd returns the end from sources other than the containers.
func (v interval) otherEnd(start ledger.Start) (ledger.End, bool) {
	if c := condition(v.pod, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		if at, ok := v.ended(lastTransition(corev1.DisruptionTarget), c.LastTransitionTime.Time); ok {
			return ledger.ExactEnd(at, ledger.DisruptionTarget), true
		}
	}
	if at, ok := v.notReady(start); ok {
		return ledger.ExactEnd(at, ledger.NotReady), true
	}
	if at, ok := v.deleted(); ok {
		return ledger.ExactEnd(min(at, v.now), ledger.DeletionTimestamp), true
	}
	if at, ok := v.statusWritten(); ok {
		return ledger.ExactEnd(at, ledger.StatusWritten), true
	}
	return ledger.End{}, false
}

// deleted returns when the deletion is due, including the grace period.
func (v interval) deleted() (ledger.Time, bool) {
	if v.pod.DeletionTimestamp == nil {
		return 0, false
	}
	if grace := v.pod.DeletionGracePeriodSeconds; grace != nil {
		due := ledger.TimeOf(v.pod.DeletionTimestamp.Time)
		if requested := due - ledger.Time(min(*grace, longestGrace))*second; due > v.latest && requested <= v.latest+clockSkew {
			return due, true
		}
	}
	return v.ended("metadata.deletionTimestamp", v.pod.DeletionTimestamp.Time)
}

// ended validates the time of an end, which must not be before the pod's creation. A static pod is
// an exception: its mirror is created again whenever the API server lost it.
func (v interval) ended(field reason.Word, t time.Time) (ledger.Time, bool) {
	at, ok := v.believe(field, t)
	if ok && at < v.appeared()-clockSkew && !isMirror(v.pod) {
		v.doubts.add(reason.TimeBeforeCreation(field, reason.Instant{Time: at.Time()}))
		return 0, false
	}
	return at, ok
}

// notReady returns when the pod stopped being ready. A pod that never was ready has a condition
// from its start, which does not help.
func (v interval) notReady(start ledger.Start) (ledger.Time, bool) {
	began := start.At
	if at, ok := v.check("status.startTime", v.pod.Status.StartTime); ok {
		began = max(began, at)
	}
	if at, ok := v.firstStarted(); ok {
		began = max(began, at)
	}
	var last ledger.Time
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		c := condition(v.pod, kind)
		if c == nil || c.Status != corev1.ConditionFalse {
			continue
		}
		if at, ok := v.believe(lastTransition(kind), c.LastTransitionTime.Time); ok && at > began+second {
			last = max(last, at)
		}
	}
	return last, last != 0
}

// statusWritten returns the time of the last write of the pod's status.
func (v interval) statusWritten() (ledger.Time, bool) {
	var last ledger.Time
	for i := range v.pod.ManagedFields {
		if f := &v.pod.ManagedFields[i]; f.Subresource == "status" && f.Time != nil {
			if at, ok := v.ended("metadata.managedFields.time", f.Time.Time); ok {
				last = max(last, at)
			}
		}
	}
	return last, last != 0
}

// rejections are the reasons with which a kubelet rejects a pod. Source: pkg/kubelet/lifecycle and
// pkg/kubelet/allocation of Kubernetes.
var rejections = map[string]bool{
	"UnexpectedAdmissionError": true, "UnexpectedPredicateFailureType": true, "UnknownReason": true,
	"InvalidNodeInfo": true, "NodeAffinity": true, "TopologyAffinityError": true, "SMTAlignmentError": true,
	"PodOSSelectorNodeLabelDoesNotMatch": true, "PodOSNotSupported": true, "SupplementalGroupsPolicyNotSupported": true,
	"InitContainerRestartPolicyForbidden": true, "PodLevelResourcesNotSupported": true, "PodFeatureUnsupported": true,
	"SysctlForbidden": true, "AppArmor": true,
}

// refused returns when the kubelet rejected the pod, if known. That is seconds after it accepted
// it, with one exception. A pod that ran can be rejected after a restart of its node, before the
// device plugin is up. Its container statuses are then gone; only an earlier observation knows its
// past.
func (v interval) refused() ledger.Time {
	if !v.terminal() || !v.rejected() {
		return 0
	}
	at, _ := v.statusWritten()
	return at
}

// rejected reports whether the kubelet rejected the pod and no container is known to have started.
// The device plugin had no device left (OutOfnvidia.com/gpu), or could not allocate one
// (UnexpectedAdmissionError).
func (v interval) rejected() bool {
	s := &v.pod.Status
	if s.Phase != corev1.PodFailed || anyRan(s.ContainerStatuses) || anyRan(s.InitContainerStatuses) {
		return false
	}
	return rejections[s.Reason] || strings.HasPrefix(s.Reason, "OutOf") || strings.HasPrefix(s.Message, "Pod was rejected: ")
}

func lastTransition(of corev1.PodConditionType) reason.Word {
	return reason.Word("status.conditions[" + of + "].lastTransitionTime")
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
