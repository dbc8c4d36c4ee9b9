package serve_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// TestResponsesFitTheirDescription validates responses by the schemas of the OpenAPI document.
func TestResponsesFitTheirDescription(t *testing.T) {
	t.Parallel()
	d := teams(t)
	mux := http.NewServeMux()
	doc := api.Add(mux, api.Options{Source: snapshot.New(d.Process()), Version: "1.2.3", Jobs: newQueue()})
	h := handler(d.Process())
	for path, fill := range map[string][]string{
		"/api/v1/health": nil, "/api/v1/status": nil, "/api/v1/budgets": nil, "/api/v1/stockpools": nil, "/api/v1/spotpools": nil,
		"/api/v1/budgets/{name}":                        {"{name}", "budget-ml"},
		"/api/v1/stockpools/{namespace}/{name}":         {"{namespace}", "ml", "{name}", "pool-ml"},
		"/api/v1/explain/budget/{name}":                 {"{name}", "budget-ml"},
		"/api/v1/explain/stock_pool/{namespace}/{name}": {"{namespace}", "ml", "{name}", "pool-ml"},
		"/api/v1/usage":                                 nil,
		"/api/v1/history":                               nil,
	} {
		operation := doc.Paths[path].Get
		schema := operation.Responses["200"].Content["application/json"].Schema
		var body any = read(t, h, strings.NewReplacer(fill...).Replace(path))
		result := &huma.ValidateResult{}
		huma.Validate(doc.Components.Schemas, schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeReadFromServer, body, result)
		for _, err := range result.Errors {
			t.Errorf("GET %s: %v", path, err)
		}
	}
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			OperationID string                    `json:"operationId"`
			Summary     string                    `json:"summary"`
			Responses   map[string]map[string]any `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	text := ask(t, handler(reconciletest.NewFixture(t).Process()), "GET", "/api/v1/openapi.json", "").Body.Bytes()
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if o.OperationID == "" || o.Summary == "" || ids[o.OperationID] || len(o.Responses) == 0 {
				t.Errorf("%s %s is not described: %+v", method, path, o)
			}
			ids[o.OperationID] = true
		}
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || len(ids) < 10 {
		t.Errorf("OpenAPI %s has only %v", doc.OpenAPI, slices.Sorted(maps.Keys(ids)))
	}
	for _, ref := range strings.Split(string(text), `"$ref":"#/components/schemas/`)[1:] {
		if name, _, _ := strings.Cut(ref, `"`); doc.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
}
