package kube_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// mustFail wants an error of the class that says all of the words.
func mustFail(t *testing.T, err error, class kube.Class, words ...string) {
	t.Helper()
	var failed *kube.Error
	if !errors.As(err, &failed) || failed.Class != class {
		t.Errorf("got %v, want an error of the class %s", err, class)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

// changed is the configuration of a kubeconfig, with one thing changed.
func changed(t *testing.T, path string, change func(*kube.Config)) *kube.Cluster {
	t.Helper()
	rest, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte, file string) string {
		if len(data) == 0 && file != "" {
			if data, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
		return string(data)
	}
	config := kube.Config{
		Host: rest.Host, ClusterCACertificate: read(rest.CAData, rest.CAFile), Token: rest.BearerToken,
		ClientCertificate: read(rest.CertData, rest.CertFile), ClientKey: read(rest.KeyData, rest.KeyFile),
	}
	change(&config)
	client, err := kube.Open(config, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return kube.NewCluster(client)
}

func TestErrorsSayWhatIsWrongWithTheConnection(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	admin := server.Kubeconfig()

	_, err := changed(t, admin, func(c *kube.Config) { c.Token, c.ClientCertificate, c.ClientKey = "expired-token", "", "" }).UID(t.Context())
	mustFail(t, err, kube.ClassAuthentication, "cannot get namespaces kube-system", "expired", "get new ones")
	if strings.Contains(err.Error(), "expired-token") {
		t.Errorf("the error shows the token: %v", err)
	}

	_, err = changed(t, admin, func(c *kube.Config) { c.ClusterCACertificate = "" }).UID(t.Context())
	mustFail(t, err, kube.ClassCertificate, "cluster_ca_certificate")

	_, err = changed(t, admin, func(c *kube.Config) { c.TLSServerName = "elsewhere.example" }).UID(t.Context())
	mustFail(t, err, kube.ClassCertificate, "tls_server_name")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	started := time.Now()
	_, err = changed(t, admin, func(c *kube.Config) { c.Host = "https://" + address }).UID(t.Context())
	mustFail(t, err, kube.ClassUnreachable, address, "can be reached")
	if took := time.Since(started); took > 15*time.Second {
		t.Errorf("it took %v to notice", took)
	}

	missing := changed(t, admin, func(c *kube.Config) {
		c.ClientCertificate, c.ClientKey = "", ""
		c.Exec = &kube.Exec{APIVersion: "client.authentication.k8s.io/v1", Command: filepath.Join(t.TempDir(), "no-such-helper")}
	})
	_, err = missing.UID(t.Context())
	mustFail(t, err, kube.ClassAuthentication, "no-such-helper")
}

// allow gives a service account cluster-wide rules.
func allow(t *testing.T, server *kubetest.Cluster, namespace, account string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	name := namespace + "-" + account
	kubetest.Create(t, server, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules})
	kubetest.Create(t, server, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: account}},
	})
}

func TestAForbiddenVerbIsNamedWithItsObject(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	c := look(t, server.ServiceAccountKubeconfig(t, ns, "nobody"))
	w := budget.Workload{Namespace: ns, APIVersion: "apps/v1", Kind: "Deployment", Name: "d"}
	job := budget.Workload{Namespace: ns, APIVersion: "batch/v1", Kind: "Job", Name: "j"}
	pod := budget.PodRef{Namespace: ns, Name: "p", UID: "u"}
	for want, call := range map[string]func() error{
		"get on namespaces": func() error { _, err := c.UID(t.Context()); return err },
		"list on nodes":     func() error { _, err := c.LivePods(t.Context(), nil, gpu.Rules{}); return err },
		"list on events": func() error {
			_, err := c.PodEvents(t.Context(), []budget.PodRef{pod})
			return err
		},
		"create on events":                          func() error { return c.Alert(t.Context(), budget.Event{Namespace: ns, Budget: "b"}) },
		"get on validatingadmissionpolicies":        func() error { return c.Freeze(t.Context(), budget.FreezeRule{Budget: "b", BudgetUID: "u"}) },
		"list on validatingadmissionpolicybindings": func() error { _, err := c.Freezes(t.Context()); return err },
		"get on deployments":                        func() error { _, err := c.Workload(t.Context(), w); return err },
		"list on horizontalpodautoscalers":          func() error { _, err := c.Autoscaler(t.Context(), w); return err },
		"update on deployments/scale":               func() error { return c.Pause(t.Context(), budget.WorkloadState{Workload: w}) },
		"patch on jobs":                             func() error { return c.Resume(t.Context(), budget.WorkloadState{Workload: job}, 0) },
		"create on pods/eviction":                   func() error { return c.Evict(t.Context(), budget.Eviction{PodRef: pod}) },
	} {
		mustFail(t, call(), kube.ClassAuthorization, "cannot ", "the role needs the verb "+want)
	}
	// A role that lacks one verb of a look.
	allow(t, server, ns, "partly", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}})
	_, err := look(t, server.ServiceAccountKubeconfig(t, ns, "partly")).Observe(t.Context(), gpu.ObserveOptions{})
	mustFail(t, err, kube.ClassAuthorization, "cannot list pods in the whole cluster", "the role needs the verb list on pods")
}

// TestErrorsHaveAClassForReports has errors of each kind, wrapped as a run wraps
// them.
func TestErrorsHaveAClassForReports(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	refused := apierrors.NewForbidden(pods, "p", errors.New("ValidatingAdmissionPolicy 'x' denied request"))
	_, unusable := kube.Open(kube.Config{ConfigPath: filepath.Join(t.TempDir(), "none")}, "gpupool/test")
	_, unconfigured := kube.Open(kube.Config{}, "gpupool/test")
	if !errors.Is(unconfigured, kube.ErrNoConfiguration) {
		t.Errorf("without a configuration: %v", unconfigured)
	}
	for name, c := range map[string]struct {
		err  error
		want spotpool.ErrorClass
	}{
		"401":               {kube.Wrap("list", "pods", apierrors.NewUnauthorized("who")), spotpool.ClassAuthorisation},
		"403":               {kube.Wrap("list", "pods", apierrors.NewForbidden(pods, "p", errors.New("no"))), spotpool.ClassAuthorisation},
		"429":               {kube.Wrap("list", "pods", apierrors.NewTooManyRequests("slow", 1)), spotpool.ClassTransient},
		"500":               {kube.Wrap("list", "pods", apierrors.NewInternalError(errors.New("oops"))), spotpool.ClassTransient},
		"503":               {kube.Wrap("list", "pods", apierrors.NewServiceUnavailable("later")), spotpool.ClassTransient},
		"504":               {kube.Wrap("list", "pods", apierrors.NewTimeoutError("slow", 1)), spotpool.ClassTransient},
		"unreachable":       {kube.Wrap("list", "pods", &net.OpError{Op: "dial", Err: errors.New("refused")}), spotpool.ClassTransient},
		"no time left":      {kube.Wrap("list", "pods", context.DeadlineExceeded), spotpool.ClassTransient},
		"409":               {kube.Wrap("update", "jobs", apierrors.NewConflict(pods, "p", errors.New("changed"))), spotpool.ClassTransient},
		"a policy refuses":  {kube.Wrap("create", "pods", refused), spotpool.ClassConfiguration},
		"422":               {kube.Wrap("create", "pods", apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil)), spotpool.ClassConfiguration},
		"404":               {kube.Wrap("create", "pods", apierrors.NewNotFound(pods, "p")), spotpool.ClassConfiguration},
		"no freeze policy":  {&kube.MissingPolicyError{}, spotpool.ClassConfiguration},
		"no such file":      {unusable, spotpool.ClassConfiguration},
		"nothing is given":  {unconfigured, spotpool.ClassConfiguration},
		"wrong certificate": {kube.Wrap("list", "pods", x509.UnknownAuthorityError{}), spotpool.ClassConfiguration},
	} {
		var classed interface{ ErrorClass() string }
		if !errors.As(fmt.Errorf("a run: %w", c.err), &classed) || spotpool.ErrorClass(classed.ErrorClass()) != c.want {
			t.Errorf("%s: %v has the class %v, want %s", name, c.err, classed, c.want)
		}
	}
}
