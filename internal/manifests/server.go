package manifests

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// DefaultTLSSecret is the default name of the Secret with the server's certificate.
const DefaultTLSSecret = "gpupool-serve-tls" //nolint:gosec // the name of a Secret

// ServeName names the server's Deployment and Service.
const ServeName = "gpupool-serve"

// Server are the options of gpupool serve in a cluster.
type Server struct {
	// TLSSecret names the Secret of the run's namespace with the certificate, of the type
	// kubernetes.io/tls. The pod starts once it exists. Default: DefaultTLSSecret.
	TLSSecret string
	// BehindProxy serves without TLS, since a proxy in front has it.
	BehindProxy bool
	// ServiceMonitor adds an object by which the Prometheus operator scrapes the server.
	ServiceMonitor bool
}

func (s Server) validate(mode Mode) error {
	switch {
	case mode != Serve && (s.TLSSecret != "" || s.BehindProxy || s.ServiceMonitor):
		return errors.New("--tls-secret, --behind-proxy and --service-monitor are for the server: add --mode serve")
	case s.TLSSecret != "" && s.BehindProxy:
		return errors.New("--tls-secret and --behind-proxy exclude each other: with a certificate, the server needs no proxy for TLS")
	}
	if problems := validation.IsDNS1123Subdomain(s.secret()); len(problems) > 0 {
		return fmt.Errorf("%q is not the name of a Secret: %s", s.TLSSecret, strings.Join(problems, "; "))
	}
	return nil
}

func (s Server) secret() string {
	if s.TLSSecret == "" {
		return DefaultTLSSecret
	}
	return s.TLSSecret
}

func (s Server) scheme() corev1.URIScheme {
	if s.BehindProxy {
		return corev1.URISchemeHTTP
	}
	return corev1.URISchemeHTTPS
}

const (
	servePort     = 9171
	servePortName = "api"
	tlsVolume     = "tls"
	tlsDirectory  = "/etc/gpupool/tls"
)

func serveLabels() map[string]string {
	marks := labels()
	marks["app.kubernetes.io/component"] = ServeName
	return marks
}

// server returns the server, its Service, and what limits and scrapes it.
func (w workload) server() []Object {
	all := []Object{
		{"No pod of the namespace accepts connections, unless another policy allows them.", w.denyIngress()},
		{"The server accepts connections to its port only.", w.allowIngress()},
		{"The address of the API and of metrics.", w.service()},
		{
			"The server. It also reconciles: if a CronJob or another Deployment did so before, delete it: kubectl -n " + w.runNamespace() +
				" delete cronjob,deployment " + ReconcileAccount + ".", w.serveDeployment(),
		},
	}
	if w.ServiceMonitor {
		all = append(all, Object{"Metrics, for the Prometheus operator. Bind the account of Prometheus to the ClusterRole " + w.Namespace +
			"-api-reader.", w.serviceMonitor()})
	}
	return all
}

func (w workload) denyIngress() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta: kindOf("networking.k8s.io/v1", "NetworkPolicy"), ObjectMeta: in(w.runNamespace(), "gpupool-deny-ingress"),
		Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}},
	}
}

func (w workload) allowIngress() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta: kindOf("networking.k8s.io/v1", "NetworkPolicy"), ObjectMeta: in(w.runNamespace(), ServeName),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: serveLabels()},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(servePort))}},
			}},
		},
	}
}

func (w workload) service() *corev1.Service {
	about := in(w.runNamespace(), ServeName)
	about.Labels = serveLabels()
	return &corev1.Service{
		TypeMeta: kindOf("v1", "Service"), ObjectMeta: about,
		Spec: corev1.ServiceSpec{
			Selector: serveLabels(),
			Ports:    []corev1.ServicePort{{Name: servePortName, Port: servePort, TargetPort: intstr.FromString(servePortName)}},
		},
	}
}

// serveDeployment needs no strategy: several servers can run at once.
func (w workload) serveDeployment() *appsv1.Deployment {
	container := w.withCloud(w.container(slices.Concat([]string{"serve", fmt.Sprintf("--listen=:%d", servePort), "--every=" + every.String(), w.timeout()},
		w.transport(), []string{"--token-review", "--log-format=json"}, w.Arguments)...))
	container.Ports = []corev1.ContainerPort{{Name: servePortName, ContainerPort: servePort}}
	container.LivenessProbe = w.probe("/livez", 6)
	container.ReadinessProbe = w.probe("/readyz", 3)
	pod := w.pod(container)
	pod.RestartPolicy = corev1.RestartPolicyAlways
	if !w.BehindProxy {
		pod.Volumes = append(pod.Volumes, corev1.Volume{
			Name: tlsVolume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: w.secret()}},
		})
		pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: tlsVolume, MountPath: tlsDirectory, ReadOnly: true})
	}
	return &appsv1.Deployment{
		TypeMeta: kindOf("apps/v1", "Deployment"), ObjectMeta: in(w.runNamespace(), ServeName),
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: serveLabels()},
			Template: w.declares(corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: serveLabels()}, Spec: pod}),
		},
	}
}

func (w workload) transport() []string {
	if w.BehindProxy {
		return []string{"--behind-proxy"}
	}
	return []string{"--tls-cert=" + tlsDirectory + "/" + corev1.TLSCertKey, "--tls-key=" + tlsDirectory + "/" + corev1.TLSPrivateKeyKey}
}

func (w workload) probe(path string, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: path, Port: intstr.FromString(servePortName), Scheme: w.scheme(),
		}},
		PeriodSeconds: 10, TimeoutSeconds: 6, FailureThreshold: failures,
	}
}

// serviceMonitor trusts the server's certificate itself, whichever authority signed it.
func (w workload) serviceMonitor() *unstructured.Unstructured {
	endpoint := map[string]any{
		"port": servePortName, "path": "/metrics", "scheme": strings.ToLower(string(w.scheme())),
		"bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
	}
	if !w.BehindProxy {
		endpoint["tlsConfig"] = map[string]any{
			"ca":         map[string]any{"secret": map[string]any{"name": w.secret(), "key": corev1.TLSCertKey}},
			"serverName": ServeName + "." + w.runNamespace() + ".svc",
		}
	}
	return w.monitoring("ServiceMonitor", ServeName, map[string]any{
		"selector":  map[string]any{"matchLabels": texts(serveLabels())},
		"endpoints": []any{endpoint},
	})
}

//go:embed prometheusrule.yml
var alerts []byte // a copy of examples/prometheus/prometheusrule.yml

func (w workload) prometheusRule() *unstructured.Unstructured {
	var rule map[string]any
	if err := yaml.Unmarshal(alerts, &rule); err != nil {
		panic(err) // the file is part of the program
	}
	return w.monitoring("PrometheusRule", appName, rule["spec"])
}

// monitoring returns an object of the Prometheus operator.
func (w workload) monitoring(kind, name string, spec any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": w.runNamespace(), "labels": texts(labels())},
		"spec":     spec,
	}}
}

func texts(of map[string]string) map[string]any {
	all := map[string]any{}
	for key, value := range of {
		all[key] = value
	}
	return all
}
