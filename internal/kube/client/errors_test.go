package client_test

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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// changed is the configuration of a kubeconfig, with one thing changed.
func changed(t *testing.T, path string, change func(*kubeclient.Config)) *kubeclient.Client {
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
	config := kubeclient.Config{
		Host: rest.Host, ClusterCACertificate: read(rest.CAData, rest.CAFile), Token: rest.BearerToken,
		ClientCertificate: read(rest.CertData, rest.CertFile), ClientKey: read(rest.KeyData, rest.KeyFile),
	}
	change(&config)
	client, err := kubeclient.Open(config, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestErrorsSayWhatIsWrongWithTheConnection(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	admin := server.Kubeconfig()

	_, err := changed(t, admin, func(c *kubeclient.Config) { c.Token, c.ClientCertificate, c.ClientKey = "expired-token", "", "" }).UID(t.Context())
	kubetest.MustFail(t, err, kubeclient.ClassAuthentication, "cannot get namespaces kube-system", "expired", "get new ones")
	if strings.Contains(err.Error(), "expired-token") {
		t.Errorf("the error shows the token: %v", err)
	}

	_, err = changed(t, admin, func(c *kubeclient.Config) { c.ClusterCACertificate = "" }).UID(t.Context())
	kubetest.MustFail(t, err, kubeclient.ClassCertificate, "cluster_ca_certificate")

	_, err = changed(t, admin, func(c *kubeclient.Config) { c.TLSServerName = "elsewhere.example" }).UID(t.Context())
	kubetest.MustFail(t, err, kubeclient.ClassCertificate, "tls_server_name")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	started := time.Now()
	_, err = changed(t, admin, func(c *kubeclient.Config) { c.Host = "https://" + address }).UID(t.Context())
	kubetest.MustFail(t, err, kubeclient.ClassUnreachable, address, "can be reached")
	if took := time.Since(started); took > 15*time.Second {
		t.Errorf("it took %v to notice", took)
	}

	missing := changed(t, admin, func(c *kubeclient.Config) {
		c.ClientCertificate, c.ClientKey = "", ""
		c.Exec = &kubeclient.Exec{APIVersion: "client.authentication.k8s.io/v1", Command: filepath.Join(t.TempDir(), "no-such-helper")}
	})
	_, err = missing.UID(t.Context())
	kubetest.MustFail(t, err, kubeclient.ClassAuthentication, "no-such-helper")
}

// TestErrorsHaveAClassForReports has errors of each kind, wrapped as a run wraps
// them.
func TestErrorsHaveAClassForReports(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	refused := apierrors.NewForbidden(pods, "p", errors.New("ValidatingAdmissionPolicy 'x' denied request"))
	_, unusable := kubeclient.Open(kubeclient.Config{ConfigPath: filepath.Join(t.TempDir(), "none")}, "gpupool/test")
	_, unconfigured := kubeclient.Open(kubeclient.Config{}, "gpupool/test")
	if !errors.Is(unconfigured, kubeclient.ErrNoConfiguration) {
		t.Errorf("without a configuration: %v", unconfigured)
	}
	for name, c := range map[string]struct {
		err  error
		want errorclass.Class
	}{
		"401":               {kubeclient.Wrap("list", "pods", apierrors.NewUnauthorized("who")), errorclass.Authorization},
		"403":               {kubeclient.Wrap("list", "pods", apierrors.NewForbidden(pods, "p", errors.New("no"))), errorclass.Authorization},
		"429":               {kubeclient.Wrap("list", "pods", apierrors.NewTooManyRequests("slow", 1)), errorclass.Transient},
		"500":               {kubeclient.Wrap("list", "pods", apierrors.NewInternalError(errors.New("oops"))), errorclass.Transient},
		"503":               {kubeclient.Wrap("list", "pods", apierrors.NewServiceUnavailable("later")), errorclass.Transient},
		"504":               {kubeclient.Wrap("list", "pods", apierrors.NewTimeoutError("slow", 1)), errorclass.Transient},
		"unreachable":       {kubeclient.Wrap("list", "pods", &net.OpError{Op: "dial", Err: errors.New("refused")}), errorclass.Transient},
		"no time left":      {kubeclient.Wrap("list", "pods", context.DeadlineExceeded), errorclass.Transient},
		"409":               {kubeclient.Wrap("update", "jobs", apierrors.NewConflict(pods, "p", errors.New("changed"))), errorclass.Transient},
		"a policy refuses":  {kubeclient.Wrap("create", "pods", refused), errorclass.Configuration},
		"422":               {kubeclient.Wrap("create", "pods", apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil)), errorclass.Configuration},
		"404":               {kubeclient.Wrap("create", "pods", apierrors.NewNotFound(pods, "p")), errorclass.Configuration},
		"no such file":      {unusable, errorclass.Configuration},
		"nothing is given":  {unconfigured, errorclass.Configuration},
		"wrong certificate": {kubeclient.Wrap("list", "pods", x509.UnknownAuthorityError{}), errorclass.Configuration},
	} {
		var classed interface{ ErrorClass() errorclass.Class }
		if !errors.As(fmt.Errorf("a run: %w", c.err), &classed) || classed.ErrorClass() != c.want {
			t.Errorf("%s: %v has the class %v, want %s", name, c.err, classed, c.want)
		}
	}
}
