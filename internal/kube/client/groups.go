package client

import (
	"net/http"

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
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

// served are the API groups that gpupool calls. The typed clients of client-go share one scheme of all groups
// and versions. Linking it registers all of those types whenever the program starts.
var served = []struct {
	version schema.GroupVersion
	add     func(*runtime.Scheme) error
}{
	{admissionregistrationv1.SchemeGroupVersion, admissionregistrationv1.AddToScheme},
	{appsv1.SchemeGroupVersion, appsv1.AddToScheme},
	{authenticationv1.SchemeGroupVersion, authenticationv1.AddToScheme},
	{authorizationv1.SchemeGroupVersion, authorizationv1.AddToScheme},
	{autoscalingv1.SchemeGroupVersion, autoscalingv1.AddToScheme}, // scales
	{autoscalingv2.SchemeGroupVersion, autoscalingv2.AddToScheme},
	{batchv1.SchemeGroupVersion, batchv1.AddToScheme},
	{coordinationv1.SchemeGroupVersion, coordinationv1.AddToScheme},
	{corev1.SchemeGroupVersion, corev1.AddToScheme},
	{policyv1.SchemeGroupVersion, policyv1.AddToScheme},
	{resourcev1.SchemeGroupVersion, resourcev1.AddToScheme},
	{schedulingv1.SchemeGroupVersion, schedulingv1.AddToScheme},
}

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
	// ParameterCodec writes the options of a call into its query.
	ParameterCodec = runtime.NewParameterCodec(scheme)
)

func init() {
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // options, and what errors say
	for _, group := range served {
		utilruntime.Must(group.add(scheme))
	}
}

// Groups are the clients of the API groups that gpupool asks, by the names that
// kubernetes.Interface of client-go has for them.
type Groups struct {
	clients map[schema.GroupVersion]rest.Interface
}

// newGroups prepares the clients, which share their connections. It makes no call.
func newGroups(config *rest.Config) (*Groups, error) {
	shared, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	g := &Groups{clients: map[schema.GroupVersion]rest.Interface{}}
	for _, group := range served {
		if g.clients[group.version], err = open(config, shared, group.version); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// open prepares the client of one group.
func open(config *rest.Config, shared *http.Client, version schema.GroupVersion) (rest.Interface, error) {
	c := rest.CopyConfig(config)
	c.GroupVersion, c.APIPath = &version, "/apis"
	if version.Group == corev1.GroupName {
		c.APIPath = "/api"
	}
	c.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme, codecs).WithoutConversion()
	return rest.RESTClientForConfigAndClient(c, shared)
}

// group is the client of one API group.
type group struct{ rest rest.Interface }

// RESTClient makes calls of any kind.
func (g group) RESTClient() rest.Interface { return g.rest }

func (g *Groups) of(version schema.GroupVersion) group { return group{g.clients[version]} }

// AdmissionregistrationV1 has the admission policies.
func (g *Groups) AdmissionregistrationV1() AdmissionregistrationV1 {
	return AdmissionregistrationV1{g.of(admissionregistrationv1.SchemeGroupVersion)}
}

// AppsV1 has the Deployments, ReplicaSets and StatefulSets.
func (g *Groups) AppsV1() AppsV1 { return AppsV1{g.of(appsv1.SchemeGroupVersion)} }

// AuthenticationV1 tells who asks.
func (g *Groups) AuthenticationV1() AuthenticationV1 {
	return AuthenticationV1{g.of(authenticationv1.SchemeGroupVersion)}
}

// AuthorizationV1 reviews what users may do.
func (g *Groups) AuthorizationV1() AuthorizationV1 {
	return AuthorizationV1{g.of(authorizationv1.SchemeGroupVersion)}
}

// AutoscalingV2 has the HorizontalPodAutoscalers.
func (g *Groups) AutoscalingV2() AutoscalingV2 {
	return AutoscalingV2{g.of(autoscalingv2.SchemeGroupVersion)}
}

// BatchV1 has the Jobs and CronJobs.
func (g *Groups) BatchV1() BatchV1 { return BatchV1{g.of(batchv1.SchemeGroupVersion)} }

// CoordinationV1 has the Leases.
func (g *Groups) CoordinationV1() CoordinationV1 {
	return CoordinationV1{g.of(coordinationv1.SchemeGroupVersion)}
}

// CoreV1 has the nodes, pods, namespaces, and what is stored.
func (g *Groups) CoreV1() CoreV1 { return CoreV1{g.of(corev1.SchemeGroupVersion)} }

// PolicyV1 has the PodDisruptionBudgets.
func (g *Groups) PolicyV1() PolicyV1 { return PolicyV1{g.of(policyv1.SchemeGroupVersion)} }

// ResourceV1 has the claims and slices of devices.
func (g *Groups) ResourceV1() ResourceV1 { return ResourceV1{g.of(resourcev1.SchemeGroupVersion)} }

// SchedulingV1 has the priority classes.
func (g *Groups) SchedulingV1() SchedulingV1 {
	return SchedulingV1{g.of(schedulingv1.SchemeGroupVersion)}
}
