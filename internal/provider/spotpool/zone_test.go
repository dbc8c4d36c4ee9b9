package spotpool_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// Zone names are checked in one place: instances in a zone that is not named after its region
// with a number are the pool's own.
func TestAZoneOfAnUncommonName(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	config := train(offerings(offering("ap-singapore-ez-1", "GN8.LARGE56", nil)))
	o := create(t, s, config)
	if n := len(w.Pool("train")); n != 2 {
		t.Errorf("the pool has %d instances, want 2", n)
	}
	o, diags := s.Read(o)
	if p := s.Plan(o, config); len(diags)+len(p.Diagnostics) > 0 {
		t.Errorf("%s%s", diags, p.Diagnostics)
	}
	report, err := w.Process().Runner().Run(t.Context(), reconcile.RunOptions{})
	if err != nil || report.Changes() {
		t.Errorf("%+v, %v", report.Decisions, err)
	}
	s.Destroy(o)
}
