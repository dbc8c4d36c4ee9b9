package cluster

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestAPodIsOfTheDeploymentThatMadeIt, and of no other that bears its labels.
func TestAPodIsOfTheDeploymentThatMadeIt(t *testing.T) {
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
