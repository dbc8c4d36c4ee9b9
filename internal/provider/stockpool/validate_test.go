package stockpool

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TestAPortMayBeAnotherThanOneThatIsNotKnownYet: duplicates are reported once all ports are
// known.
func TestAPortMayBeAnotherThanOneThatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	port := func(protocol types.String) attr.Value {
		return types.ObjectValueMust(portTypes, map[string]attr.Value{"port": types.Int64Value(53), "name": types.StringNull(), "protocol": protocol})
	}
	for want, protocol := range map[int]types.String{0: types.StringUnknown(), 1: types.StringValue("TCP")} {
		m := modelOf(core.Declaration{Name: "p", Namespace: "n", SpecName: "s", Image: "i", Memory: "1Gi"}.WithDefaults())
		m.Ports = types.ListValueMust(types.ObjectType{AttrTypes: portTypes}, []attr.Value{port(protocol), port(types.StringValue("TCP"))})
		if list := m.problems(nil); len(list) != want {
			t.Errorf("with the protocol %s the problems are %v, want %d", protocol, list, want)
		}
	}
}
