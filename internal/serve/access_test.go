package serve_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// queue keeps jobs in memory.
type queue struct {
	jobs map[string]request.Job
	keys map[string]string
}

func newQueue() *queue { return &queue{map[string]request.Job{}, map[string]string{}} }

func (q *queue) Submit(_ context.Context, r request.Request, requester, key string) (request.Job, error) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	id := fmt.Sprint("job-", len(q.jobs))
	if key != "" {
		id = request.ID(requester, key)
		if hash := q.keys[id]; hash != "" && hash != r.Hash() {
			return request.Job{}, request.ErrKeyReused
		}
		q.keys[id] = r.Hash()
	}
	job := request.New(id, r, requester, now)
	if err := job.Request.Validate(requester, now); err != nil {
		return job, err
	}
	if job.Object == "stock_pool/ml/declared" {
		return job, &request.ManagedError{Object: job.Object, Address: "gpupool_stock_pool.declared"}
	}
	q.jobs[id] = job
	return job, nil
}

func (q *queue) Job(_ context.Context, id string) (request.Job, error) {
	job, found := q.jobs[id]
	if !found {
		return job, &request.NotFoundError{ID: id}
	}
	return job, nil
}

func (q *queue) Jobs(context.Context) (jobs []request.Job, unreadable []error, err error) {
	for _, job := range q.jobs {
		jobs = append(jobs, job)
	}
	return jobs, []error{errors.New("job/x is damaged")}, nil
}

func (q *queue) Cancel(ctx context.Context, id string) (request.Job, error) {
	job, err := q.Job(ctx, id)
	if err == nil {
		job, err = job.To(request.Canceled, job.UpdatedAt)
	}
	if err == nil {
		q.jobs[id] = job
	}
	return job, err
}

// users returns a change of options: the token of a user is their name.
func users(t testing.TB, q *queue) func(*serve.Options) {
	t.Helper()
	var lines strings.Builder
	for _, u := range []string{"reader reader ml", "requester requester ml", "other requester research", "auditor reader *", "admin requester *"} {
		name, rest, _ := strings.Cut(u, " ")
		sum := sha256.Sum256([]byte(name))
		fmt.Fprintf(&lines, "%s %s %s\n", name, hex.EncodeToString(sum[:]), rest)
	}
	tokens, err := access.ParseTokens([]byte(lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	return func(o *serve.Options) { o.Authenticator, o.Jobs, o.Loopback = tokens, q, false }
}

const poolBody = `{"name":"%s","namespace":"ml","spec_name":"g1.1","image":"nginx:1.27","memory":"16Gi","gpu":1,"replicas":1}`

// TestAccess tries every operation as every user.
func TestAccess(t *testing.T) {
	t.Parallel()
	q := newQueue()
	h := handler(teams(t).Process(), users(t, q))
	existing, err := q.Submit(t.Context(), request.Request{StockPool: &request.StockPool{
		Name: "first", Namespace: "ml", SpecName: "g1.1", GPU: 1, Replicas: 1,
	}}, "requester", "first")
	if err != nil {
		t.Fatal(err)
	}
	exception := `{"duration":"1h","reason":"a test"}`
	for _, tt := range []struct {
		method, path, body string
		// of no token, reader, requester, requester of another namespace, reader of all, admin
		codes [6]int
	}{
		{"GET", "/livez", "", [6]int{200, 200, 200, 200, 200, 200}},
		{"GET", "/readyz", "", [6]int{200, 200, 200, 200, 200, 200}},
		{"GET", "/api/v1/health", "", [6]int{200, 200, 200, 200, 200, 200}},
		{"GET", "/api/v1/openapi.json", "", [6]int{200, 200, 200, 200, 200, 200}},
		{"GET", "/metrics", "", [6]int{401, 403, 403, 403, 200, 200}},
		{"GET", "/api/v1/status", "", [6]int{401, 403, 403, 403, 200, 200}},
		{"GET", "/api/v1/spotpools", "", [6]int{401, 403, 403, 403, 200, 200}},
		{"GET", "/api/v1/spotpools/ap-singapore/train", "", [6]int{401, 403, 403, 403, 404, 404}},
		{"GET", "/api/v1/budgets", "", [6]int{401, 200, 200, 200, 200, 200}},
		{"GET", "/api/v1/budgets/budget-ml", "", [6]int{401, 200, 200, 404, 200, 200}},
		{"GET", "/api/v1/budgets/budget-shared", "", [6]int{401, 404, 404, 404, 200, 200}},
		{"GET", "/api/v1/stockpools", "", [6]int{401, 200, 200, 200, 200, 200}},
		{"GET", "/api/v1/stockpools/ml/pool-ml", "", [6]int{401, 200, 200, 404, 200, 200}},
		{"GET", "/api/v1/operator/stockpools", "", [6]int{401, 200, 200, 200, 200, 200}},
		{"GET", "/api/v1/explain/budget/budget-ml", "", [6]int{401, 200, 200, 404, 200, 200}},
		{"GET", "/api/v1/explain/stock_pool/ml/pool-ml", "", [6]int{401, 200, 200, 404, 200, 200}},
		{"GET", "/api/v1/explain/spot_pool/ap-singapore/train", "", [6]int{401, 403, 403, 403, 404, 404}},
		{"GET", "/api/v1/usage", "", [6]int{401, 403, 403, 403, 200, 200}},
		{"GET", "/api/v1/usage?namespace=ml", "", [6]int{401, 200, 200, 403, 200, 200}},
		{"GET", "/api/v1/usage?namespace=ml&namespace=research", "", [6]int{401, 403, 403, 403, 200, 200}},
		{"GET", "/api/v1/usage?budget=budget-ml", "", [6]int{401, 200, 200, 404, 200, 200}},
		{"GET", "/api/v1/usage?budget=budget-shared", "", [6]int{401, 404, 404, 404, 200, 200}},
		{"GET", "/api/v1/history?since=1000d", "", [6]int{401, 200, 200, 200, 200, 200}},
		{"GET", "/api/v1/jobs", "", [6]int{401, 200, 200, 200, 200, 200}},
		{"GET", "/api/v1/jobs/" + existing.ID, "", [6]int{401, 200, 200, 404, 200, 200}},
		{"GET", "/api/v1/operator/jobs/" + existing.ID, "", [6]int{401, 200, 200, 404, 200, 200}},
		{"POST", "/api/v1/stockpools", fmt.Sprintf(poolBody, "new"), [6]int{401, 403, 202, 403, 403, 202}},
		{"POST", "/api/v1/stockpools", fmt.Sprintf(poolBody, "declared"), [6]int{401, 403, 409, 403, 403, 409}},
		{"POST", "/api/v1/stockpools", `{"name":"new","spec_name":"g1.1","gpu":1,"replicas":1}`, [6]int{401, 403, 403, 403, 403, 202}},
		{"POST", "/api/v1/operator/stockpools", `{"specName":"g1.1","namespace":"ml","replicas":1}`, [6]int{401, 403, 202, 403, 403, 202}},
		{"DELETE", "/api/v1/stockpools/ml/requested", "", [6]int{401, 403, 202, 403, 403, 202}},
		{"DELETE", "/api/v1/stockpools/ml/declared", "", [6]int{401, 403, 409, 403, 403, 409}},
		{"POST", "/api/v1/budgets/budget-ml/grants", `{"gpu_hours":"5","duration":"1h","reason":"a test"}`, [6]int{401, 403, 403, 403, 403, 202}},
		{"POST", "/api/v1/spotpools/ap-singapore/train/holds", exception, [6]int{401, 403, 403, 403, 403, 202}},
		{"POST", "/api/v1/runs", "{}", [6]int{401, 403, 403, 403, 403, 202}},
		{"DELETE", "/api/v1/jobs/" + existing.ID, "", [6]int{401, 403, 200, 404, 403, 409}},
	} {
		for n, token := range []string{"", "reader", "requester", "other", "auditor", "admin"} {
			headers := []string{"Content-Type: application/json"}
			if token != "" {
				headers = append(headers, "Authorization: Bearer "+token)
			}
			w := ask(t, h, tt.method, tt.path, tt.body, headers...)
			if w.Code != tt.codes[n] {
				t.Errorf("%s %s as %q: %d, want %d: %s", tt.method, tt.path, token, w.Code, tt.codes[n], w.Body)
			}
			if text := w.Body.String(); (token == "other") && strings.Contains(text, "budget-ml") && w.Code == 200 ||
				(token == "reader" || token == "requester") && w.Code == 200 &&
					(strings.Contains(text, "research") || strings.Contains(text, "budget-shared")) {
				t.Errorf("%s %s as %q has something foreign: %s", tt.method, tt.path, token, text)
			}
			if w.Code == http.StatusAccepted && !strings.HasPrefix(w.Header().Get("Location"), "/api/v1/") {
				t.Errorf("%s %s: no location", tt.method, tt.path)
			}
		}
	}
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process(), users(t, newQueue()))
	post := func(body string) *httptest.ResponseRecorder {
		return ask(t, h, "POST", "/api/v1/stockpools", body, "Content-Type: application/json", "Authorization: Bearer requester", "Idempotency-Key: k1")
	}
	first, again, other := post(fmt.Sprintf(poolBody, "a")), post(fmt.Sprintf(poolBody, "a")), post(fmt.Sprintf(poolBody, "b"))
	if first.Code != 202 || again.Code != 202 || first.Header().Get("Location") != again.Header().Get("Location") {
		t.Errorf("a repeated request: %d %s, then %d %s", first.Code, first.Header(), again.Code, again.Header())
	}
	if other.Code != http.StatusConflict {
		t.Errorf("another request with the same key: %d %s", other.Code, other.Body)
	}
}

// TestMalformedRequests sends 10,000 requests with random paths, headers and bodies.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	d, q := teams(t), newQueue()
	h := handler(d.Process(), users(t, q))
	before := d.Documents()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same requests each time
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	junk := func() string {
		data := make([]byte, r.IntN(40))
		for n := range data {
			data[n] = byte(r.IntN(256))
		}
		return string(data)
	}
	for n := range 10_000 {
		path := pick("/api/v1/stockpools", "/api/v1/operator/stockpools", "/api/v1/budgets/x/grants", "/api/v1/spotpools/a/b/holds", "/api/v1/runs",
			"/api/v1/jobs/"+junk(), "/api/v1/stockpools/"+junk()+"/X", "/api/v1/explain/budget/"+junk(), "/api/v1/history?since="+junk(),
			"/api/v1/usage?"+junk(), "/"+junk(), "/api/v1/"+junk())
		body := pick(junk(), "{", "[]", "null", `{"gpu":"1"}`, `{"replicas":-1}`, `{"name":{}}`, `{"duration":7}`, strings.Repeat("[", 60_000),
			`{"name":"`+strings.Repeat("a", 70_000)+`"}`, `{"spec_name":"g1.1","replicas":1e99}`, `{"unknown":1}`, `{"until":"never"}`)
		method := pick("GET", "POST", "POST", "POST", "PUT", "DELETE", "PATCH", "HEAD", "X")
		request, err := http.NewRequest(method, "http://127.0.0.1/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.URL.Path, request.URL.RawQuery, _ = strings.Cut(path, "?")
		request.URL.Path, request.RequestURI = path, path
		request.Header = http.Header{
			"Content-Type":    {pick("application/json", "application/json", "application/json; charset=x", "text/plain", junk(), "+;")},
			"Authorization":   {"Bearer " + pick("admin", "admin", "requester", "unknown", junk())},
			"Idempotency-Key": {junk()}, "Accept": {pick("", junk(), "*/*", "application/cbor")}, "If-None-Match": {junk()},
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request)
		if w.Code >= 500 || w.Code == http.StatusAccepted && !strings.HasSuffix(path, "runs") {
			t.Fatalf("request %d, %s %q %v %.100q: %d %s", n, request.Method, path, request.Header, body, w.Code, w.Body)
		}
	}
	after := d.Documents()
	for key, text := range after {
		if before[key] != text {
			t.Errorf("%s changed", key)
		}
	}
	for _, job := range q.jobs {
		if job.Type != request.TypeRun {
			t.Errorf("a malformed request was queued: %+v", job)
		}
	}
}
