package record

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Cluster is what every kind asks of a Kubernetes cluster.
type Cluster interface {
	// UID is that of the namespace kube-system: a cluster's identity.
	UID(ctx context.Context) (string, error)
	// Now is the API server's clock, by its last answer; zero before the first.
	Now() time.Time
	// Calls counts the API calls made so far, by verb and resource.
	Calls() map[string]int
}

// Reach returns the cluster at hand, with the uid by which declarations are recorded as
// its own. whose are the things that need it, such as "budgets"; connect is nil where
// nothing names a cluster.
func Reach[C Cluster](ctx context.Context, connect func(context.Context) (C, error), whose string) (cluster C, uid string, err error) {
	if connect == nil {
		return cluster, "", fmt.Errorf("%s need a Kubernetes cluster, and none is configured", whose)
	}
	if cluster, err = connect(ctx); err != nil {
		return cluster, "", err
	}
	uid, err = cluster.UID(ctx)
	if err == nil && uid == "" {
		err = errors.New("the namespace kube-system has no uid: what answers is no Kubernetes cluster")
	}
	return cluster, uid, err
}

// ReachOwn is Reach for something that belongs to a cluster: object is what it is called,
// and own that cluster's uid. The error is *ClusterError where the one at hand is another.
func ReachOwn[C Cluster](ctx context.Context, connect func(context.Context) (C, error), whose, object, own string) (none C, err error) {
	cluster, uid, err := Reach(ctx, connect, whose)
	if err == nil {
		err = SameCluster(object, own, uid)
	}
	if err != nil {
		return none, err
	}
	return cluster, nil
}

// SameCluster refuses, by *ClusterError, what belongs to another cluster than the one at
// hand.
func SameCluster(object, own, atHand string) error {
	if own != atHand {
		return &ClusterError{Object: object, Own: own, AtHand: atHand}
	}
	return nil
}

// ClusterError says that something belongs to another cluster than the one at hand.
type ClusterError struct {
	Object      string // "budget/team-a"
	Own, AtHand string // uids of the namespaces kube-system
	// Move is what else to do where it is to belong to the one at hand; empty where
	// nothing is.
	Move string
}

// Error says whose it is, and what to do.
func (e *ClusterError) Error() string {
	return fmt.Sprintf("%s belongs to the cluster whose namespace kube-system has the uid %s, and the kubeconfig in use reaches the one with %s: nothing "+
		"was touched. %s", e.Object, e.Own, e.AtHand, e.Advice())
}

// Advice is what to do.
func (e *ClusterError) Advice() string {
	return "Use the kubeconfig and the context of the first" + e.Move
}
