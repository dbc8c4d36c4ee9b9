package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// TestResponsesFitTheirDescription validates responses by the schemas of the OpenAPI document.
func TestResponsesFitTheirDescription(t *testing.T) {
	t.Parallel()
	d := teams(t)
	for _, key := range []store.Key{
		{Kind: store.Budgets, Name: "damaged"}, {Kind: store.SpotPools, Name: "ap-singapore/damaged"}, {Kind: store.StockPools, Name: "ml/damaged"},
	} {
		if _, err := d.Store().Write(t.Context(), key, []byte("{}"), ""); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	doc := api.Add(mux, api.Options{Source: snapshot.New(d.Process()), Version: "1.2.3", Jobs: newQueue()})
	h := handler(d.Process())
	for path, fill := range map[string][]string{
		"/api/v1/health": nil, "/api/v1/status": nil, "/api/v1/budgets": nil, "/api/v1/stockpools": nil, "/api/v1/spotpools": nil,
		"/api/v1/budgets/{name}":                        {"{name}", "budget-ml"},
		"/api/v1/jobs":                                  nil,
		"/api/v1/stockpools/{namespace}/{name}":         {"{namespace}", "ml", "{name}", "pool-ml"},
		"/api/v1/explain/budget/{name}":                 {"{name}", "budget-ml"},
		"/api/v1/explain/stock_pool/{namespace}/{name}": {"{namespace}", "ml", "{name}", "pool-ml"},
		"/api/v1/explain/spot_pool/{region}/{name}":     {"{region}", "ap-singapore", "{name}", "damaged"},
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

// TestEnumsAreTheConstants compares each list of values with the constants of its type.
func TestEnumsAreTheConstants(t *testing.T) {
	t.Parallel()
	enums := api.Enums()
	if len(enums) == 0 {
		t.Fatal("no type is listed")
	}
	for of, values := range enums {
		_, folder, _ := strings.Cut(of.PkgPath(), "/internal/")
		var listed []string
		for _, value := range values {
			listed = append(listed, value.(string))
		}
		slices.Sort(listed)
		if constants := constantsOf(t, filepath.Join("..", folder), of); len(listed) == 0 || !slices.Equal(listed, constants) {
			t.Errorf("%s:\n%q, and the constants are\n%q", of, listed, constants)
		}
	}
}

// constantsOf returns the texts of the constants of a type, sorted and without the empty one.
func constantsOf(t *testing.T, folder string, of reflect.Type) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if typed, ok := spec.Type.(*ast.Ident); !ok || typed.Name != of.Name() || len(spec.Values) != 1 {
				return true
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && text != "" {
				texts = append(texts, text)
			}
			return true
		})
	}
	slices.Sort(texts)
	return texts
}

// TestFieldsHaveEnums looks up fields that clients switch on.
func TestFieldsHaveEnums(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	doc := api.Add(http.NewServeMux(), api.Options{Source: snapshot.New(d.Process()), Version: "1.2.3", Jobs: newQueue()})
	for field, value := range map[string]string{
		"RequestJob.state": "queued", "RequestJob.type": "stock_pool", "HistoryEvent.kind": "launch", "OutcomeErrorReport.class": "quota",
		"BudgetsDescription.state": "Exceeded", "BudgetsDescription.outcome": "done", "BudgetsDescription.action": "pause",
		"BudgetsDescription.enforced": "freeze", "SpotpoolsDescription.state": "InSync", "SpotpoolsDescription.phase": "active",
		"SpotpoolDecision.kind": "launch", "SpotpoolDecideMember.condition": "running", "StockpoolsDescription.phase": "Ready",
		"StockpoolsDescription.record_phase": "deleting", "StockPoolBody.replicas_policy": "total", "Decision.outcome": "planned",
	} {
		schema, property, _ := strings.Cut(field, ".")
		s := doc.Components.Schemas.Map()[schema].Properties[property]
		if s.Items != nil {
			s = s.Items
		}
		if !slices.Contains(s.Enum, any(value)) {
			t.Errorf("%s: the values are %q", field, s.Enum)
		}
	}
}

// TestOperatorPoolsThatWereNotObserved: a client of the replaced operator reads a missing number as 0.
func TestOperatorPoolsThatWereNotObserved(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/operator/stockpools"
	d := teams(t)
	away := d.Process()
	away.Cluster = func(context.Context) (reconcile.Cluster, error) { return nil, errors.New("connection refused") }
	w := ask(t, handler(away), http.MethodGet, path, "")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "connection refused") {
		t.Errorf("without the cluster: %d %s", w.Code, w.Body)
	}
	if _, err := d.Store().Write(t.Context(), store.Key{Kind: store.StockPools, Name: "ml/damaged"}, []byte("{}"), ""); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, item := range read(t, handler(d.Process()), path)["items"].([]any) {
		pool := item.(map[string]any)
		got[fmt.Sprint(pool["name"])] = fmt.Sprint(pool["phase"] == "Unknown", " ", pool["available"], " ", pool["allocated"], " ", pool["observedGeneration"])
	}
	want := map[string]string{"damaged": "true <nil> <nil> <nil>", "pool-ml": "false 1 0 1", "pool-research": "false 1 0 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stock pools (-want +got):\n%s", diff)
	}
}
