package describe_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestASurplusIsNotCalledShort(t *testing.T) {
	t.Parallel()
	surplus := spotpool.Reason{Code: spotpool.BecauseSurplus}
	for want, reasons := range map[string]spotpool.Reasons{
		"surplus: ": {surplus}, "short: ": {surplus, {Code: spotpool.BecauseHold}},
	} {
		if got := describe.ShortLabel(spotpools.Report{ShortReasons: reasons}); got != want {
			t.Errorf("%v is labeled %q, not %q", reasons, got, want)
		}
	}
}
