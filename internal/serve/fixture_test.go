package serve_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	pages "github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// handler serves a world to the operator of a loopback address.
func handler(w reconcile.World, change ...func(*serve.Options)) http.Handler {
	o := serve.Options{
		Source: snapshot.New(w), Authenticator: access.Operator{}, Version: "1.2.3", Log: slog.New(slog.DiscardHandler), Loopback: true,
		Jobs: newQueue(), Words: words{},
	}
	for _, f := range change {
		f(&o)
	}
	return serve.Handler(o)
}

// words are the texts of objects.
type words struct{}

func (words) Details(r reconcile.StatusReport, _ bool) (list []pages.Section) {
	for _, d := range r.Declarations() {
		list = append(list, pages.Section{Objects: []string{d.Object()}, Lines: []string{"about " + d.Object()}})
	}
	return list
}

func (words) Explanation(x reconcile.Explanation, _ bool) string {
	text, _ := json.MarshalIndent(x, "", "  ") // of numbers and texts
	return "what a run decides: " + string(text)
}

// listen serves on a port of its own until the test ends.
func listen(t testing.TB, h http.Handler) (url string) { return "http://" + listenBy(t, nil, h) }

// listenBy serves with a TLS configuration, and returns the address.
func listenBy(t testing.TB, config *tls.Config, h http.Handler) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve.Serve(ctx, listener, config, h) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return listener.Addr().String()
}

// ask sends one request, with headers "Name: value", and returns the response.
func ask(t testing.TB, h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// read returns the JSON of a response that must be 200.
func read(t testing.TB, h http.Handler, path string, headers ...string) map[string]any {
	t.Helper()
	w := ask(t, h, http.MethodGet, path, "", headers...)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	var value map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return value
}

// fetch is read over a connection.
func fetch(t testing.TB, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url) //nolint:gosec // the test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// teams declares a budget and a stock pool of each team in its namespace, with a pod each, and a
// budget of both. They were reconciled once.
func teams(t testing.TB) *reconciletest.Fixture {
	t.Helper()
	d := reconciletest.NewFixture(t)
	for _, team := range []string{"ml", "research"} {
		d.Declare(func(b *budget.Declaration) {
			b.Name, b.Selector = "budget-"+team, budget.Selector{Namespaces: []string{team}}
		})
		pool := stockpool.Declaration{
			Name: "pool-" + team, Namespace: team, SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 1,
			AllocatedSelector: "session",
		}
		if _, err := d.Process().StockPools().Create(context.Background(), pool.WithDefaults(), 0); err != nil {
			t.Fatal(err)
		}
		d.Cluster.Start(team, "train-"+team, 4, func(*gpu.Pod) {})
	}
	d.Declare(func(b *budget.Declaration) {
		b.Name, b.Selector = "budget-shared", budget.Selector{Namespaces: []string{"ml", "research"}}
	})
	d.Run()
	return d
}
