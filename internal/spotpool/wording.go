package spotpool

import "github.com/gpupool/terraform-provider-gpupool/internal/wording"

func isAre(n int) string { return wording.Plural(n, "is", "are") }

func hasHave(n int) string { return wording.Plural(n, "has", "have") }

// kindOf says how people call a charge type.
func kindOf(charge ChargeType) string {
	if charge == OnDemand {
		return "on-demand"
	}
	return "spot"
}
