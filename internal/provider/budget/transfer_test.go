package budget

import (
	"testing"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute/attributetest"
)

// An attribute without its line in transfer would be accepted in a configuration, and
// do nothing.
func TestEveryAttributeIsCarried(t *testing.T) {
	t.Parallel()
	attributetest.Carried(t, attributetest.Resource[model, core.Declaration]{
		Schema: budgetSchema(t),
		Into:   model.declaration,
		OutOf:  modelOf,
		Extra:  []string{"timeouts"},
	})
}
