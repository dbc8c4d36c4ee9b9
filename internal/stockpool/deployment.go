package stockpool

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Container is the container's name in a Deployment that the pool created.
const Container = "runtime"

// InitialDeployment returns the Deployment as it is created: the whole declaration, with as many
// replicas as there are pods to adopt. The token identifies the creation.
func (d Declaration) InitialDeployment(token string, replicas int) *appsv1.Deployment {
	bare := d.Deployment(Container, replicas)
	bare.Annotations = map[string]string{AnnotationOpened: token}
	bare.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{LabelPool: d.Name}}
	return bare
}

// Desired returns what is applied to the pool's own Deployment. It has the UID, so that it
// applies to no other one, and the immutable selector.
func (d Declaration) Desired(of *appsv1.Deployment, container string, replicas int) *appsv1.Deployment {
	desired := d.Deployment(container, replicas)
	desired.UID, desired.Spec.Selector = of.UID, of.Spec.Selector.DeepCopy()
	return desired
}

// Deployment returns the declared Deployment with so many replicas. It has no selector, and no
// field without an argument.
func (d Declaration) Deployment(container string, replicas int) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name,
			Labels: map[string]string{LabelPool: d.Name, labelSpec: d.SpecName, labelManagedBy: managedBy},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(replicas)), //nolint:gosec // at most maxReplicas
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: d.PodLabels()},
				Spec:       d.podSpec(cmp.Or(container, Container)),
			},
		},
	}
}

func (d Declaration) podSpec(container string) corev1.PodSpec {
	spec := corev1.PodSpec{
		NodeSelector: maps.Clone(d.NodeSelector), ServiceAccountName: d.ServiceAccountName,
		// Pods get a token only if a service account is declared.
		AutomountServiceAccountToken: new(d.ServiceAccountName != ""),
		Containers: []corev1.Container{{
			Name: container, Image: d.Image, Command: slices.Clone(d.Command), Args: slices.Clone(d.Args), Resources: d.resources(),
		}},
	}
	if d.RuntimeClassName != "" {
		spec.RuntimeClassName = &d.RuntimeClassName
	}
	main := &spec.Containers[0]
	env := d.variables()
	for _, name := range slices.Sorted(maps.Keys(env)) {
		main.Env = append(main.Env, corev1.EnvVar{Name: name, Value: env[name]})
	}
	for _, p := range d.Ports {
		main.Ports = append(main.Ports, corev1.ContainerPort{
			ContainerPort: int32(p.Port), Name: p.Name, Protocol: corev1.Protocol(p.Protocol),
		}) //nolint:gosec // at most 65535
	}
	for _, t := range d.Tolerations {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
		})
	}
	for _, name := range d.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	if d.PodSecurityLevel == Restricted {
		spec.SecurityContext = &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
		main.SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
	}
	return spec
}

func (d Declaration) resources() corev1.ResourceRequirements {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	if memory, err := resource.ParseQuantity(d.Memory); err == nil {
		requests[corev1.ResourceMemory], limits[corev1.ResourceMemory] = memory, memory
	}
	if cpu, err := resource.ParseQuantity(d.CPU); err == nil {
		requests[corev1.ResourceCPU] = cpu
	}
	if d.GPU > 0 {
		gpus := *resource.NewQuantity(int64(d.GPU), resource.DecimalSI)
		name := corev1.ResourceName(d.WithDefaults().GPUResource)
		requests[name], limits[name] = gpus, gpus
	}
	return corev1.ResourceRequirements{Requests: requests, Limits: limits}
}

// Guard returns the PodDisruptionBudget of the pool's Deployment, which owns it; nil if none is
// declared.
func (d Declaration) Guard(of *appsv1.Deployment) *policyv1.PodDisruptionBudget {
	if d.PodDisruptionBudget == nil || of == nil {
		return nil
	}
	return &policyv1.PodDisruptionBudget{
		TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name,
			Labels:          map[string]string{LabelPool: d.Name, labelManagedBy: managedBy},
			OwnerReferences: []metav1.OwnerReference{ownerReference(of)},
		},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt32(int32(d.PodDisruptionBudget.MinAvailable))), //nolint:gosec // at most maxReplicas
			Selector:     of.Spec.Selector.DeepCopy(),
		},
	}
}

func ownerReference(of *appsv1.Deployment) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: of.Name, UID: of.UID}
}
