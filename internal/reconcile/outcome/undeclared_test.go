package outcome_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// TestAPoolWithoutItsBudgetIsNotSentToARun, which measures no undeclared budget.
func TestAPoolWithoutItsBudgetIsNotSentToARun(t *testing.T) {
	t.Parallel()
	d := spotpool.Declaration{Name: "train", Region: "ap-singapore", Minimum: 1, Maximum: 2}
	for _, undeclared := range []bool{false, true} {
		gate := spotpool.Gate{Closed: true, Unknown: true, Undeclared: undeclared, Reason: reason.OtherVersion("x")}
		short := decide.Decide(decide.Situation{Declaration: d.WithDefaults(), Gate: gate}).Short
		if remedy := outcome.ShortRemedy("spot_pool/ap-singapore/train", short).String(); strings.Contains(remedy, "Declare the budget") != undeclared ||
			strings.Contains(remedy, "gpupool reconcile") == undeclared {
			t.Errorf("undeclared %v, what to do is %q: %v", undeclared, remedy, short)
		}
	}
}
