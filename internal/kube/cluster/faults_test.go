package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// between stands between gpupool and the API server, and may answer itself.
func between(t *testing.T, server *kubetest.Cluster, interfere func(w http.ResponseWriter, r *http.Request, next http.Handler)) *kubecluster.Cluster {
	t.Helper()
	config := server.Config()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { interfere(w, r, proxy) }))
	t.Cleanup(front.Close)
	client, err := kubeclient.Open(kubeclient.Config{Host: front.URL}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return kubecluster.New(client)
}

// cut ends a response after so many bytes, as a broken connection does.
type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cut) Write(b []byte) (int, error) {
	if c.left -= len(b); c.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(b)
}

func isList(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/api/v1/pods" && r.URL.Query().Get("watch") == "" && r.URL.Query().Get("limit") != "1"
}

// five makes five pods with GPUs.
func five(t *testing.T, server *kubetest.Cluster, namespace string) []string {
	t.Helper()
	want := []string{"a", "b", "c", "d", "e"}
	for _, name := range want {
		kubetest.Create(t, server, kubetest.Pod(namespace, name, kubetest.GPUs(1), kubetest.BoundTo("nowhere")))
	}
	return want
}

func TestAPageThatIsCutOffIsReadAgain(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	want := five(t, server, ns)
	var lists atomic.Int32
	c := between(t, server, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isList(r) && lists.Add(1)%2 == 0 {
			w = &cut{ResponseWriter: w, left: 500}
		}
		next.ServeHTTP(w, r)
	})
	c.SetPageSize(3)
	if got := names(in(ns, observe(t, c, gpu.ObserveOptions{}).Pods)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// broken ends a response in the middle, once so many bytes have come through and
// something happened meanwhile.
type broken struct {
	http.ResponseWriter
	after     int
	meanwhile func()
}

func (b *broken) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *broken) Write(data []byte) (int, error) {
	if len(data) > b.after {
		_, _ = b.ResponseWriter.Write(data[:b.after])
		_ = http.NewResponseController(b.ResponseWriter).Flush()
		b.meanwhile()
		panic(http.ErrAbortHandler)
	}
	b.after -= len(data)
	return b.ResponseWriter.Write(data)
}

// TestAFirstPageThatIsReadAgainLosesNoPod has a pod come in front of all others
// between the two answers for the first page: the second one ends earlier.
func TestAFirstPageThatIsReadAgainLosesNoPod(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	want := append([]string{"0"}, five(t, server, ns)...)
	var lists atomic.Int32
	c := between(t, server, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Path == "/api/v1/namespaces/"+ns+"/pods" && lists.Add(1) == 1 {
			w = &broken{ResponseWriter: w, after: 1000, meanwhile: func() {
				kubetest.Create(t, server, kubetest.Pod(ns, "0", kubetest.GPUs(1), kubetest.BoundTo("nowhere")))
			}}
		}
		next.ServeHTTP(w, r)
	})
	c.SetPageSize(3)
	pods, err := c.LivePods(t.Context(), []string{ns}, gpu.Rules{})
	if got := names(pods); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
}

func TestAListThatExpiresGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	want := five(t, server, ns)
	for name, withToken := range map[string]bool{"with a token to go on with": true, "from the beginning": false} {
		var pagesSeen, expired atomic.Int32
		c := between(t, server, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			token := r.URL.Query().Get("continue")
			if isList(r) && token != "" && pagesSeen.Add(1) == 2 && expired.Add(1) == 1 {
				status := metav1.Status{
					TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusGone,
					Reason:  metav1.StatusReasonExpired,
					Message: "The provided continue parameter is too old to display a consistent list result.",
				}
				if withToken {
					status.Continue = token
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusGone)
				_ = json.NewEncoder(w).Encode(status)
				return
			}
			next.ServeHTTP(w, r)
		})
		c.SetPageSize(2)
		if got := names(in(ns, observe(t, c, gpu.ObserveOptions{}).Pods)); !slices.Equal(got, want) || expired.Load() != 1 {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestAWatchThatIsCutGoesOnFromWhereItWas(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	direct := connect(t, server.Kubeconfig())
	before := observe(t, direct, gpu.ObserveOptions{})
	want := five(t, server, ns)
	var watches atomic.Int32
	c := between(t, server, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Get("watch") != "" && strings.HasSuffix(r.URL.Path, "/pods") && watches.Add(1) <= 2 {
			w = &cut{ResponseWriter: w, left: 2500}
		}
		next.ServeHTTP(w, r)
	})
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	if !after.Replay.Complete || after.Listed {
		t.Errorf("got %+v, listed %v", after.Replay, after.Listed)
	}
	if got := names(in(ns, after.Pods)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := watches.Load(); n < 2 {
		t.Errorf("%d watches, want several", n)
	}
}

func TestAWatchThatNeverCatchesUpIsAGap(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	before := observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{})
	want := five(t, server, ns)
	c := between(t, server, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Get("watch") != "" {
			w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf;stream=watch")
			return // ends before any event
		}
		next.ServeHTTP(w, r)
	})
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	if after.Replay.Complete || !strings.Contains(after.Replay.Reason, "and it is at") || !after.Listed ||
		!slices.Equal(names(in(ns, after.Pods)), want) {
		t.Errorf("replay %+v, listed %v, pods %v", after.Replay, after.Listed, names(in(ns, after.Pods)))
	}
}

// TestPartialPodHistoryIncludesClaims has a server that lost only the beginning of the history of pods.
func TestPartialPodHistoryIncludesClaims(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t)
	node := nodeWithDevices(t, server, ns, "history-claims")
	before := observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{})
	pod := kubetest.Create(t, server, kubetest.Pod(ns, "dra", kubetest.ClaimTemplate("two"), kubetest.OnNode(node.Name)))
	server.WaitRunning(t, pod)
	remove(t, server, pod)
	var watches atomic.Int32
	c := between(t, server, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Get("watch") != "" && strings.HasSuffix(r.URL.Path, "/pods") && watches.Add(1) == 1 {
			from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusGone)
			_ = json.NewEncoder(w).Encode(metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusGone,
				Reason:  metav1.StatusReasonExpired,
				Message: fmt.Sprintf("too old resource version: %d (%d)", from, from+1),
			})
			return
		}
		next.ServeHTTP(w, r)
	})
	after := observe(t, c, gpu.ObserveOptions{From: before.ResourceVersion})
	got := in(ns, after.Replay.Ended)
	if after.Replay.Complete || len(got) != 1 || len(got[0].Shares) != 1 || got[0].Shares[0].Units.String() != "2/1" {
		t.Errorf("replay %v (%s): ended %+v, want a pod with two devices", after.Replay.Complete, after.Replay.Reason, got)
	}
}
