package client_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// journal is what was logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: level}))
}

func TestEachCallIsLoggedWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	path := server.ServiceAccountKubeconfig(t, ns, "unknown")
	account, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if account.BearerToken == "" {
		t.Fatal("the service account has no token that could be logged")
	}
	var told, quiet journal
	for log, level := range map[*journal]slog.Level{&told: slog.LevelDebug, &quiet: slog.LevelInfo} {
		c := changed(t, path, func(c *kubeclient.Config) { c.Logger = log.logger(level) })
		if _, err := c.UID(t.Context()); err == nil {
			t.Error("a service account without rights read a namespace")
		}
		if _, err := c.Kubernetes().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{Limit: 500}); err == nil {
			t.Error("a service account without rights listed nodes")
		}
	}
	for _, want := range []string{
		`level=DEBUG msg="cluster call" action="get namespaces" path=/api/v1/namespaces/kube-system status=403 took=[0-9]`,
		`level=DEBUG msg="cluster call" action="list nodes" path=/api/v1/nodes status=403 took=[0-9]`,
	} {
		if !regexp.MustCompile(want).MatchString(told.String()) {
			t.Errorf("the log lacks %s:\n%s", want, told.String())
		}
	}
	for _, secret := range []string{account.BearerToken, "Bearer", "Authorization", "limit=", "forbidden"} {
		if strings.Contains(told.String(), secret) {
			t.Errorf("the log holds %q:\n%s", secret, told.String())
		}
	}
	if quiet.String() != "" {
		t.Errorf("above debug, calls are logged:\n%s", quiet.String())
	}
}

func TestACallThatGetsNoAnswerIsLogged(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	var log journal
	client, err := kubeclient.Open(kubeclient.Config{Host: "http://" + address, Token: "hush-hush", Logger: log.logger(slog.LevelDebug)}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.UID(t.Context()); err == nil {
		t.Fatal("a server that isn't there answered")
	}
	if got := log.String(); !strings.Contains(got, `action="get namespaces" path=/api/v1/namespaces/kube-system error=`) || !strings.Contains(got, address) ||
		strings.Contains(got, "hush") {
		t.Errorf("the log is\n%s", got)
	}
}

// TestCallsAreNamedAlsoBehindAPath has an API server that is reached under a path
// of another one, as those that are managed for many are.
func TestCallsAreNamedAlsoBehindAPath(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	defer front.Close()
	for _, path := range []string{"", "/", "/k8s/clusters/c-1", "/k8s/clusters/c-1/"} {
		client, err := kubeclient.Open(kubeclient.Config{Host: front.URL + path}, "gpupool/test")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.UID(t.Context()); err == nil {
			t.Error("an unreachable server answered")
		}
		if _, err := client.Kubernetes().BatchV1().Jobs("ml").List(t.Context(), metav1.ListOptions{}); err == nil {
			t.Error("an unreachable server answered")
		}
		if calls := client.Calls(); len(calls) != 2 || calls["get namespaces"] != 1 || calls["list jobs"] != 1 {
			t.Errorf("under the path %q: %v", path, calls)
		}
	}
}
