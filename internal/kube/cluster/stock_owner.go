package cluster

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// claimedPod is a pod that says by its labels and its owner that it is of a stock pool,
// with the uid of the ReplicaSet that it names.
type claimedPod struct {
	stockpool.Pod
	replicaSet types.UID
}

// stockOf names the stock pool that a pod is of: the one that it is labelled with, where
// the Deployment of exactly that name made it. Another Deployment's pods may bear the same
// labels, and its name may begin with the pool's.
func stockOf(p *corev1.Pod) string {
	name, hash := p.Labels[stockpool.LabelPool], p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	by := metav1.GetControllerOf(p)
	if name == "" || hash == "" || !isApps(by, "ReplicaSet") || by.Name != name+"-"+hash {
		return ""
	}
	return name
}

func isApps(by *metav1.OwnerReference, kind string) bool {
	if by == nil || by.Kind != kind {
		return false
	}
	group, err := schema.ParseGroupVersion(by.APIVersion)
	return err == nil && group.Group == appsv1.GroupName
}

// claimOf is a pod of a stock pool, with that pool's name; empty if it is of none.
func claimOf(p *corev1.Pod) (claimedPod, string) {
	name := stockOf(p)
	if name == "" {
		return claimedPod{}, ""
	}
	return claimedPod{Pod: stockPod(p), replicaSet: metav1.GetControllerOf(p).UID}, name
}

// doubtful says whether there are more pods than the Deployment counts as its own, which
// its status says. Anybody who may create ReplicaSets can have pods with the names and
// labels of a pool's.
func doubtful(of *appsv1.Deployment, pods []claimedPod) bool {
	n := 0
	for _, p := range pods {
		if !p.Ended() {
			n++
		}
	}
	return n > 0 && (of == nil || n > int(of.Status.Replicas))
}

// replicaSet is what says whose the pods of a ReplicaSet are.
type replicaSet struct {
	labels labels.Set
	owner  *metav1.OwnerReference // its controller
}

// replicaSets are those with a label of stock pools.
func (c *stockClient) replicaSets(ctx context.Context, namespace, selector string) (map[types.UID]replicaSet, error) {
	sets := map[types.UID]replicaSet{}
	_, err := kubeclient.List(ctx, kubeclient.Collection{
		Client: c.kube.AppsV1().RESTClient(), Resource: "replicasets", Namespace: namespace, Labels: selector, PageSize: 1000,
	}, func(object []byte) (none struct{}, take bool, err error) {
		var rs appsv1.ReplicaSet
		err = rs.Unmarshal(object)
		sets[rs.UID] = replicaSet{labels: rs.Labels, owner: metav1.GetControllerOf(&rs)}
		return none, false, err
	})
	return sets, err
}

// isOf says whether a ReplicaSet is a pool's: its Deployment controls it, or would adopt
// it. Where no Deployment is known, what one of the pool's name left is the pool's.
func (rs replicaSet) isOf(name string, of *appsv1.Deployment) bool {
	switch {
	case rs.owner != nil && of != nil:
		return isApps(rs.owner, "Deployment") && rs.owner.UID == of.UID
	case rs.owner != nil:
		return isApps(rs.owner, "Deployment") && rs.owner.Name == name
	case of == nil:
		return rs.labels[stockpool.LabelPool] == name
	}
	selector, err := metav1.LabelSelectorAsSelector(of.Spec.Selector)
	return err == nil && selector.Matches(rs.labels)
}

// ownPods are a pool's pods. Of doubtful ones, those count whose ReplicaSet is the pool's.
func ownPods(name string, of *appsv1.Deployment, pods []claimedPod, sets map[types.UID]replicaSet) []stockpool.Pod {
	var own []stockpool.Pod
	check := doubtful(of, pods)
	for _, p := range pods {
		if rs, there := sets[p.replicaSet]; !check || there && rs.isOf(name, of) {
			own = append(own, p.Pod)
		}
	}
	return own
}
