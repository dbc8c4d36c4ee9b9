package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// target is what an attack is about: parameters of paths and queries, and fields of bodies, by name.
type target map[string]string

func (v target) path(path string) string {
	for name, value := range v {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return path
}

// queries are the query of an operation: without one, and with each parameter.
func (v target) queries(o *huma.Operation) []string {
	all := []string{""}
	for _, p := range o.Parameters {
		if value := v[p.Name]; p.In == "query" && value != "" {
			all = append(all, "?"+url.Values{p.Name: {value}}.Encode())
		}
	}
	return all
}

// body is a request that fits the description of an operation.
func (v target) body(t *testing.T, doc *huma.OpenAPI, o *huma.Operation) string {
	t.Helper()
	if o.RequestBody == nil {
		return ""
	}
	schema := o.RequestBody.Content["application/json"].Schema
	if schema.Ref != "" {
		schema = doc.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	fields := map[string]any{}
	for name, s := range schema.Properties {
		switch value := v[name]; {
		case value != "":
			fields[name] = value
		case s.Type == huma.TypeInteger:
			fields[name] = 1
		}
	}
	delete(fields, "maximum")
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestAHostileTenant tries every operation of the OpenAPI document about the objects of another
// namespace. The responses are those about objects that do not exist, and nothing changes.
func TestAHostileTenant(t *testing.T) {
	t.Parallel()
	d, q := teams(t), newQueue()
	world := d.Process()
	doc := api.Add(http.NewServeMux(), api.Options{Source: snapshot.New(world), Version: "1.2.3", Jobs: q})
	h := handler(world, users(t, q))
	job, err := q.Submit(t.Context(), request.Request{StockPool: &request.StockPool{
		Name: "secret", Namespace: "research", SpecName: "g1.1", GPU: 1, Replicas: 1,
	}}, "admin", "secret")
	if err != nil {
		t.Fatal(err)
	}
	before, queued := d.Documents(), len(q.jobs)
	common := target{
		"namespace": "research", "region": "ap-singapore", "spec_name": "g1.1", "specName": "g1.1", "gpu_hours": "5", "duration": "1h",
		"reason": "a test", "image": "nginx:1.27", "memory": "1Gi", "since": "1000d",
	}
	tried := 0
	try := func(method, path, body string) *httptest.ResponseRecorder {
		tried++
		return ask(t, h, method, path, body, "Content-Type: application/json", "Authorization: Bearer requester")
	}
	for path, item := range doc.Paths {
		for method, o := range map[string]*huma.Operation{
			"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete,
		} {
			if o == nil {
				continue
			}
			for _, name := range []string{"pool-research", "budget-research", "budget-shared"} {
				of := func(name, id string) target {
					v := target{"name": name, "budget": name, "id": id}
					for key, value := range common {
						v[key] = value
					}
					return v
				}
				foreign, absent := of(name, job.ID), of("no"+name[2:], "none")
				for n, query := range foreign.queries(o) {
					w := try(method, foreign.path(path)+query, foreign.body(t, doc, o))
					other := try(method, absent.path(path)+absent.queries(o)[n], absent.body(t, doc, o))
					reads, changes := w.Code < 300, w.Code == http.StatusAccepted
					text := w.Body.String()
					if w.Code != other.Code || w.Code >= 500 || changes || reads && path != "/api/v1/health" && foreignIn(text) != "" {
						t.Errorf("%s %s%s: %d (%s), and of what does not exist %d", method, path, query, w.Code, text, other.Code)
					}
					same := strings.NewReplacer("no"+name[2:], name, "none", job.ID).Replace(other.Body.String())
					if !reads && text != same {
						t.Errorf("%s %s%s differs from what does not exist:\n%s\n%s", method, path, query, text, same)
					}
				}
			}
		}
	}
	if w := try("GET", "/metrics", ""); w.Code != http.StatusForbidden {
		t.Errorf("/metrics: %d", w.Code)
	}
	if after := d.Documents(); fmt.Sprint(after) != fmt.Sprint(before) || len(q.jobs) != queued || q.jobs[job.ID].State != request.Queued {
		t.Errorf("something changed: %d jobs, %+v", len(q.jobs), q.jobs[job.ID])
	}
	if tried < 100 {
		t.Errorf("only %d requests were tried", tried)
	}
}

// foreignIn returns what a text has about another namespace.
func foreignIn(text string) string {
	for _, word := range []string{"research", "budget-shared", "secret"} {
		if strings.Contains(text, word) {
			return word
		}
	}
	return ""
}

// FuzzBodies sends bodies to each operation that changes something. A body is refused, or its job is
// one that a run can do.
func FuzzBodies(f *testing.F) {
	q := newQueue()
	h := handler(teams(f).Process(), func(o *serve.Options) { o.Jobs = q })
	operations := []string{
		"POST /api/v1/stockpools", "POST /api/v1/operator/stockpools", "POST /api/v1/budgets/budget-ml/grants",
		"POST /api/v1/spotpools/ap-singapore/train/holds", "POST /api/v1/runs", "DELETE /api/v1/stockpools/ml/g1", "DELETE /api/v1/jobs/none",
	}
	for n := range operations {
		for _, body := range []string{
			fmt.Sprintf(poolBody, "a"), `{"specName":"g1.1","namespace":"ml","replicas":1,"gpu":2147483648}`, `{"gpu_hours":"5","duration":"1h","reason":"a test"}`,
			`{"until":"9999-12-31T23:59:59Z","reason":"\u202e"}`, `{}`, `null`, `[`, `{"env":{"A":"\u0000"}}`, `{"replicas":1e3}`, `{"name":null}`,
		} {
			f.Add(uint8(n), "k", []byte(body)) //nolint:gosec // a few
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, key string, body []byte) {
		clear(q.jobs)
		clear(q.keys)
		method, path, _ := strings.Cut(operations[int(n)%len(operations)], " ")
		w := ask(t, h, method, path, string(body), "Content-Type: application/json", "Idempotency-Key: "+key)
		switch {
		case w.Code >= 500:
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		case w.Code == http.StatusAccepted && (len(q.jobs) != 1 || w.Header().Get("Location") == ""):
			t.Errorf("%s %s: accepted with %d jobs", method, path, len(q.jobs))
		case w.Code != http.StatusAccepted && len(q.jobs) > 0:
			t.Errorf("%s %s: %d with a job", method, path, w.Code)
		}
	})
}

// reviews is a cluster in which the token "valid" is of a user with all rights.
type reviews struct{ asked int }

func (r *reviews) ReviewToken(_ context.Context, token string) (access.Subject, bool, error) {
	r.asked++
	return access.Subject{Name: "alice"}, token == "valid", nil
}

func (r *reviews) ReviewAccess(context.Context, access.Subject, string, string, string, string, string) (bool, error) {
	return true, nil
}

// TestRandomTokens sends unknown tokens without an end. The server asks the cluster about a few, and a
// user who signed in before notices nothing.
func TestRandomTokens(t *testing.T) {
	t.Parallel()
	cluster := &reviews{}
	h := handler(teams(t).Process(), func(o *serve.Options) {
		o.Authenticator, o.Loopback = &access.Cluster{Reviewer: cluster, Now: time.Now}, false
	})
	read(t, h, "/api/v1/budgets", "Authorization: Bearer valid")
	codes := map[int]int{}
	for n := range 2000 {
		w := ask(t, h, "GET", "/api/v1/budgets", "", fmt.Sprint("Authorization: Bearer random-", n))
		codes[w.Code]++
		if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
			t.Fatal("429 without Retry-After")
		}
	}
	if codes[http.StatusUnauthorized] == 0 || codes[http.StatusTooManyRequests] < 1000 || len(codes) != 2 || cluster.asked > 1000 {
		t.Errorf("the codes are %v, with %d reviews", codes, cluster.asked)
	}
	read(t, h, "/api/v1/budgets", "Authorization: Bearer valid")
}
