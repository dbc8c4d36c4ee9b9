package budget_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// A user who may label pods chooses their budget: a plan warns of the users who share one. Each
// case is a plan of the real Terraform.
func TestPlansWarnOfSharedBudgets(t *testing.T) {
	t.Parallel()
	const (
		anyone = "pods are selected only by labels, in all namespaces"
		shared = "is shared by several namespaces"
	)
	w := providertest.NewWithCluster(t)
	d := w.Terraform()
	for _, test := range []struct {
		name, selector, action string
		want, not              string
	}{
		{"labels alone, freeze", `{ match_labels = { team = "a" } }`, "freeze", anyone, shared},
		{"labels alone, pause", `{ match_labels = { team = "a" } }`, "pause", anyone, shared},
		{"labels alone, evict", `{ match_expressions = [{ key = "team", operator = "Exists" }] }`, "evict", anyone, shared},
		{"labels alone, alert", `{ match_labels = { team = "a" } }`, "alert_only", "", "namespaces"},
		{"one namespace", `{ namespaces = ["ml"], match_labels = { team = "a" } }`, "evict", "Budget team-a evicts pods", "namespaces"},
		{"one of the labeled", `{ namespaces = ["ml"], namespace_labels = { team = "a" } }`, "freeze", "", "namespaces"},
		{"two namespaces", `{ namespaces = ["ml", "dev"] }`, "evict", shared, anyone},
		{"labels of namespaces", `{ namespace_labels = { team = "a" } }`, "pause", shared, anyone},
		{"two namespaces, alert", `{ namespaces = ["ml", "dev"] }`, "alert_only", shared, anyone},
	} {
		d.Write(w.BudgetConfig(budget(attributes{"selector": test.selector, "enforcement": `{ action = "` + test.action + `" }`})))
		warnings, _ := d.Plan()
		if text := warned(warnings); !strings.Contains(text, test.want) || strings.Contains(text, test.not) {
			t.Errorf("%s: the plan should warn %q, and of no %q:\n%s", test.name, test.want, test.not, text)
		}
	}
}

// A plan warns once of a budget that becomes shared, and always of one that anyone can use up.
func TestPlansWarnOnceOfSharing(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	two := selector(providertest.Values{"namespaces": []string{"ml", "dev"}})
	three := selector(providertest.Values{"namespaces": []string{"ml", "dev", "ops"}})
	evict := enforcement(providertest.Values{"action": "evict"})
	p := s.Plan(nil, values(two))
	contains(t, p.Diagnostics, "WARNING", "is shared by several namespaces", "dev and ml")
	o, _ := s.Apply(p)
	if diags := s.Plan(o, values(two).With(providertest.Values{"thresholds": []int{90, 100}})).Diagnostics; len(diags) > 0 {
		t.Errorf("with other thresholds: %s", diags)
	}
	contains(t, s.Plan(o, values(three)).Diagnostics, "WARNING", "is shared by several namespaces", "dev, ml and ops")
	o, diags := apply(t, s, o, values(two).With(evict))
	contains(t, diags, "WARNING", "is shared by several namespaces", "pods may be evicted in any of them")

	labels := values(selector(providertest.Values{"match_labels": providertest.Values{"team": "a"}})).With(evict)
	o, diags = apply(t, s, o, labels)
	contains(t, diags, "WARNING", `"selector"`, "selected only by labels", "namespace_labels")
	contains(t, s.Plan(o, labels).Diagnostics, "selected only by labels")
	s.Destroy(o)
}

func warned(all []providertest.Message) string {
	var b strings.Builder
	for _, w := range all {
		b.WriteString(w.Severity + ": " + w.Summary + "\n" + w.Detail + "\n")
	}
	return b.String()
}
