package gpu

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Pod is one pod as observed: what it holds, from when to when, and the input of enforcement. The
// ledger has a type of its own on purpose. A ledger.Record lives for weeks among a million others
// and shares equal parts with them.
type Pod struct {
	UID       string
	Namespace string
	Name      string
	Owner     *ledger.Owner // its controller; nil if it has none
	Labels    map[string]string
	// Node is where the pod is bound; empty if it is not.
	Node Node
	// Allocation is what it holds, or requests if it is not bound; a pod without GPUs has no
	// shares. Its Shown says how well the node confirms it.
	ledger.Allocation
	// Scheduled is when it began to hold its devices; none until its kubelet accepted it.
	Scheduled ledger.Start
	// Running is when its first container started; none before.
	Running ledger.Start
	// End is when it released them; open while it holds them.
	End ledger.End
	// Refused is when its kubelet rejected the pod. It is the end only if the ledger knows the pod.
	Refused ledger.Time
	Live
	// Problems lists what could not be understood about the pod, for the operator.
	Problems reason.Reasons
	// Incomplete says that a problem hides a part of what the pod holds, or all of its time.
	Incomplete bool
}

// Live is the input of enforcement for a pod that holds GPUs now.
type Live struct {
	Phase string // "Pending", "Running", …
	// Deletion is the deletion timestamp, including the grace period; none if no deletion was
	// requested.
	Deletion ledger.Time
	// TerminationGrace is the pod's grace period in seconds.
	TerminationGrace  int64
	ResourceVersion   string
	PriorityClassName string
	Priority          int32
	Annotations       map[string]string // only those that begin with gpupool/
	Mirror            bool              // a static pod's mirror, which counts nothing
}

// Holds reports whether the pod has an interval: it holds or held GPUs since a known time.
func (p *Pod) Holds() bool { return p.UID != "" && p.Scheduled.At != 0 && len(p.Shares) > 0 }

// Waits reports whether the pod requests GPUs and no kubelet has accepted it. It has no node, or its node is
// down or has yet to start it. It uses none, and has no interval.
func (p *Pod) Waits() bool {
	return p.UID != "" && p.Scheduled.At == 0 && p.Phase == "Pending" && len(p.Shares) > 0
}
