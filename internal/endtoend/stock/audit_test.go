package stock

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// audit is each call of gpupool that changes something in a namespace, in the order of
// their answers.
type audit struct {
	processtest.Audit

	namespace string
}

// kubeconfig is that of an account at an API server between gpupool and the cluster's,
// which writes down what it hands on. Who calls is the account.
func (a *audit) kubeconfig(t *testing.T, c *kubetest.Cluster, namespace, account string) string {
	t.Helper()
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(c.Config()))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(processtest.Between(t, c, listener{audit: a, next: transport}))
	t.Cleanup(proxy.Close)
	config, err := clientcmd.LoadFromFile(c.ServiceAccountKubeconfig(t, namespace, account))
	if err != nil {
		t.Fatal(err)
	}
	cluster := config.Clusters[account]
	cluster.Server, cluster.CertificateAuthority = proxy.URL, ""
	cluster.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})
	path := filepath.Join(t.TempDir(), account)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// listener writes calls down before their answers arrive.
type listener struct {
	audit *audit
	next  http.RoundTripper
}

func (l listener) RoundTrip(r *http.Request) (*http.Response, error) {
	text := l.audit.told(r)
	answer, err := l.next.RoundTrip(r)
	if text == "" || err != nil || answer.StatusCode == http.StatusConflict {
		return answer, err // its controller writes a Deployment at any time, and what lost is asked again
	}
	if answer.StatusCode >= http.StatusBadRequest {
		text += fmt.Sprintf(" %d", answer.StatusCode)
	}
	l.audit.Note("%s", text)
	return answer, nil
}

// told is what a call asks for; empty for one that only reads or tells, and for what is
// not of the namespace.
func (a *audit) told(r *http.Request) string {
	_, rest, found := strings.Cut(r.URL.Path, "/namespaces/"+a.namespace+"/")
	if r.Method == http.MethodGet || !found || strings.HasPrefix(rest, "events") {
		return ""
	}
	verb := strings.ToLower(r.Method)
	switch {
	case r.Method == http.MethodPost:
		verb = "create"
	case strings.Contains(r.Header.Get("Content-Type"), "apply-patch"):
		verb = "apply"
	}
	if r.URL.Query().Get("dryRun") != "" {
		verb = "try to " + verb
	}
	return verb + " " + strings.ReplaceAll(rest, "/", " ")
}
