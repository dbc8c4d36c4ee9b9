package stockpool

import (
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// model holds the resource's values. Collections have the framework's types, since they or
// their elements may be unknown.
type model struct {
	size
	container
	placement
	behavior
	kit.Record

	DeploymentUID types.String `tfsdk:"deployment_uid"`
}

var defaults = core.Declaration{}.WithDefaults()

func (m *model) transfer(x *attribute.Transfer, d *core.Declaration) {
	m.size.transfer(x, d)
	m.container.transfer(x, d)
	m.placement.transfer(x, d)
	m.behavior.transfer(x, d)
	m.Record.Transfer(x, &d.UID, &d.Generation, &d.ClusterUID)
	attribute.Text(x, &m.DeploymentUID, &d.DeploymentUID)
}

// declaration converts the values. A null or unknown value gets its default; an empty text does
// not, so that validation refuses it. Callers that may meet unknown values must not validate
// them.
func (m model) declaration() core.Declaration {
	d := core.Declaration{}.WithDefaults()
	m.transfer(attribute.Into(nil), &d)
	if attribute.AllKnown(m.EnvWO) && !m.EnvWO.IsNull() {
		attribute.TextMap(attribute.Into(nil), &m.EnvWO, &d.EnvWO, attribute.Exactly)
	}
	return d
}

// writeOnly adds the write-only values of a configuration to a plan's values.
func (m model) writeOnly(config model) model {
	m.EnvWO = config.EnvWO
	return m
}

// declared replaces the values that differ from d. Equivalent values stay as they were written:
// "1Gi" for 1024Mi.
func (m model) declared(d core.Declaration) model {
	d = d.WithDefaults()
	m.transfer(attribute.OutOf(), &d)
	m.EnvWO = types.MapNull(types.StringType)
	if m.WaitForRollout.IsNull() {
		m.WaitForRollout = types.BoolValue(true)
	}
	return m
}

// planned replaces values by equivalent ones of prior.
func (m model) planned(prior model) model {
	attribute.KeepWording(prior.transfer, m.transfer)
	return m
}

// filled returns the state after an apply: the plan, with its unknown values known.
func (m model) filled(d core.Declaration) model {
	m.Record = m.Record.Filled(d.UID, d.Generation, d.ClusterUID)
	m.DeploymentUID = values.Known(m.DeploymentUID, types.StringValue(d.DeploymentUID))
	return m
}

func (m model) equal(other model) bool { return attribute.Equal(m, other) }

func sameQuantity(a, b string) bool {
	was, errWas := resource.ParseQuantity(a)
	now, errNow := resource.ParseQuantity(b)
	return errWas == nil && errNow == nil && was.Cmp(now) == 0
}

// orNone converts zero to null.
var orNone = attribute.Kind[types.Int64, int]{
	Read: func(v types.Int64) (int, bool) { return int(v.ValueInt64()), true },
	Write: func(n int) types.Int64 {
		if n == 0 {
			return types.Int64Null()
		}
		return types.Int64Value(int64(n))
	},
	Same: func(a, b int) bool { return a == b },
}
