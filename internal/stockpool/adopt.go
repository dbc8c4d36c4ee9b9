package stockpool

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Declaration is the declaration that is closest to an existing Deployment. A plan shows the
// differences. Fields without an argument are left as they are.
func (o Observation) Declaration() (Declaration, error) {
	of := o.Deployment
	d := Declaration{
		Name: of.Name, Namespace: of.Namespace, ClusterUID: o.ClusterUID, DeploymentUID: string(of.UID), Replicas: o.Replicas(),
		SpecName: of.Spec.Template.Labels[labelSpec], Labels: map[string]string{}, PodSecurityLevel: Baseline,
	}
	spec := of.Spec.Template.Spec
	if len(spec.Containers) != 1 {
		return d, fmt.Errorf("the Deployment %s has %d containers, and a stock pool has one: it cannot be taken over", d.Key(), len(spec.Containers))
	}
	for key, value := range of.Spec.Template.Labels {
		if key != LabelPool && key != labelSpec {
			d.Labels[key] = value
		}
	}
	if len(d.Labels) == 0 {
		d.Labels = nil
	}
	main := spec.Containers[0]
	d.Image, d.Command, d.Args = main.Image, main.Command, main.Args
	if memory, there := main.Resources.Limits[corev1.ResourceMemory]; there {
		d.Memory = memory.String()
	}
	if cpu, there := main.Resources.Requests[corev1.ResourceCPU]; there {
		d.CPU = cpu.String()
	}
	if gpus, there := main.Resources.Limits[DefaultGPUResource]; there {
		d.GPU = int(gpus.Value())
	}
	for _, e := range main.Env {
		if e.ValueFrom == nil {
			if d.Env == nil {
				d.Env = map[string]string{}
			}
			d.Env[e.Name] = e.Value
		}
	}
	for _, p := range main.Ports {
		d.Ports = append(d.Ports, Port{Port: int(p.ContainerPort), Name: p.Name, Protocol: string(p.Protocol)})
	}
	for _, t := range spec.Tolerations {
		d.Tolerations = append(d.Tolerations, Toleration{Key: t.Key, Operator: string(t.Operator), Value: t.Value, Effect: string(t.Effect)})
	}
	for _, s := range spec.ImagePullSecrets {
		d.ImagePullSecrets = append(d.ImagePullSecrets, s.Name)
	}
	d.NodeSelector, d.ServiceAccountName = spec.NodeSelector, spec.ServiceAccountName
	if spec.RuntimeClassName != nil {
		d.RuntimeClassName = *spec.RuntimeClassName
	}
	if s := spec.SecurityContext; s != nil && s.RunAsNonRoot != nil && *s.RunAsNonRoot {
		d.PodSecurityLevel = Restricted
	}
	return d.WithDefaults(), nil
}

// Selects returns an error if the declared pods lack a label that the Deployment's immutable
// selector needs.
func (d Declaration) Selects(of *appsv1.Deployment) error {
	selector, err := metav1.LabelSelectorAsSelector(of.Spec.Selector)
	if err != nil || selector.Matches(labels.Set(d.PodLabels())) {
		return err
	}
	return fmt.Errorf("the Deployment %s selects its pods by %s, which is immutable, and the declared pods lack it: add it to labels", d.Key(),
		metav1.FormatLabelSelector(of.Spec.Selector))
}
