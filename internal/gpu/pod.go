package gpu

import "github.com/gpupool/terraform-provider-gpupool/internal/ledger"

// Pod is one pod as a look saw it: what it holds, from when to when, and what
// enforcement asks of it. What the ledger keeps of it is deliberately a type of its
// own: a ledger.Record stands for weeks, beside a million others, and shares what
// is the same of them.
type Pod struct {
	UID       string
	Namespace string
	Name      string
	Owner     *ledger.Owner // what it names as its controller; nil where it names none
	Labels    map[string]string
	// Node is where the pod is bound; empty while it is not.
	Node Node
	// Allocation is what it holds, or asks for while it is not bound; of a pod without
	// GPUs it has no shares. Its Shown says how far the node bears it out.
	ledger.Allocation
	// Scheduled is when it began to hold its devices; none until its kubelet took it.
	Scheduled ledger.Start
	// Running is when its first container started; none before.
	Running ledger.Start
	// End is when it stopped to hold them; open while it does.
	End ledger.End
	// Refused is when its kubelet refused the pod. It is used as the end only if the
	// ledger knows that it ran.
	Refused ledger.Time
	Live
	// Problems says what about the pod could not be understood, for a person.
	Problems []string
	// Incomplete says that because of a problem something that the pod holds, or
	// all of its time, is not counted.
	Incomplete bool
}

// Live is what enforcement asks of a pod that holds GPUs now.
type Live struct {
	Phase string // "Pending", "Running", …
	// Deletion is the deletion timestamp, the grace period included; none where
	// nobody asked for the deletion.
	Deletion ledger.Time
	// TerminationGrace is how many seconds the pod asks for to end.
	TerminationGrace  int64
	ResourceVersion   string
	PriorityClassName string
	Priority          int32
	Annotations       map[string]string // those that begin with gpupool/ alone
	Mirror            bool              // a static pod's mirror: no eviction ends it
}

// Holds says that the pod has an interval: it holds GPUs, or held some, and it is
// known since when.
func (p *Pod) Holds() bool { return p.UID != "" && p.Scheduled.At != 0 && len(p.Shares) > 0 }

// Waits says that the pod asks for GPUs and is not bound to a node: it uses none,
// and the ledger knows nothing of it.
func (p *Pod) Waits() bool {
	return p.UID != "" && p.Node.Name == "" && p.Scheduled.At == 0 && len(p.Shares) > 0
}
