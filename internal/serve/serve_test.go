package serve_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestUnreachableCloud: pools that cannot be observed say so, and budgets do not wait for them.
func TestUnreachableCloud(t *testing.T) {
	t.Parallel()
	w := reconciletest.NewWorld(t)
	w.MustCreate(1, 2)
	p := w.HastyProcess()
	h := handler(p)
	if pools := read(t, h, "/api/v1/spotpools")["spot_pools"].([]any); pools[0].(map[string]any)["capacity"] != 1.0 {
		t.Errorf("the pool is %v", pools[0])
	}
	w.Sim.URL = "http://127.0.0.1:1" // where nothing listens
	fresh := handler(w.HastyProcess())
	if list := read(t, fresh, "/api/v1/budgets")["budgets"].([]any); len(list) != 0 {
		t.Errorf("there are budgets: %v", list)
	}
	pool := read(t, fresh, "/api/v1/spotpools/ap-singapore/train")
	if pool["outcome"] != "failed" || pool["observed"] != false || pool["error"] == nil {
		t.Errorf("the pool of an unreachable cloud is %v", pool)
	}
}

func TestChangesAreVisibleInTwoSeconds(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	url := listen(t, handler(d.Process()))
	for n := range 3 {
		if _, text := fetch(t, url+"/api/v1/budgets"); strings.Contains(text, "new") && n == 0 {
			t.Fatal("it is there already")
		}
	}
	d.Declare(func(b *budget.Declaration) { b.Name = "new" })
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, text := fetch(t, url+"/api/v1/budgets"); strings.Contains(text, `"new"`) {
			return
		}
		if time.Since(began) > 2*time.Second {
			t.Fatal("a new budget is not visible after two seconds")
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process())
	for name, tt := range map[string]struct {
		method, path string
		headers      []string
		code         int
	}{
		"unknown path":       {"GET", "/api/v1/nothing", nil, 404},
		"unknown budget":     {"GET", "/api/v1/budgets/nothing", nil, 404},
		"explain nothing":    {"GET", "/api/v1/explain/budget/nothing", nil, 404},
		"unknown parameter":  {"GET", "/api/v1/budgets?watch=1", nil, 422},
		"wrong time":         {"GET", "/api/v1/history?since=yesterday", nil, 422},
		"wrong kind":         {"GET", "/api/v1/history?kind=nothing", nil, 422},
		"wrong grouping":     {"GET", "/api/v1/usage?by=color", nil, 422},
		"wrong window":       {"GET", "/api/v1/usage?window=long", nil, 422},
		"method":             {"DELETE", "/api/v1/budgets", []string{"Content-Type: application/json"}, 405},
		"form of a page":     {"POST", "/api/v1/budgets", []string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		"no type":            {"POST", "/api/v1/budgets", nil, 415},
		"another site":       {"POST", "/api/v1/budgets", []string{"Content-Type: application/json", "Sec-Fetch-Site: cross-site"}, 403},
		"rebound name":       {"GET", "/api/v1/budgets", []string{"Host: evil.example.com"}, 421},
		"rebound, with port": {"GET", "/api/v1/budgets", []string{"Host: evil.example.com:9171"}, 421},
		"localhost":          {"GET", "/api/v1/budgets", []string{"Host: localhost:9171"}, 200},
		"IPv6":               {"GET", "/api/v1/budgets", []string{"Host: [::1]:9171"}, 200},
	} {
		w := ask(t, h, tt.method, tt.path, "{}", tt.headers...)
		if w.Code != tt.code {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if tt.code != 200 && w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: the type is %s", name, w.Header().Get("Content-Type"))
		}
		for _, header := range []string{"Content-Security-Policy", "X-Content-Type-Options"} {
			if w.Header().Get(header) == "" {
				t.Errorf("%s: there is no %s", name, header)
			}
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: another site may read it", name)
		}
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	p := d.Process()
	h := handler(p)
	for _, path := range []string{"/livez", "/readyz", "/api/v1/health"} {
		if w := ask(t, h, "GET", path, ""); w.Code != 200 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	p.Store = unreadable{p.Store}
	if w := ask(t, handler(p), "GET", "/readyz", ""); w.Code != 503 {
		t.Errorf("/readyz of an unreadable store: %d %s", w.Code, w.Body)
	}
}

type unreadable struct{ store.Store }

func (unreadable) Read(context.Context, store.Key) (store.Document, error) {
	return store.Document{}, io.ErrUnexpectedEOF
}

func TestRepeatedReads(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process())
	first := ask(t, h, "GET", "/api/v1/budgets", "")
	if again := ask(t, h, "GET", "/api/v1/budgets", "", "If-None-Match: "+first.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("an unchanged list: %d", again.Code)
	}
	packed := ask(t, h, "GET", "/api/v1/budgets", "", "Accept-Encoding: gzip")
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != first.Body.String() {
		t.Errorf("the compressed list differs: %v", err)
	}
}

func TestCompressionIsNegotiated(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process())
	for codings, packed := range map[string]bool{
		"": false, "br": false, "gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0, br": false, "gzip;q=much": false,
	} {
		w := ask(t, h, "GET", "/api/v1/budgets", "", "Accept-Encoding: "+codings)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != packed || w.Code != http.StatusOK {
			t.Errorf("Accept-Encoding %q: compressed %t, %d", codings, got, w.Code)
		}
	}
}

func TestDetails(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process())
	usage := read(t, h, "/api/v1/usage?budget=budget-ml&by=namespace")
	if usage["budget"] != "budget-ml" || usage["groups"].([]any)[0].(map[string]any)["name"] != "ml" {
		t.Errorf("the usage is %v", usage)
	}
	explained := read(t, h, "/api/v1/explain/stock_pool/ml/pool-ml")
	if pools := explained["stock_pools"].([]any); len(pools) != 1 {
		t.Errorf("explained are %v", pools)
	}
	if events := read(t, h, "/api/v1/history?since=1000d&limit=1")["events"].([]any); len(events) != 1 {
		t.Errorf("the events are %v", events)
	}
}

func TestReadOnlyRefusesChanges(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process(), func(o *serve.Options) { o.ReadOnly = true })
	if w := ask(t, h, "POST", "/api/v1/runs", "{}", "Content-Type: application/json"); w.Code != 403 || !strings.Contains(w.Body.String(), "--read-only") {
		t.Errorf("a read-only server: %d %s", w.Code, w.Body)
	}
}
