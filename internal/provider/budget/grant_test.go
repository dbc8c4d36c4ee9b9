package budget_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// TestAGrantIsNoDrift has plans warn of a grant and find no difference in gpu_hours.
func TestAGrantIsNoDrift(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	config := providertest.Values{"name": "team-a", "gpu_hours": "100", "window": "24h", "selector": providertest.Values{"namespaces": []any{"ml"}}}
	o := create(t, s, config)
	if _, err := w.Process().Budgets().Grant(t.Context(), "team-a", "50", exception.Request{For: time.Hour, Who: "ann", Why: "release 3.1"}); err != nil {
		t.Fatal(err)
	}
	o, diags := s.Read(o)
	p := s.Plan(o, config)
	text := append(diags, p.Diagnostics...).String()
	if !strings.Contains(text, "Granted in addition to the declared 100: 50 GPU-hours by ann until ") ||
		!strings.Contains(text, ": release 3.1. To end the grant: gpupool release budget/team-a") {
		t.Errorf("got %s", text)
	}
	if !p.State.Equal(o.State) {
		t.Errorf("a plan finds a difference: %s", p.State)
	}
	s.Destroy(o)
}
