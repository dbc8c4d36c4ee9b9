package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// observation is one list of pods: those that count, and what else is known of them.
type observation struct {
	cluster *podReader
	table   *gpu.Table
	nodes   *nodes
	at      time.Time
	filter  interest

	replayed *podReplay // nil where there was none
	claims   func() (map[types.NamespacedName]*resourcev1.ResourceClaim, error)
	reserved func() (map[reservation]bool, error)
	warnings []string
}

// reservation is a GPU that is held for a group of fractions.
type reservation struct{ node, group string }

func (c *podReader) newObservation(ctx context.Context, table *gpu.Table, n *nodes, at time.Time) *observation {
	l := &observation{cluster: c, table: table, nodes: n, at: at, filter: interestOf(table)}
	l.claims = sync.OnceValues(func() (map[types.NamespacedName]*resourcev1.ResourceClaim, error) { return c.readClaims(ctx) })
	l.reserved = sync.OnceValues(func() (map[reservation]bool, error) { return l.readReservations(ctx) })
	return l
}

// readReservations lists the pods that hold GPUs for fractions, and adds those of the replay: they end with
// the last pod of their group.
func (l *observation) readReservations(ctx context.Context) (map[reservation]bool, error) {
	found := map[reservation]bool{}
	add := func(pod *corev1.Pod) {
		if node, group, ok := gpu.ReservationOf(pod); ok {
			found[reservation{node, group}] = true
		}
	}
	for _, namespace := range gpu.ReservationNamespaces() {
		_, err := kubeclient.List(ctx, kubeclient.Collection{Client: l.cluster.kube.CoreV1().RESTClient(), Resource: "pods", Namespace: namespace},
			func(object []byte) (none struct{}, take bool, err error) {
				pod := new(corev1.Pod)
				if err := pod.Unmarshal(object); err != nil {
					return none, false, err
				}
				add(pod)
				return none, false, nil
			})
		if err != nil {
			return nil, err
		}
	}
	if l.replayed != nil {
		for _, pod := range l.replayed.pods {
			add(pod)
		}
	}
	return found, nil
}

// listPods lists the pods that hold GPUs, or are to.
func (l *observation) listPods(ctx context.Context, where kubeclient.Collection) ([]gpu.Pod, error) {
	where.Client, where.Resource = l.cluster.kube.CoreV1().RESTClient(), "pods"
	where.PageSize = l.cluster.pageSize
	return kubeclient.List(ctx, where, func(object []byte) (gpu.Pod, bool, error) {
		may, err := l.filter.mayHoldGPUs(object)
		if err != nil || !may {
			return gpu.Pod{}, false, err
		}
		pod := new(corev1.Pod)
		if err := pod.Unmarshal(object); err != nil {
			return gpu.Pod{}, false, err
		}
		return l.pod(pod)
	})
}

// byClaim reports whether a pod has devices by claim. After it ended and the claim is gone, its devices are
// unknown, but not its end.
func byClaim(pod *corev1.Pod) bool {
	return len(pod.Spec.ResourceClaims) > 0 || pod.Status.ExtendedResourceClaimStatus != nil
}

// pod returns what a pod holds; false for one without GPUs, unless it claims to have
// some, which is then one of its problems.
func (l *observation) pod(pod *corev1.Pod) (gpu.Pod, bool, error) {
	if !l.table.MayHold(pod) {
		return gpu.Pod{}, false, nil
	}
	world := gpu.World{Now: l.at, Read: l.cluster.Now(), Nodes: l.nodes.find, Inventory: l.nodes.inventory}
	if byClaim(pod) {
		claims, err := l.claims()
		switch {
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
			if warning := err.Error() + "; devices that pods hold by claim are not counted"; !slices.Contains(l.warnings, warning) {
				l.warnings = append(l.warnings, warning)
			}
		case err != nil:
			return gpu.Pod{}, false, err
		default:
			world.Claims = func(namespace, name string) *resourcev1.ResourceClaim {
				key := types.NamespacedName{Namespace: namespace, Name: name}
				if c := claims[key]; c != nil && c.Status.Allocation != nil {
					return c
				}
				if l.replayed == nil {
					return nil
				}
				return l.replayed.claims[key]
			}
		}
	}
	if gpu.ByFraction(pod) {
		reserved, err := l.reserved()
		if err != nil {
			return gpu.Pod{}, false, err
		}
		world.Reserved = func(node, group string) bool { return reserved[reservation{node, group}] }
	}
	seen := l.table.Observe(pod, world)
	return seen, len(seen.Shares) > 0 || byClaim(pod) || seen.Capped || seen.Incomplete, nil
}

// readClaims lists the resource claims.
func (c *podReader) readClaims(ctx context.Context) (map[types.NamespacedName]*resourcev1.ResourceClaim, error) {
	found, err := kubeclient.List(ctx, kubeclient.Collection{Client: c.kube.ResourceV1().RESTClient(), Resource: "resourceclaims"},
		func(object []byte) (*resourcev1.ResourceClaim, bool, error) {
			claim := new(resourcev1.ResourceClaim)
			err := claim.Unmarshal(object)
			claim.ManagedFields = nil
			return claim, true, err
		})
	out := make(map[types.NamespacedName]*resourcev1.ResourceClaim, len(found))
	for _, claim := range found {
		out[types.NamespacedName{Namespace: claim.Namespace, Name: claim.Name}] = claim
	}
	return out, err
}

// fewNamespaces is the largest number of namespaces that are listed one by one. For more, one list
// reads the whole cluster.
const fewNamespaces = 10

// LivePods lists the pods with GPUs of some namespaces, or of all if none is named, without a cache. It does
// not select by label: the ledger counts a pod by the labels of its first observation, and they may have been
// edited since.
func (c *podReader) LivePods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Pod, error) {
	return c.live(ctx, namespaces, rules, kubeclient.Collection{})
}

// WaitingPods returns the LivePods that no kubelet has accepted.
func (c *podReader) WaitingPods(ctx context.Context, namespaces []string, rules gpu.Rules) ([]gpu.Pod, error) {
	pods, err := c.live(ctx, namespaces, rules, kubeclient.Collection{Fields: "status.phase=Pending"})
	return slices.DeleteFunc(pods, func(p gpu.Pod) bool { return !p.Waits() }), err
}

func (c *podReader) live(ctx context.Context, namespaces []string, rules gpu.Rules, where kubeclient.Collection) ([]gpu.Pod, error) {
	table, err := rules.Table()
	if err != nil {
		return nil, err
	}
	n, err := c.lastNodes(ctx, table)
	if err != nil {
		return nil, err
	}
	at := c.Now().Truncate(time.Second)
	if len(namespaces) == 0 || len(namespaces) > fewNamespaces {
		namespaces = []string{""}
	}
	var out []gpu.Pod
	observation := c.newObservation(ctx, table, n, at) // which asks for claims and reservations once
	for _, namespace := range namespaces {
		where.Namespace = namespace
		found, err := observation.listPods(ctx, where)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(p gpu.Pod) bool { return !p.End.Open() }), nil
}
