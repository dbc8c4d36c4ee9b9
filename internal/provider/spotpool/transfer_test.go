package spotpool

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute/attributetest"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// An attribute without its line in transfer would be accepted in a configuration, and
// do nothing.
func TestEveryAttributeIsCarried(t *testing.T) {
	t.Parallel()
	attributetest.Carried(t, attributetest.Resource[model, core.Declaration]{
		Schema: poolSchema(t),
		Into:   func(m model) core.Declaration { return m.declaration(&diag.Diagnostics{}) },
		OutOf:  imported,
		Extra:  []string{"timeouts", "user_data_raw_wo", "capacity", "planned_actions"},
	})
}
