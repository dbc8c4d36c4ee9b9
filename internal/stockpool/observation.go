package stockpool

import (
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Seen is what a look shows of one stock pool. The zero value has seen nothing.
type Seen struct {
	ClusterUID string
	At         time.Time // the cluster's clock; zero where nothing was seen
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

// Looked says whether the cluster was seen.
func (s Seen) Looked() bool { return !s.At.IsZero() && s.ClusterUID != "" }

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
	// DeletionCost is the annotation by which a ReplicaSet chooses which pods go first.
	DeletionCost string
	// Annotations are at most gpupool/protected.
	Annotations       map[string]string
	PriorityClassName string
	Priority          int32
}

// Ended says that the pod is over, or about to be.
func (p Pod) Ended() bool {
	return p.Ending || slices.Contains([]string{"Succeeded", "Failed"}, p.Phase)
}

// Look is what a look at a whole cluster shows of all stock pools.
type Look struct {
	ClusterUID string
	At         time.Time
	Namespaces map[string]map[string]string // labels, by name
	// By namespace and name. What lacks the pools' labels is not among them.
	Deployments map[string]*appsv1.Deployment
	Guards      map[string]*policyv1.PodDisruptionBudget
	Pods        map[string][]Pod
}

// Of is what the look shows of one pool.
func (l Look) Of(d Declaration) Seen {
	labels, there := l.Namespaces[d.Namespace]
	return Seen{
		ClusterUID: l.ClusterUID, At: l.At, NamespaceMissing: !there, NamespaceLabels: labels,
		Deployment: l.Deployments[d.Key()], Guard: l.Guards[d.Key()], Pods: l.Pods[d.Key()],
	}
}

// ErrChanged says that what is in the cluster is not, or not any more, what was seen.
var ErrChanged = errors.New("it is another by now, or somebody else changed it meanwhile: it was left alone")

// Cover is a budget that covers the pool's pods, or that the pool names.
type Cover struct {
	Budget string `json:"budget"`
	// Exceeded says that its limit is reached, and Pauses that it wants what it covers
	// stopped now.
	Exceeded bool `json:"exceeded"`
	Pauses   bool `json:"pauses"`
	// Unknown says that this can't be told.
	Unknown bool `json:"unknown"`
	// ByDrift says that the budget counts the pods only by what others made of the
	// Deployment.
	ByDrift bool   `json:"-"`
	Reason  string `json:"reason,omitempty"` // of whatever holds the pool back
}

// holds says whether the pool may not grow because of the budget.
func (c Cover) holds() bool { return c.Exceeded || c.Unknown }
