package client

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/gentype"
)

type (
	// AdmissionregistrationV1 has the admission policies.
	AdmissionregistrationV1 struct{ group }
	// AppsV1 has the workloads that go on and on.
	AppsV1 struct{ group }
	// AuthenticationV1 tells who asks.
	AuthenticationV1 struct{ group }
	// AuthorizationV1 reviews what users may do.
	AuthorizationV1 struct{ group }
	// AutoscalingV2 has what scales workloads.
	AutoscalingV2 struct{ group }
	// BatchV1 has the workloads that complete.
	BatchV1 struct{ group }
	// CoordinationV1 has the Leases.
	CoordinationV1 struct{ group }
	// CoreV1 has nodes, pods, namespaces, and what is stored.
	CoreV1 struct{ group }
	// PolicyV1 has the disruption budgets.
	PolicyV1 struct{ group }
	// ResourceV1 has the claims and slices of devices.
	ResourceV1 struct{ group }
	// SchedulingV1 has the priority classes.
	SchedulingV1 struct{ group }
)

// object is a pointer to O that is an object of the API, and list one to L that is a list.
type (
	object[O any] interface {
		*O
		runtime.Object
		metav1.Object
	}
	list[L any] interface {
		*L
		runtime.Object
	}
)

// resource is the client of one resource, in a namespace or, where that is empty, in all.
func resource[O, L any, P object[O], Q list[L]](of group, name, namespace string) *gentype.ClientWithList[P, Q] {
	return gentype.NewClientWithList[P, Q](name, of.rest, ParameterCodec, namespace, func() P { return new(O) }, func() Q { return new(L) })
}

type (
	// Secrets is the client of Secrets.
	Secrets = gentype.ClientWithList[*corev1.Secret, *corev1.SecretList]
	// ConfigMaps is the client of ConfigMaps.
	ConfigMaps = gentype.ClientWithList[*corev1.ConfigMap, *corev1.ConfigMapList]
	// Leases is the client of Leases.
	Leases = gentype.ClientWithList[*coordinationv1.Lease, *coordinationv1.LeaseList]
)

// ValidatingAdmissionPolicies are all of the cluster.
func (g AdmissionregistrationV1) ValidatingAdmissionPolicies() *gentype.ClientWithList[*admissionregistrationv1.ValidatingAdmissionPolicy,
	*admissionregistrationv1.ValidatingAdmissionPolicyList] {
	return resource[admissionregistrationv1.ValidatingAdmissionPolicy, admissionregistrationv1.ValidatingAdmissionPolicyList](g.group,
		"validatingadmissionpolicies", "")
}

// ValidatingAdmissionPolicyBindings are all of the cluster.
func (g AdmissionregistrationV1) ValidatingAdmissionPolicyBindings() *gentype.ClientWithList[*admissionregistrationv1.ValidatingAdmissionPolicyBinding,
	*admissionregistrationv1.ValidatingAdmissionPolicyBindingList] {
	return resource[admissionregistrationv1.ValidatingAdmissionPolicyBinding, admissionregistrationv1.ValidatingAdmissionPolicyBindingList](g.group,
		"validatingadmissionpolicybindings", "")
}

// Deployments returns the client for a namespace.
func (g AppsV1) Deployments(namespace string) Scaled[*appsv1.Deployment, *appsv1.DeploymentList] {
	return Scaled[*appsv1.Deployment, *appsv1.DeploymentList]{
		resource[appsv1.Deployment, appsv1.DeploymentList](g.group, "deployments", namespace), "deployments",
	}
}

// ReplicaSets returns the client for a namespace.
func (g AppsV1) ReplicaSets(namespace string) *gentype.ClientWithList[*appsv1.ReplicaSet, *appsv1.ReplicaSetList] {
	return resource[appsv1.ReplicaSet, appsv1.ReplicaSetList](g.group, "replicasets", namespace)
}

// StatefulSets returns the client for a namespace.
func (g AppsV1) StatefulSets(namespace string) Scaled[*appsv1.StatefulSet, *appsv1.StatefulSetList] {
	return Scaled[*appsv1.StatefulSet, *appsv1.StatefulSetList]{
		resource[appsv1.StatefulSet, appsv1.StatefulSetList](g.group, "statefulsets", namespace), "statefulsets",
	}
}

// Scaled is the client of a resource that has a number of replicas.
type Scaled[O interface {
	runtime.Object
	metav1.Object
}, L runtime.Object] struct {
	*gentype.ClientWithList[O, L]

	resource string
}

// UpdateScale sets the number of replicas of the one by this name.
func (c Scaled[O, L]) UpdateScale(ctx context.Context, name string, scale *autoscalingv1.Scale, o metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	answer := &autoscalingv1.Scale{}
	err := c.GetClient().Put().Namespace(c.GetNamespace()).Resource(c.resource).Name(name).SubResource("scale").
		VersionedParams(&o, ParameterCodec).Body(scale).Do(ctx).Into(answer)
	return answer, err
}

// TokenReviews review the users of tokens.
func (g AuthenticationV1) TokenReviews() *gentype.Client[*authenticationv1.TokenReview] {
	return gentype.NewClient[*authenticationv1.TokenReview]("tokenreviews", g.rest, ParameterCodec, "",
		func() *authenticationv1.TokenReview { return &authenticationv1.TokenReview{} })
}

// SubjectAccessReviews review what users may do.
func (g AuthorizationV1) SubjectAccessReviews() *gentype.Client[*authorizationv1.SubjectAccessReview] {
	return gentype.NewClient[*authorizationv1.SubjectAccessReview]("subjectaccessreviews", g.rest, ParameterCodec, "",
		func() *authorizationv1.SubjectAccessReview { return &authorizationv1.SubjectAccessReview{} })
}

// SelfSubjectReviews tell who asks.
func (g AuthenticationV1) SelfSubjectReviews() *gentype.Client[*authenticationv1.SelfSubjectReview] {
	return gentype.NewClient("selfsubjectreviews", g.rest, ParameterCodec, "",
		func() *authenticationv1.SelfSubjectReview { return &authenticationv1.SelfSubjectReview{} })
}

// HorizontalPodAutoscalers returns the client for a namespace.
func (g AutoscalingV2) HorizontalPodAutoscalers(namespace string) *gentype.ClientWithList[*autoscalingv2.HorizontalPodAutoscaler,
	*autoscalingv2.HorizontalPodAutoscalerList] {
	return resource[autoscalingv2.HorizontalPodAutoscaler, autoscalingv2.HorizontalPodAutoscalerList](g.group, "horizontalpodautoscalers", namespace)
}

// Jobs returns the client for a namespace.
func (g BatchV1) Jobs(namespace string) *gentype.ClientWithList[*batchv1.Job, *batchv1.JobList] {
	return resource[batchv1.Job, batchv1.JobList](g.group, "jobs", namespace)
}

// CronJobs returns the client for a namespace.
func (g BatchV1) CronJobs(namespace string) *gentype.ClientWithList[*batchv1.CronJob, *batchv1.CronJobList] {
	return resource[batchv1.CronJob, batchv1.CronJobList](g.group, "cronjobs", namespace)
}

// Leases returns the client for a namespace.
func (g CoordinationV1) Leases(namespace string) *Leases {
	return resource[coordinationv1.Lease, coordinationv1.LeaseList](g.group, "leases", namespace)
}

// ConfigMaps returns the client for a namespace.
func (g CoreV1) ConfigMaps(namespace string) *ConfigMaps {
	return resource[corev1.ConfigMap, corev1.ConfigMapList](g.group, "configmaps", namespace)
}

// Events returns the client for a namespace.
func (g CoreV1) Events(namespace string) *gentype.ClientWithList[*corev1.Event, *corev1.EventList] {
	return resource[corev1.Event, corev1.EventList](g.group, "events", namespace)
}

// Namespaces are all of the cluster.
func (g CoreV1) Namespaces() *gentype.ClientWithList[*corev1.Namespace, *corev1.NamespaceList] {
	return resource[corev1.Namespace, corev1.NamespaceList](g.group, "namespaces", "")
}

// Nodes are all of the cluster.
func (g CoreV1) Nodes() *gentype.ClientWithList[*corev1.Node, *corev1.NodeList] {
	return resource[corev1.Node, corev1.NodeList](g.group, "nodes", "")
}

// Pods returns the client for a namespace.
func (g CoreV1) Pods(namespace string) *gentype.ClientWithList[*corev1.Pod, *corev1.PodList] {
	return resource[corev1.Pod, corev1.PodList](g.group, "pods", namespace)
}

// Secrets returns the client for a namespace.
func (g CoreV1) Secrets(namespace string) *Secrets {
	return resource[corev1.Secret, corev1.SecretList](g.group, "secrets", namespace)
}

// PodDisruptionBudgets returns the client for a namespace.
func (g PolicyV1) PodDisruptionBudgets(namespace string) *gentype.ClientWithList[*policyv1.PodDisruptionBudget, *policyv1.PodDisruptionBudgetList] {
	return resource[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](g.group, "poddisruptionbudgets", namespace)
}

// ResourceClaims returns the client for a namespace.
func (g ResourceV1) ResourceClaims(namespace string) *gentype.ClientWithList[*resourcev1.ResourceClaim, *resourcev1.ResourceClaimList] {
	return resource[resourcev1.ResourceClaim, resourcev1.ResourceClaimList](g.group, "resourceclaims", namespace)
}
