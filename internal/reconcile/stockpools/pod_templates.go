package stockpools

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

type podTemplate struct {
	declared bool
	set      *ledger.LabelSet // for selectors
	pod      *corev1.Pod
	asks     bool // whether it requests GPUs, by the pool's resource
}

// templates are what a pool's pods are made from: its declaration, and its own Deployment,
// which others may have changed.
func (p *pass) templates() []podTemplate {
	d := p.declaration.WithDefaults()
	pods := []podTemplate{templateOf(d, d.Deployment("", 0).Spec.Template, p.observation.NamespaceLabels)}
	pods[0].declared = true
	if p.situation().Mine() {
		pods = append(pods, templateOf(d, p.observation.Deployment.Spec.Template, p.observation.NamespaceLabels))
	}
	return pods
}

func templateOf(d stockpool.Declaration, of corev1.PodTemplateSpec, namespaceLabels map[string]string) podTemplate {
	pod := &corev1.Pod{ObjectMeta: of.ObjectMeta, Spec: of.Spec}
	asks := func(c corev1.Container) bool {
		name := corev1.ResourceName(d.GPUResource)
		requested, limit := c.Resources.Requests[name], c.Resources.Limits[name]
		return requested.Sign() > 0 || limit.Sign() > 0
	}
	return podTemplate{
		set: labelSet(d, of.Labels, namespaceLabels), pod: pod,
		asks: slices.ContainsFunc(of.Spec.Containers, asks) || slices.ContainsFunc(of.Spec.InitContainers, asks),
	}
}

func labelSet(d stockpool.Declaration, labels, namespaceLabels map[string]string) *ledger.LabelSet {
	return &ledger.LabelSet{Namespace: d.Namespace, Labels: ledger.LabelsOf(labels), NamespaceLabels: ledger.LabelsOf(namespaceLabels)}
}

// counted returns the templates that the budget counts, or may count. With unreadable weights
// it may count the pool's GPU resource.
func (l limit) counted(pods []podTemplate) []podTemplate {
	var counted []podTemplate
	for _, p := range pods {
		if (l.takes == nil || l.takes.Matches(p.set)) && (l.counts.MayHold(p.pod) || l.Err != nil && p.asks) {
			counted = append(counted, p)
		}
	}
	return counted
}

// certainlyUsesGPUs reports whether the template shows that its pods hold GPUs; resource claims do
// not show it.
func (l limit) certainlyUsesGPUs(p podTemplate) bool {
	return len(l.counts.Observe(p.pod, gpu.World{}).Shares) > 0
}
