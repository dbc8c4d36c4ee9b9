package cluster

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestStockPodsBelongToTheirDeployment ignores other Deployments that have the same labels.
func TestStockPodsBelongToTheirDeployment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"the pool's":                       {func(*corev1.Pod) {}, "pool-g1"},
		"of a name that begins with it":    {func(p *corev1.Pod) { p.OwnerReferences[0].Name = "pool-g1-copied-5d8f7c9b6" }, ""},
		"of another hash":                  {func(p *corev1.Pod) { p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = "7d8f7c9b6" }, ""},
		"without a hash":                   {func(p *corev1.Pod) { delete(p.Labels, appsv1.DefaultDeploymentUniqueLabelKey) }, ""},
		"of a ReplicaSet of another group": {func(p *corev1.Pod) { p.OwnerReferences[0].APIVersion = "example.com/v1" }, ""},
		"of another kind":                  {func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "Rollout" }, ""},
		"owned and not controlled":         {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, ""},
		"without the label":                {func(p *corev1.Pod) { delete(p.Labels, stockpool.LabelPool) }, ""},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels:          map[string]string{stockpool.LabelPool: "pool-g1", appsv1.DefaultDeploymentUniqueLabelKey: "5d8f7c9b6"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "pool-g1-5d8f7c9b6", Controller: new(true)}},
		}}
		if c.change(p); stockOf(p) != c.want {
			t.Errorf("%s: it is of %q, want %q", name, stockOf(p), c.want)
		}
	}
}

// TestAStockPodIsReadWithItsProtection: an annotation, and the priority that admission gave.
func TestAStockPodIsReadWithItsProtection(t *testing.T) {
	t.Parallel()
	p := stockPod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"gpupool/protected": "true", "another": "1"}},
		Spec:       corev1.PodSpec{PriorityClassName: "high", Priority: new(int32(1000))},
	})
	if len(p.Annotations) != 1 || p.Annotations["gpupool/protected"] != "true" || p.PriorityClassName != "high" || p.Priority != 1000 {
		t.Errorf("it is read as %+v", p)
	}
	protected := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{"gpupool/protected": "true"}, Labels: map[string]string{"a": "b"},
	}}
	if labels := namespaceLabels(protected); labels["gpupool/protected"] != "true" || labels["a"] != "b" {
		t.Errorf("a namespace that is protected by an annotation has the labels %v", labels)
	}
}

// TestAWaitingPodNamesImageAndMessage, in words that pods of the same template share.
func TestAWaitingPodNamesImageAndMessage(t *testing.T) {
	t.Parallel()
	for want, waits := range map[string]corev1.ContainerStateWaiting{
		`ImagePullBackOff: Back-off pulling image "cuda:13"`: {Reason: "ImagePullBackOff", Message: `Back-off pulling image "cuda:13"`},
		"ErrImagePull (image cuda:13)":                       {Reason: "ErrImagePull"},
		"CrashLoopBackOff: back-off 5m0s (image cuda:13)": {
			Reason: "CrashLoopBackOff", Message: "back-off 5m0s restarting failed container=main pod=g1-abc_ml(0f-1)"},
	} {
		p := stockPod(&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{Image: "cuda:13", State: corev1.ContainerState{Waiting: &waits}},
		}}})
		if p.Waiting != want {
			t.Errorf("it waits for %q, want %q", p.Waiting, want)
		}
	}
}

// TestPodsOfAForeignReplicaSetAreNotThePools: a ReplicaSet of a tenant may have any name and
// labels, and none of a pool's uid. One that the Deployment would adopt is its own.
func TestPodsOfAForeignReplicaSetAreNotThePools(t *testing.T) {
	t.Parallel()
	of := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "pool-g1", UID: "own"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{stockpool.LabelPool: "pool-g1"}},
	}}
	by := func(uid types.UID) *metav1.OwnerReference {
		return &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "pool-g1", UID: uid}
	}
	labeled := labels.Set{stockpool.LabelPool: "pool-g1"}
	for name, c := range map[string]struct {
		of   *appsv1.Deployment
		set  *replicaSet
		want int
	}{
		"its own":                           {of, &replicaSet{owner: by("own")}, 2},
		"another Deployment's":              {of, &replicaSet{owner: by("another"), labels: labeled}, 0},
		"unowned":                           {of, &replicaSet{}, 0},
		"unowned, to be adopted":            {of, &replicaSet{labels: labeled}, 2},
		"none that is labeled":              {of, nil, 0},
		"left by a deleted Deployment":      {nil, &replicaSet{labels: labeled}, 2},
		"its own, without its label":        {nil, &replicaSet{owner: by("own")}, 2},
		"unowned, and no Deployment exists": {nil, &replicaSet{}, 0},
	} {
		sets := map[types.UID]replicaSet{}
		if c.set != nil {
			sets["set"] = *c.set
		}
		pods := []claimedPod{{replicaSet: "set"}, {replicaSet: "set"}}
		if got := ownPods("pool-g1", c.of, pods, sets); len(got) != c.want {
			t.Errorf("%s: %d pods are the pool's, want %d", name, len(got), c.want)
		}
	}
	of.Status.Replicas = 2
	if got := ownPods("pool-g1", of, []claimedPod{{}, {}}, nil); len(got) != 2 {
		t.Errorf("of as many as its Deployment counts, %d are the pool's", len(got))
	}
}

// TestStockPodsNeedTheGPUsAndTheImage has a tenant create a pod with the labels, the hash and the owner of a
// pool's, another image and no GPUs. Pods from before a rollout, and pods whose image admission rewrote, are
// the pool's.
func TestStockPodsNeedTheGPUsAndTheImage(t *testing.T) {
	t.Parallel()
	runtime := func(image, gpus string) []corev1.Container {
		limits := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(gpus)}
		return []corev1.Container{{Name: "runtime", Image: image, Resources: corev1.ResourceRequirements{Limits: limits}}}
	}
	const image = "registry.example.com/team/runtime:1"
	of := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "pool-g1", UID: "own"}}
	of.Spec.Template.Spec.Containers = runtime(image, "2")
	of.Status.Replicas = 1
	by := &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "pool-g1", UID: "own"}
	sets := map[types.UID]replicaSet{
		"now": {owner: by, makes: runtime(image, "2")}, "before": {owner: by, makes: runtime("registry.example.com/team/runtime:0", "1")},
	}
	for name, c := range map[string]struct {
		containers []corev1.Container
		set        types.UID
		unlike     string
	}{
		"as it is made":     {runtime(image, "2"), "now", ""},
		"with a sidecar":    {append([]corev1.Container{{Name: "sidecar"}}, runtime(image, "2")...), "now", ""},
		"without GPUs":      {[]corev1.Container{{Name: "runtime", Image: image}}, "now", "its container runtime asks for 0 nvidia.com/gpu, not 2"},
		"fewer GPUs":        {runtime(image, "1"), "now", "its container runtime asks for 1 nvidia.com/gpu, not 2"},
		"another image":     {runtime("pause:3", "2"), "now", "its container runtime has the image pause:3, not " + image},
		"another container": {[]corev1.Container{{Name: "main"}}, "now", "it has no container runtime"},
		"before a rollout":  {runtime("registry.example.com/team/runtime:0", "1"), "before", ""},
		"from a mirror":     {runtime("mirror.example.com/team/runtime:1@sha256:ab", "2"), "now", ""},
	} {
		pods := []claimedPod{{replicaSet: c.set, containers: c.containers}}
		if asked := asksForSets(of, pods); asked != (c.unlike != "" || c.set == "before") {
			t.Errorf("%s: its ReplicaSet is asked for: %t", name, asked)
		}
		if own := ownPods("pool-g1", of, pods, sets); len(own) != 1 || own[0].Mismatch != c.unlike {
			t.Errorf("%s: %+v", name, own)
		}
	}
}
