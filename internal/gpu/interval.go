package gpu

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// stuckAfter is how long after its deletion timestamp, which includes the grace
// period, a pod is taken to be stuck.
const stuckAfter = 30 * time.Second

// interval reads from when to when one pod holds its devices. Every time comes
// from the pod's own object, never from when it was looked at, except where it
// has ended and nothing tells when.
type interval struct {
	moments
	pod  *corev1.Pod
	node *Node
}

// taken says that the pod's kubelet knows it: the node's name is the pod's own
// word where it goes past the scheduler, and may be that of no node.
func (v interval) taken() bool {
	return v.pod.Spec.NodeName != "" && !v.pod.Status.StartTime.IsZero()
}

// scheduled is when the node's devices became the pod's own: from then on the
// scheduler gives them to nobody else. That is before its kubelet took the pod, and
// counts once it did.
func (v interval) scheduled() Start {
	if !v.taken() {
		return Start{}
	}
	created, hasCreated := v.created()
	start := Start{At: created, Source: Created}
	if c := condition(v.pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionTrue {
		if at, ok := v.believe("the last transition of PodScheduled", c.LastTransitionTime.Time); ok {
			return Start{At: later(at, created), Source: PodScheduled}
		}
	}
	if at, ok := v.believed("status.startTime", v.pod.Status.StartTime); ok {
		return Start{At: later(at, created), Source: StartTime}
	}
	if at, ok := v.firstStarted(); ok {
		return Start{At: later(at, created), Source: ContainerStarted}
	}
	if !hasCreated {
		v.doubts.losef("nothing tells when it started: not counted")
		return Start{}
	}
	return start
}

// running is when the first container started.
func (v interval) running() Start {
	at, ok := v.firstStarted()
	if !v.taken() || !ok {
		return Start{}
	}
	created, _ := v.created()
	return Start{At: later(at, created), Source: ContainerStarted}
}

func (v interval) created() (time.Time, bool) {
	if v.pod.CreationTimestamp.IsZero() {
		v.doubts.add("it has no creation timestamp")
	}
	return v.believe("its creation timestamp", v.pod.CreationTimestamp.Time)
}

// end is when the pod ceased to hold its devices; zero while it does. It is
// never before the start, and never after now.
func (v interval) end(start Start) End {
	if start.At.IsZero() {
		return End{}
	}
	end, ended := v.stuck()
	if v.terminal() {
		end, ended = v.proven(v.terminated(start)), true
	}
	if !ended {
		return End{}
	}
	end.At = later(end.At, start.At)
	if end.At.After(v.now) {
		return End{} // it was seen later, and holds them still
	}
	return end
}

func (v interval) terminal() bool {
	return v.pod.Status.Phase == corev1.PodSucceeded || v.pod.Status.Phase == corev1.PodFailed
}

// stuck ends a pod whose deletion is overdue, where its node is gone or silent.
// While the node is ready the devices are really held, whatever keeps the
// containers (NVIDIA/k8s-device-plugin#335), and the interval stays open.
func (v interval) stuck() (End, bool) {
	at, ok := v.deleted()
	if !ok || !v.now.After(at.Add(stuckAfter)) || !v.node.Gone && !v.node.NotReady {
		return End{}, false
	}
	return End{At: at, Source: DeletionTimestamp}, true
}

// terminated finds the best time of end of a pod that has ended.
func (v interval) terminated(start Start) End {
	if v.rejected() {
		return End{At: start.At, Source: Rejected}
	}
	f := v.finished()
	if f.known() && !f.more {
		return End{At: f.at, Source: ContainerFinished}
	}
	other, ok := v.otherEnd(start)
	switch {
	case ok && f.known():
		// Some container's end is missing: it was no later than the pod's.
		if other.At.After(f.at) {
			return other
		}
		return End{At: f.at, Source: ContainerFinished}
	case ok:
		return other
	case f.known() && f.main:
		return End{At: f.at, Source: ContainerFinished}
	}
	if length, told := v.lasted(); told && !start.At.IsZero() {
		return End{At: earlier(start.At.Add(length), v.now), Source: ContainerFinished}
	}
	return End{At: v.now, Source: SeenTerminal}
}

// otherEnd is what tells of the end beside the containers' own.
func (v interval) otherEnd(start Start) (End, bool) {
	if c := condition(v.pod, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
		if at, ok := v.ended("the last transition of DisruptionTarget", c.LastTransitionTime.Time); ok {
			return End{At: at, Source: DisruptionTarget}, true
		}
	}
	if at, ok := v.notReady(start); ok {
		return End{At: at, Source: NotReady}, true
	}
	if at, ok := v.deleted(); ok {
		return End{At: earlier(at, v.now), Source: DeletionTimestamp}, true
	}
	if at, ok := v.statusWritten(); ok {
		return End{At: at, Source: StatusWritten}, true
	}
	return End{}, false
}

// deleted is when the pod was to be gone, the grace period included.
func (v interval) deleted() (time.Time, bool) {
	if v.pod.DeletionTimestamp == nil {
		return time.Time{}, false
	}
	return v.ended("its deletion timestamp", v.pod.DeletionTimestamp.Time)
}

// ended believes a time as one of an end, which no pod has before its creation. A
// static pod may: its mirror is created anew whenever the API server forgot it.
func (v interval) ended(what string, t time.Time) (time.Time, bool) {
	at, ok := v.believe(what, t)
	_, mirror := v.pod.Annotations[corev1.MirrorPodAnnotationKey]
	if ok && at.Before(v.pod.CreationTimestamp.Add(-clockSkew)) && !mirror {
		v.doubts.addf("%s is %s, before the pod's creation: not believed", what, at.Format(time.RFC3339))
		return time.Time{}, false
	}
	return at, ok
}

// notReady is when the pod ceased to be ready. A pod that never was has a
// condition that dates from its start, and tells nothing about its end.
func (v interval) notReady(start Start) (time.Time, bool) {
	began := start.At
	if at, ok := v.believed("status.startTime", v.pod.Status.StartTime); ok {
		began = later(began, at)
	}
	if at, ok := v.firstStarted(); ok {
		began = later(began, at)
	}
	var last time.Time
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		c := condition(v.pod, kind)
		if c == nil || c.Status != corev1.ConditionFalse {
			continue
		}
		if at, ok := v.believe("the last transition of "+string(kind), c.LastTransitionTime.Time); ok && at.After(began.Add(time.Second)) {
			last = later(last, at)
		}
	}
	return last, !last.IsZero()
}

// statusWritten is when somebody last wrote the pod's status.
func (v interval) statusWritten() (time.Time, bool) {
	var last time.Time
	for i := range v.pod.ManagedFields {
		if f := &v.pod.ManagedFields[i]; f.Subresource == "status" && f.Time != nil {
			if at, ok := v.ended("the time of the last status", f.Time.Time); ok {
				last = later(last, at)
			}
		}
	}
	return last, !last.IsZero()
}

// rejections are the reasons by which a kubelet refuses a pod that was bound to
// its node (pkg/kubelet/lifecycle and pkg/kubelet/allocation of Kubernetes).
var rejections = map[string]bool{
	"UnexpectedAdmissionError": true, "UnexpectedPredicateFailureType": true, "UnknownReason": true,
	"InvalidNodeInfo": true, "NodeAffinity": true, "TopologyAffinityError": true, "SMTAlignmentError": true,
	"PodOSSelectorNodeLabelDoesNotMatch": true, "PodOSNotSupported": true, "SupplementalGroupsPolicyNotSupported": true,
	"InitContainerRestartPolicyForbidden": true, "PodLevelResourcesNotSupported": true, "PodFeatureUnsupported": true,
	"SysctlForbidden": true, "AppArmor": true,
}

// refused is when the kubelet refused the pod, where the pod tells. That is seconds
// after it took it, except for a pod that ran, and was refused when its node had
// restarted and the device plugin had not yet: its containers' statuses are gone
// then, and only who saw it before knows of its past.
func (v interval) refused() time.Time {
	if !v.terminal() || !v.rejected() {
		return time.Time{}
	}
	at, _ := v.statusWritten()
	return at
}

// rejected says that the kubelet refused the pod, and that none of its containers
// is known to have started: the device plugin had no device left
// (OutOfnvidia.com/gpu), or failed to hand one out (UnexpectedAdmissionError).
func (v interval) rejected() bool {
	s := &v.pod.Status
	if s.Phase != corev1.PodFailed || anyRan(s.ContainerStatuses) || anyRan(s.InitContainerStatuses) {
		return false
	}
	return rejections[s.Reason] || strings.HasPrefix(s.Reason, "OutOf") || strings.HasPrefix(s.Message, "Pod was rejected: ")
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
