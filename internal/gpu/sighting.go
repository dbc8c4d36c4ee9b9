package gpu

import (
	"math/big"
	"strings"
	"time"
)

// Sighting is all that accounting and enforcement keep of one pod, as it was
// seen at one moment.
type Sighting struct {
	UID       string
	Namespace string
	Name      string
	Owner     Owner
	Labels    map[string]string
	// Node is where the pod is bound; empty while it is not.
	Node Node
	// Shares is what it holds, by claim and resource; empty for a pod without GPUs.
	Shares []Share
	// Shown is by how much its node bears out what it holds: 0 where nothing does, so
	// that Shares are an estimate; else 1, and 1 more for each fact that the node
	// tells of its GPUs. What was seen with more of them is worth more.
	Shown int
	// Capped says that it asked for more than Shares, and that its node is not known
	// to have more.
	Capped bool
	// Scheduled is when it began to hold its devices; zero until its kubelet took it.
	Scheduled Start
	// Running is when its first container started; zero before.
	Running Start
	// End is when it stopped to hold them; zero while it does.
	End End
	// Refused is when its kubelet refused a pod whose End is Rejected, where the pod
	// tells: the end of one that is known to have run before.
	Refused time.Time
	Live    Live
	// Problems says what about the pod could not be understood, for a person.
	Problems []string
	// Incomplete says that because of a problem something that the pod holds, or
	// all of its time, is not counted.
	Incomplete bool
}

// Owner is the controller of a pod; zero for a pod without one.
type Owner struct {
	APIVersion string
	Kind       string
	Name       string
	UID        string
}

// Share is what a pod holds of one resource.
type Share struct {
	Resource string   // such as "nvidia.com/gpu", or a DRA driver such as "gpu.nvidia.com"
	Units    *big.Rat // of the resource
	Weight   *big.Rat // GPUs a unit, exact
	// Claim is by what it is held, where other pods may hold it, too: the uid of a
	// resource claim, or a GPU that is reserved for fractions. All of it then belongs
	// to these pods together. Empty for what is the pod's alone.
	Claim string
	// Whole is how many units they hold together at most, where Units are but what
	// this pod asked for. Nil is as many as Units.
	Whole *big.Rat
}

// Start is when an interval begins, and how that is known. In seconds, as the
// API server keeps times.
type Start struct {
	At     time.Time
	Source StartSource
}

// StartSource is where a start was read.
type StartSource string

// The sources of starts, from best to worst.
const (
	PodScheduled     StartSource = "pod_scheduled"     // the condition's last transition
	StartTime        StartSource = "start_time"        // status.startTime, the kubelet's
	ContainerStarted StartSource = "container_started" // the earliest start of a container
	Created          StartSource = "created"           // metadata.creationTimestamp
)

// End is when an interval ends, and how that is known.
type End struct {
	At     time.Time
	Source EndSource
}

// EndSource is where an end was read.
type EndSource string

// The sources of ends that a pod's own object gives, from best to worst.
const (
	ContainerFinished EndSource = "container_finished" // the last end of a container
	DisruptionTarget  EndSource = "disruption_target"  // the condition's last transition
	NotReady          EndSource = "not_ready"          // Ready or ContainersReady became false
	DeletionTimestamp EndSource = "deletion_timestamp" // which includes the grace period
	StatusWritten     EndSource = "status_written"     // managedFields' time of the last status write
	SeenTerminal      EndSource = "seen_terminal"      // the first look that found it ended
	// Rejected is the end of a pod that its kubelet refused, such as
	// OutOfnvidia.com/gpu: it ends where it starts, for no device was its own. Who
	// knows that it ran before takes Sighting.Refused.
	Rejected EndSource = "rejected"
)

// Live is what enforcement asks of a pod that holds GPUs now.
type Live struct {
	Phase string // "Pending", "Running", …
	// Deletion is the deletion timestamp, the grace period included; zero where
	// nobody asked for the deletion.
	Deletion time.Time
	// Grace is how many seconds the pod asks for to end.
	Grace             int64
	ResourceVersion   string
	PriorityClassName string
	Priority          int32
	Annotations       map[string]string // those that begin with gpupool/ alone
	Mirror            bool              // a static pod's mirror: no eviction ends it
}

// Node is what accounting knows of a node.
type Node struct {
	Name string
	UID  string
	// Model is the GPU's name, such as "Tesla-T4"; empty where nothing tells.
	Model        string
	InstanceType string
	ProviderID   string // such as "qcloud:///800001/ins-a1b2c3d4"
	Spot         bool
	Created      time.Time
	// Shown says that the node itself was seen, now or lately; else nothing of it is
	// known but what the pod calls it.
	Shown bool
	// Told is how many of the labels and annotations by which nodes tell of their
	// GPUs it has. They come after the node, from programs that run on it.
	Told int
	// Capacity is the most that was seen of what can be handed out to pods there, by
	// extended resource, and GPUs by DRA driver; zero of what was listed with none.
	Capacity map[string]*big.Rat
	// Gone says that no node of that name is there now.
	Gone bool
	// NotReady says that the kubelet was not heard of for some time.
	NotReady bool
	// Devices is what the node tells of its GPUs; nil where it tells nothing.
	Devices *Devices
}

// InstanceID is the cloud's name of the machine, such as "ins-a1b2c3d4": the
// last part of the provider id.
func (n Node) InstanceID() string { return n.ProviderID[strings.LastIndexByte(n.ProviderID, '/')+1:] }
