package spotpool_test

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// TestAPoolOnHold has plans warn of a hold and find no difference, and an apply record
// what is declared and launch nothing.
func TestAPoolOnHold(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	o := create(t, s, train(nil))
	if _, err := w.Process().SpotPools().Hold(t.Context(), "train", exception.Request{For: time.Hour, Who: "ann", Why: "looking"}); err != nil {
		t.Fatal(err)
	}
	s = fresh(t, w)
	o, diags := s.Read(o)
	const remedy = ": looking. Until then, no instance is launched or terminated. To end the hold:\ngpupool release ap-singapore/train"
	p := s.Plan(o, train(nil))
	contains(t, append(diags, p.Diagnostics...), "WARNING", "On hold by ann until", remedy)
	if !p.State.Equal(o.State) {
		t.Errorf("a plan finds a difference: %s", p.State)
	}
	p = s.Plan(o, train(nil).With(providertest.Values{"minimum": 3}))
	if actions, _ := p.Attribute("planned_actions").([]any); len(actions) > 0 {
		t.Errorf("planned on hold: %v", actions)
	}
	o, diags = s.Apply(p)
	contains(t, diags, "WARNING", "below the minimum of 3", remedy)
	if n := len(w.Pool("train")); n != 2 {
		t.Errorf("%d instances, not 2", n)
	}
	if _, err := w.Process().SpotPools().Release(t.Context(), "train", exception.Release{Who: "ann"}); err != nil {
		t.Fatal(err)
	}
	s.Destroy(o)
}
