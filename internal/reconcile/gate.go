package reconcile

import (
	"context"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// gate says whether a pool's budget lets it launch. A budget that has no status
// in the store keeps the gate closed: what it has used is unknown.
func (e *Engine) gate(_ context.Context, d spotpool.Declaration) spotpool.Gate {
	if d.Budget == "" {
		return spotpool.Gate{}
	}
	return spotpool.Gate{Closed: true, Reason: fmt.Sprintf("its budget %q has no status in the store %s, so nothing is launched", d.Budget, e.Store)}
}
