package describe_test

import (
	"slices"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

func TestSharesOfUsersSumToTheWhole(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]budgets.UsageReport{
		"by namespace: ml 0.505 (51%), web 0.495 (49%)": {
			ByNamespace: map[string]string{"ml": "0.505", "web": "0.495"}, ConsumedMilliGPUSeconds: 3_600_000,
		},
		"by namespace: ml 0.001 (100%)": { // 0.0006, which is rounded
			ByNamespace: map[string]string{"ml": "0.001"}, ConsumedMilliGPUSeconds: 2_000,
		},
		"by namespace: a 0.335 (34%), b 0.335 (34%), c 0.165 (16%), 2 others 0.165 (16%)": {
			ByNamespace: map[string]string{"a": "0.335", "b": "0.335", "c": "0.165", "d": "0.100", "e": "0.065"}, ConsumedMilliGPUSeconds: 3_600_000,
		},
		"by namespace: ml 0.000": {ByNamespace: map[string]string{"ml": "0.000"}},
	} {
		d := &describe.Details{}
		if d.Users(&u, 1); !slices.Equal(d.Lines, []string{want}) {
			t.Errorf("got %q, want %q", d.Lines, want)
		}
	}
}
