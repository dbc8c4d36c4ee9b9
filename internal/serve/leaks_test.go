package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
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
