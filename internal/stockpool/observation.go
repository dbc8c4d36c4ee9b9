package stockpool

import (
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Observation is what was observed of one stock pool; the zero value is of none.
type Observation struct {
	ClusterUID string
	At         time.Time // the cluster's clock; zero where nothing was observed
	// NamespaceMissing says that the cluster has no such namespace.
	NamespaceMissing bool
	NamespaceLabels  map[string]string
	// Deployment is the one by the pool's name, whosever it is; nil where there is none.
	Deployment *appsv1.Deployment
	// Guard is the PodDisruptionBudget by the pool's name, whosever it is.
	Guard *policyv1.PodDisruptionBudget
	Pods  []Pod // those that bear the pool's label in its namespace
	// WouldBe is what a dry run of an application would make of the Deployment; nil
	// where none was asked for.
	WouldBe *appsv1.Deployment
}

// Known says whether the cluster was observed.
func (o Observation) Known() bool { return !o.At.IsZero() && o.ClusterUID != "" }

// Replicas is how many pods the Deployment asks for.
func (o Observation) Replicas() int {
	switch of := o.Deployment; {
	case of == nil:
		return 0
	case of.Spec.Replicas == nil:
		return 1
	default:
		return int(*of.Spec.Replicas)
	}
}

// Remaining counts the pods that have not ended, up to the most that a pool may have.
func (o Observation) Remaining() (n int) {
	for _, p := range o.Pods {
		if !p.Ended() {
			n++
		}
	}
	return min(n, maxReplicas)
}

// Pod is one of a pool's pods.
type Pod struct {
	Name   string
	UID    string
	Labels map[string]string
	Phase  string
	Ready  bool
	Ending bool // it is being deleted
	Node   string
	// Unschedulable is why the scheduler has no node for it; empty where it has one, or
	// has not said.
	Unschedulable string
	// Waiting is why its container does not run, in the kubelet's word, such as
	// "ImagePullBackOff"; empty where it runs, or nobody said.
	Waiting string
	// Unlike is how it differs from what its ReplicaSet makes of the pool's Deployment, in its
	// image or its devices; empty where it does not.
	Unlike string
	// DeletionCost is the annotation by which a ReplicaSet chooses which pods go first.
	DeletionCost string
	// Annotations are at most gpupool/protected.
	Annotations       map[string]string
	PriorityClassName string
	Priority          int32
}

// Ended says that the pod is over, or somebody deleted it, however long it takes to end.
func (p Pod) Ended() bool { return p.Ending || p.over() }

// Holds says whether the pod has its devices, whether or not somebody deleted it.
func (p Pod) Holds() bool { return p.Node != "" && !p.over() }

func (p Pod) over() bool { return slices.Contains([]string{"Succeeded", "Failed"}, p.Phase) }

// Observations are those of all stock pools of a cluster, made at once.
type Observations struct {
	ClusterUID string
	At         time.Time
	Namespaces map[string]map[string]string // labels, by name
	// By namespace and name. What lacks the pools' labels is not among them.
	Deployments map[string]*appsv1.Deployment
	Guards      map[string]*policyv1.PodDisruptionBudget
	Pods        map[string][]Pod
}

// Of is the observation of one pool.
func (o Observations) Of(d Declaration) Observation {
	labels, there := o.Namespaces[d.Namespace]
	return Observation{
		ClusterUID: o.ClusterUID, At: o.At, NamespaceMissing: !there, NamespaceLabels: labels,
		Deployment: o.Deployments[d.Key()], Guard: o.Guards[d.Key()], Pods: o.Pods[d.Key()],
	}
}

// ErrChanged says that what is in the cluster is not, or not any more, what was observed.
var ErrChanged = errors.New("it is another by now, or somebody else changed it meanwhile: it was left alone")

// SpareCost is the deletion cost that spares a pod: a ReplicaSet ends those that cost
// less first.
const SpareCost = "1000"

// Room is a spot pool of which nodes could take pods.
type Room struct {
	Pool string // "ap-singapore/train"
	// ClusterUID is of the cluster whose nodes they are, and Labels are what its
	// declaration says that they have.
	ClusterUID string
	Labels     map[string]string
	// InstanceTypes are those of its offerings.
	InstanceTypes []string
	// Grows says that more nodes of it are on their way. Why says which, or else why
	// there are none; empty where nothing was observed.
	Grows bool
	Why   string
}
