package client

import (
	"net/http"

	admissionregistrationv1 "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	appsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	autoscalingv2 "k8s.io/client-go/kubernetes/typed/autoscaling/v2"
	batchv1 "k8s.io/client-go/kubernetes/typed/batch/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	policyv1 "k8s.io/client-go/kubernetes/typed/policy/v1"
	resourcev1 "k8s.io/client-go/kubernetes/typed/resource/v1"
	schedulingv1 "k8s.io/client-go/kubernetes/typed/scheduling/v1"
	"k8s.io/client-go/rest"
)

// Groups are the clients of the API groups that gpupool asks, by the names that
// kubernetes.Interface has for them. That one links the clients of all groups and
// versions: 7 MB of the binary, for calls that nobody makes.
type Groups struct {
	admissionregistrationV1 *admissionregistrationv1.AdmissionregistrationV1Client
	appsV1                  *appsv1.AppsV1Client
	authenticationV1        *authenticationv1.AuthenticationV1Client
	autoscalingV2           *autoscalingv2.AutoscalingV2Client
	batchV1                 *batchv1.BatchV1Client
	coordinationV1          *coordinationv1.CoordinationV1Client
	coreV1                  *corev1.CoreV1Client
	policyV1                *policyv1.PolicyV1Client
	resourceV1              *resourcev1.ResourceV1Client
	schedulingV1            *schedulingv1.SchedulingV1Client
}

// newGroups prepares the clients, which share their connections. It makes no call.
func newGroups(config *rest.Config) (*Groups, error) {
	shared, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	g := &Groups{}
	for _, open := range []func() error{
		group(&g.admissionregistrationV1, admissionregistrationv1.NewForConfigAndClient, config, shared),
		group(&g.appsV1, appsv1.NewForConfigAndClient, config, shared),
		group(&g.authenticationV1, authenticationv1.NewForConfigAndClient, config, shared),
		group(&g.autoscalingV2, autoscalingv2.NewForConfigAndClient, config, shared),
		group(&g.batchV1, batchv1.NewForConfigAndClient, config, shared),
		group(&g.coordinationV1, coordinationv1.NewForConfigAndClient, config, shared),
		group(&g.coreV1, corev1.NewForConfigAndClient, config, shared),
		group(&g.policyV1, policyv1.NewForConfigAndClient, config, shared),
		group(&g.resourceV1, resourcev1.NewForConfigAndClient, config, shared),
		group(&g.schedulingV1, schedulingv1.NewForConfigAndClient, config, shared),
	} {
		if err := open(); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// group is how one client is prepared, by the function of its package.
func group[C any](into **C, open func(*rest.Config, *http.Client) (*C, error), config *rest.Config, shared *http.Client) func() error {
	return func() (err error) {
		*into, err = open(config, shared)
		return err
	}
}

// AdmissionregistrationV1 has the admission policies.
func (g *Groups) AdmissionregistrationV1() admissionregistrationv1.AdmissionregistrationV1Interface {
	return g.admissionregistrationV1
}

// AppsV1 has the Deployments, ReplicaSets and StatefulSets.
func (g *Groups) AppsV1() appsv1.AppsV1Interface { return g.appsV1 }

// AuthenticationV1 tells who asks.
func (g *Groups) AuthenticationV1() authenticationv1.AuthenticationV1Interface {
	return g.authenticationV1
}

// AutoscalingV2 has the HorizontalPodAutoscalers.
func (g *Groups) AutoscalingV2() autoscalingv2.AutoscalingV2Interface { return g.autoscalingV2 }

// BatchV1 has the Jobs and CronJobs.
func (g *Groups) BatchV1() batchv1.BatchV1Interface { return g.batchV1 }

// CoordinationV1 has the Leases.
func (g *Groups) CoordinationV1() coordinationv1.CoordinationV1Interface { return g.coordinationV1 }

// CoreV1 has the nodes, pods, namespaces, and what is stored.
func (g *Groups) CoreV1() corev1.CoreV1Interface { return g.coreV1 }

// PolicyV1 has the PodDisruptionBudgets, and the evictions.
func (g *Groups) PolicyV1() policyv1.PolicyV1Interface { return g.policyV1 }

// ResourceV1 has the claims and slices of devices.
func (g *Groups) ResourceV1() resourcev1.ResourceV1Interface { return g.resourceV1 }

// SchedulingV1 has the priority classes.
func (g *Groups) SchedulingV1() schedulingv1.SchedulingV1Interface { return g.schedulingV1 }
