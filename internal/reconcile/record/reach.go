package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Cluster has the calls of a Kubernetes cluster that every kind needs.
type Cluster interface {
	// UID is that of the namespace kube-system: a cluster's identity.
	UID(ctx context.Context) (string, error)
	// Now is the API server's clock, by its last answer; zero before the first.
	Now() time.Time
	// Calls counts the API calls made so far, by verb and resource.
	Calls() map[string]int
}

// Reach returns the cluster, with the UID by which declarations belong to it. whose are the
// objects that need it, such as "budgets", for errors; connect is nil if no cluster is
// configured.
func Reach[C Cluster](ctx context.Context, connect func(context.Context) (C, error), whose string) (cluster C, uid string, err error) {
	if connect == nil {
		return cluster, "", fmt.Errorf("%s need a Kubernetes cluster, and none is configured", whose)
	}
	if cluster, err = connect(ctx); err != nil {
		return cluster, "", err
	}
	uid, err = cluster.UID(ctx)
	if err == nil && uid == "" {
		err = errors.New("the namespace kube-system has no uid: the address is not that of a Kubernetes API server")
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

// ClusterError reports that something belongs to another cluster than the one in use.
type ClusterError struct {
	Object      string // "budget/team-a"
	Own, AtHand string // uids of the namespaces kube-system
	// Moves says that an apply without nodes moves the pool to the cluster at hand.
	Moves bool
}

// Because names both clusters.
func (e *ClusterError) Because() reason.Reason {
	of := reason.OtherCluster
	if e.Moves {
		of = reason.OtherClusterOfNodes
	}
	return of(reason.Object(e.Object), reason.Word(e.Own), reason.Word(e.AtHand))
}

// Error is Because as text.
func (e *ClusterError) Error() string { return e.Because().String() }
