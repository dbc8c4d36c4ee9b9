package spotpooldata

import (
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// drain is the drain of an instance's node.
type drain struct {
	Phase         types.String   `tfsdk:"phase"`
	AskedAt       types.String   `tfsdk:"asked_at"`
	DrainingSince types.String   `tfsdk:"draining_since"`
	PodsLeft      types.Int64    `tfsdk:"pods_left"`
	Blocked       []types.String `tfsdk:"blocked"`
}

// newDrain returns nil if the node is not drained.
func newDrain(d node.Drain) *drain {
	if d.Phase == node.NoDrain {
		return nil
	}
	m := &drain{
		Phase: types.StringValue(string(d.Phase)), AskedAt: values.OfTime(d.AskedAt), DrainingSince: values.OfTime(d.Since),
		PodsLeft: number(d.Left), Blocked: []types.String{},
	}
	for _, why := range d.Blocked {
		m.Blocked = append(m.Blocked, types.StringValue(why))
	}
	return m
}

// gpuPods returns null if the pods were not counted.
func gpuPods(m decide.Member) types.Int64 {
	if m.GPUPods == nil {
		return types.Int64Null()
	}
	return number(*m.GPUPods)
}
