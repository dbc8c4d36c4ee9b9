package nodes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// audit records each call of gpupool that changes the local CVM or the cluster, in the order of
// responses.
type audit struct{ processtest.Audit }

// Write takes a line of the local CVM's record of calls.
func (a *audit) Write(line []byte) (int, error) {
	var c cvmsim.Call
	if err := json.Unmarshal(line, &c); err != nil {
		return 0, err
	}
	for _, reads := range []string{"Describe", "Get", "Inquiry"} {
		if strings.HasPrefix(c.Action, reads) {
			return len(line), nil
		}
	}
	slices.Sort(c.InstanceIDs)
	a.Note("%s %s %s", c.Action, strings.Join(c.InstanceIDs, " "), c.Outcome)
	return len(line), nil
}

// kubeconfig is that of an API server between gpupool and the cluster's, which writes
// down what it hands on.
func (a *audit) kubeconfig(t *testing.T, c *kubetest.Cluster) string {
	t.Helper()
	transport, err := rest.TransportFor(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(processtest.Between(t, c, listener{audit: a, next: transport}))
	t.Cleanup(proxy.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["gpu"] = &clientcmdapi.Cluster{Server: proxy.URL}
	config.AuthInfos["gpu"] = &clientcmdapi.AuthInfo{Token: "the-proxy-has-its-own"}
	config.Contexts["gpu"] = &clientcmdapi.Context{Cluster: "gpu", AuthInfo: "gpu"}
	config.CurrentContext = "gpu"
	path := filepath.Join(t.TempDir(), "kubeconfig")
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
	var body []byte
	r.Header.Del("Authorization") // the administrator's certificate takes its place
	if r.Method != http.MethodGet && r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	answer, err := l.next.RoundTrip(r)
	if r.Method == http.MethodGet || err != nil {
		return answer, err
	}
	text := told(r.Method, r.URL.Path, body)
	if text == "" {
		return answer, nil
	}
	if answer.StatusCode >= http.StatusBadRequest {
		text += fmt.Sprintf(" %d", answer.StatusCode)
	}
	l.audit.Note("%s", text)
	return answer, nil
}

// told is what a call asks for; empty for one that only tells.
func told(method, path string, body []byte) string {
	path = strings.TrimPrefix(path, "/api/v1/")
	if name, found := strings.CutPrefix(path, "nodes/"); found && !strings.Contains(name, "/") {
		var patch struct {
			Spec struct {
				Unschedulable *bool           `json:"unschedulable"`
				Taints        json.RawMessage `json:"taints"`
			} `json:"spec"`
		}
		switch err := json.Unmarshal(body, &patch); {
		case method == http.MethodDelete:
			return "delete " + name
		case method != http.MethodPatch || err != nil:
		case patch.Spec.Unschedulable != nil && *patch.Spec.Unschedulable:
			return "cordon " + name
		case patch.Spec.Unschedulable != nil:
			return "uncordon " + name
		case patch.Spec.Taints != nil:
			return "taint " + name
		default:
			return "mark " + name
		}
	}
	parts := strings.Split(path, "/")
	if len(parts) == 5 && parts[4] == "eviction" {
		return "evict " + parts[3]
	}
	if len(parts) == 3 && parts[2] == "events" {
		return ""
	}
	return method + " " + path
}
