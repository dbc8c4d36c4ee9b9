package budget_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// TestPlansWarnOfWhatTheClusterDoesNotHave once the declaration needs it, and name what was probably meant.
func TestPlansWarnOfWhatTheClusterDoesNotHave(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.NewWithCluster(t))
	const headline = "Budget team-a needs what the cluster does not have"
	typo := values(selector(providertest.Values{"namespaces": []string{"opss"}}))
	contains(t, s.Plan(nil, typo).Diagnostics, "WARNING", `"selector"`, headline, `the namespace "opss", which does not exist in the cluster: did you mean "ops"?`)
	unprotected := values(providertest.Values{"enforcement": providertest.Values{"action": "evict", "protected_priority_class": "no-such-class"}})
	contains(t, s.Plan(nil, unprotected).Diagnostics, "WARNING", "protected_priority_class", `the priority class "no-such-class"`)
	o := create(t, s, values(nil))
	contains(t, s.Plan(o, typo).Diagnostics, headline)
	if p := s.Plan(o, values(nil)); strings.Contains(p.Diagnostics.String(), headline) {
		t.Errorf("of one that exists it warns: %s", p.Diagnostics)
	}
	s.Destroy(o)
}
