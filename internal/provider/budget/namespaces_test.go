package budget_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// TestPlansWarnOfANamespaceThatDoesNotExist once the selector names it, and name the one
// that was probably meant.
func TestPlansWarnOfANamespaceThatDoesNotExist(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.NewWithCluster(t))
	const headline = "Budget team-a names a namespace that does not exist"
	typo := values(selector(providertest.Values{"namespaces": []string{"opss"}}))
	contains(t, s.Plan(nil, typo).Diagnostics, "WARNING", `"selector"`, headline, `the namespace "opss", which does not exist in the cluster: did you mean "ops"?`)
	o := create(t, s, values(nil))
	contains(t, s.Plan(o, typo).Diagnostics, headline)
	if p := s.Plan(o, values(nil)); strings.Contains(p.Diagnostics.String(), headline) {
		t.Errorf("of one that exists it warns: %s", p.Diagnostics)
	}
	s.Destroy(o)
}
