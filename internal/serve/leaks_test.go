package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// TestARequestTellsNothingOfForeignBudgets: the answer about another's budget is that about none.
func TestARequestTellsNothingOfForeignBudgets(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process(), users(t, newQueue()))
	body := `{"name":"g1","namespace":"ml","spec_name":"g1.1","gpu":1,"replicas":1,"memory":"1Gi","budget":"%s"}`
	answers := map[string]string{}
	for _, name := range []string{"budget-research", "budget-shared", "budget-none"} {
		w := ask(t, h, http.MethodPost, "/api/v1/stockpools", fmt.Sprintf(body, name), "Content-Type: application/json", "Authorization: Bearer requester")
		answers[fmt.Sprint(w.Code, strings.ReplaceAll(w.Body.String(), name, "NAME"))] = name
	}
	if len(answers) != 1 {
		t.Errorf("the answers differ: %v", answers)
	}
}

// TestReasonsOfEventsAreHidden where they name others' objects, as in all other texts.
func TestReasonsOfEventsAreHidden(t *testing.T) {
	t.Parallel()
	d := teams(t)
	grant := exception.Request{For: time.Hour, Who: "ann", Why: "instead of budget-research"}
	if _, err := d.Budgets().Grant(t.Context(), "budget-ml", "5", grant); err != nil {
		t.Fatal(err)
	}
	h := handler(d.Process(), users(t, newQueue()))
	for _, path := range []string{"/api/v1/history?since=24h", "/api/v1/explain/budget/budget-ml", "/api/v1/budgets/budget-ml"} {
		if w := ask(t, h, http.MethodGet, path, "", "Authorization: Bearer reader"); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "research") {
			t.Errorf("GET %s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestEventsFromBeforeASelectorWasNarrowed are visible if they name only pods of namespaces that the user may read.
func TestEventsFromBeforeASelectorWasNarrowed(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	wide := d.Declare(func(b *budget.Declaration) {
		b.Name, b.Selector = "team", budget.Selector{Namespaces: []string{"ml", "web"}}
		b.Enforce = budget.Enforcement{Action: budget.Evict, GracePeriod: "0s"}
	})
	d.Cluster.Start("ml", "train-mine", 4)
	d.Cluster.Start("web", "train-foreign", 4)
	for range 4 {
		d.Run()
		d.Cluster.Step(30 * time.Minute)
	}
	narrow := wide
	narrow.Selector.Namespaces = []string{"ml"}
	if _, err := d.Budgets().Update(t.Context(), narrow); err != nil {
		t.Fatal(err)
	}
	for _, measured := range []bool{false, true} {
		h := handler(d.Process(), users(t, newQueue()))
		for _, path := range []string{
			"/api/v1/history?since=24h", "/api/v1/explain/budget/team", "/api/v1/budgets", "/history", "/teams/ml", "/budgets/team", "/history?text=foreign",
		} {
			w := ask(t, h, http.MethodGet, path, "", "Authorization: Bearer reader")
			text := strings.ReplaceAll(w.Body.String(), `value="foreign"`, "")
			if w.Code != http.StatusOK || strings.Contains(text, "foreign") {
				t.Errorf("GET %s: %d %s", path, w.Code, text)
			}
		}
		of := read(t, h, "/api/v1/budgets/team", "Authorization: Bearer reader")
		if _, there := of["consumed_gpu_hours"]; of["observed"] != measured || there != measured {
			t.Errorf("measured (%v), the budget is %v", measured, of)
		}
		wantIn(t, page(t, h, "/history", "Authorization: Bearer reader"), "ml/train-mine")
		wantIn(t, page(t, h, "/history", "Authorization: Bearer admin"), "ml/train-mine", "web/train-foreign")
		d.Run()
	}
}
