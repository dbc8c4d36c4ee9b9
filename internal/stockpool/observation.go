package stockpool

import (
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Observation is the observed state of one stock pool.
type Observation struct {
	ClusterUID string
	At         time.Time // the cluster's clock; zero if nothing was observed
	// NamespaceMissing reports that the cluster has no such namespace.
	NamespaceMissing bool
	NamespaceLabels  map[string]string
	// Deployment is the one with the pool's name, managed or foreign; nil if there is none.
	Deployment *appsv1.Deployment
	// Guard is the PodDisruptionBudget with the pool's name, managed or foreign.
	Guard *policyv1.PodDisruptionBudget
	Pods  []Pod // with the pool's label, in its namespace
	// WouldBe is the result of a dry run of an application; nil without one.
	WouldBe *appsv1.Deployment
}

// Known reports whether the cluster was observed.
func (o Observation) Known() bool { return !o.At.IsZero() && o.ClusterUID != "" }

// Replicas returns spec.replicas of the Deployment.
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

// Pod is a pod of a stock pool, as observed.
type Pod struct {
	Name   string
	UID    string
	Labels map[string]string
	Phase  string
	Ready  bool
	Ending bool // it is being deleted
	Node   string
	// Unschedulable is why the scheduler finds no node for it; empty if it has one, or before
	// the scheduler tried.
	Unschedulable string
	// Waiting is the kubelet's reason and message why its container does not run, with the image; empty if it runs.
	Waiting string
	// Mismatch is how its image or its devices differ from the template of the pool's Deployment;
	// empty if they do not.
	Mismatch string
	// DeletionCost is the annotation by which a ReplicaSet chooses which pods to delete first.
	DeletionCost string
	// Annotations are at most gpupool/protected.
	Annotations       map[string]string
	PriorityClassName string
	Priority          int32
}

// Ended reports that the pod is over or being deleted.
func (p Pod) Ended() bool { return p.Ending || p.over() }

// Holds reports whether the pod has its devices, being deleted or not.
func (p Pod) Holds() bool { return p.Node != "" && !p.over() }

func (p Pod) over() bool { return slices.Contains([]string{"Succeeded", "Failed"}, p.Phase) }

// Observations are those of all stock pools of a cluster at one time.
type Observations struct {
	ClusterUID string
	At         time.Time
	Namespaces map[string]map[string]string // labels, by name
	// By namespace and name. Objects without the label of stock pools are not among them.
	Deployments map[string]*appsv1.Deployment
	Guards      map[string]*policyv1.PodDisruptionBudget
	Pods        map[string][]Pod
}

// Of returns the observation of one stock pool.
func (o Observations) Of(d Declaration) Observation {
	labels, there := o.Namespaces[d.Namespace]
	return Observation{
		ClusterUID: o.ClusterUID, At: o.At, NamespaceMissing: !there, NamespaceLabels: labels,
		Deployment: o.Deployments[d.Key()], Guard: o.Guards[d.Key()], Pods: o.Pods[d.Key()],
	}
}

// ErrChanged reports that an object differs from what was observed.
var ErrChanged = errors.New("it was changed or replaced by another process: nothing was changed")

// SpareCost is the deletion cost of marked pods: a ReplicaSet first deletes those that cost
// less.
const SpareCost = "1000"

// Room is a spot pool whose nodes could take pods.
type Room struct {
	Pool string // "ap-singapore/train"
	// ClusterUID is the cluster of its nodes, and Labels are their declared labels.
	ClusterUID    string
	Labels        map[string]string
	InstanceTypes []string
	// Grows reports that more nodes are coming. Why says which, or why none are; empty if
	// nothing was observed.
	Grows bool
	Why   string
}
