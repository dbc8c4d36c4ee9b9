package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// claimedPod is a pod that names a stock pool by its labels and its owner, with the UID of its ReplicaSet.
type claimedPod struct {
	stockpool.Pod
	replicaSet types.UID
	containers []corev1.Container
}

// stockOf names the stock pool of a pod: the one in its label, if the Deployment of exactly that name created
// it. Pods of another Deployment may have the same labels, and its name may begin with the pool's.
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
	return claimedPod{Pod: stockPod(p), replicaSet: metav1.GetControllerOf(p).UID, containers: p.Spec.Containers}, name
}

// doubtful reports whether there are more pods than the Deployment counts as its own, which
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

// asksForSets reports whether only their ReplicaSets identify the pods. There are too many, or some differ
// from the Deployment's template, as those from before a rollout do.
func asksForSets(of *appsv1.Deployment, pods []claimedPod) bool {
	return doubtful(of, pods) || of != nil && slices.ContainsFunc(pods, func(p claimedPod) bool {
		return !p.Ended() && difference(p.containers, of.Spec.Template.Spec.Containers) != ""
	})
}

// difference returns how the containers of a pod differ from those of a template, in their images or
// extended resources, or "". Additions by admission do not count.
func difference(pod, template []corev1.Container) string {
	for _, want := range template {
		n := slices.IndexFunc(pod, func(c corev1.Container) bool { return c.Name == want.Name })
		if n < 0 {
			return "it has no container " + want.Name
		}
		for _, name := range slices.Sorted(maps.Keys(want.Resources.Limits)) {
			has, asked := pod[n].Resources.Limits[name], want.Resources.Limits[name]
			if strings.Contains(string(name), "/") && has.Cmp(asked) != 0 {
				return fmt.Sprintf("its container %s asks for %s %s, not %s", want.Name, has.String(), name, asked.String())
			}
		}
		if !sameImage(pod[n].Image, want.Image) {
			return fmt.Sprintf("its container %s has the image %s, not %s", want.Name, pod[n].Image, want.Image)
		}
	}
	return ""
}

// sameImage reports whether an image is the wanted one, or what admission makes of that: from a
// mirror, or pinned by its digest.
func sameImage(has, want string) bool {
	if !strings.Contains(want, "@") {
		has, _, _ = strings.Cut(has, "@")
	}
	registry, path, found := strings.Cut(want, "/")
	if !found || !strings.ContainsAny(registry, ".:") && registry != "localhost" { // of the default registry
		path = want
	}
	return has == want || strings.HasSuffix(has, "/"+path)
}

// replicaSet has the fields of a ReplicaSet that identify the owner of its pods.
type replicaSet struct {
	labels labels.Set
	owner  *metav1.OwnerReference // its controller
	makes  []corev1.Container     // of its template
}

// replicaSets lists the ReplicaSets with a label of stock pools.
func (c *stockClient) replicaSets(ctx context.Context, namespace, selector string) (map[types.UID]replicaSet, error) {
	sets := map[types.UID]replicaSet{}
	_, err := kubeclient.List(ctx, kubeclient.Collection{
		Client: c.kube.AppsV1().RESTClient(), Resource: "replicasets", Namespace: namespace, Labels: selector, PageSize: 1000,
	}, func(object []byte) (none struct{}, take bool, err error) {
		var rs appsv1.ReplicaSet
		err = rs.Unmarshal(object)
		sets[rs.UID] = replicaSet{labels: rs.Labels, owner: metav1.GetControllerOf(&rs), makes: rs.Spec.Template.Spec.Containers}
		return none, false, err
	})
	return sets, err
}

// belongsTo reports whether a ReplicaSet is a pool's: its Deployment controls it, or would adopt it. If no
// Deployment is known, a ReplicaSet with the pool's name is the pool's.
func (rs replicaSet) belongsTo(name string, of *appsv1.Deployment) bool {
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

// ownPods are a pool's pods. Of doubtful ones, those count whose ReplicaSet is the pool's. Each is compared
// with the Deployment's template, or with the pool's ReplicaSet that it names.
func ownPods(name string, of *appsv1.Deployment, pods []claimedPod, sets map[types.UID]replicaSet) []stockpool.Pod {
	var own []stockpool.Pod
	check := doubtful(of, pods)
	for _, p := range pods {
		if rs, there := sets[p.replicaSet]; !check || there && rs.belongsTo(name, of) {
			if of != nil {
				p.Mismatch = difference(p.containers, of.Spec.Template.Spec.Containers)
			}
			if p.Mismatch != "" && there && rs.belongsTo(name, of) && difference(p.containers, rs.makes) == "" {
				p.Mismatch = ""
			}
			own = append(own, p.Pod)
		}
	}
	return own
}
