package budget

import (
	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

// model is the resource's values. Collections have the framework's own types, since
// they or their elements may be unknown.
type model struct {
	limit
	selector
	enforcement
	counting
	kit.Record
}

// defaults is the declaration of a budget that leaves everything out.
var defaults = core.Declaration{}.WithDefaults()

// transfer carries the values into a declaration or out of it.
func (m *model) transfer(x *attribute.Transfer, d *core.Declaration) {
	m.limit.transfer(x, d)
	m.selector.transfer(x, d)
	m.enforcement.transfer(x, d)
	m.counting.transfer(x, d)
	m.Record.Transfer(x, &d.UID, &d.Generation, &d.ClusterUID)
}

// declaration reads the values as a declaration. A value that is null or unknown gets
// its default; an empty text does not, since someone wrote it. A caller that may meet
// unknown values must not validate them.
func (m model) declaration() core.Declaration {
	d := core.Declaration{}.WithDefaults()
	m.transfer(attribute.Into(nil), &d)
	return d
}

// declared replaces the values that differ from d. Values that mean the same stay as
// they were written: "1d" for 24h, lists in another order. A zone that was left out
// stays so: it has no default in the schema, since a rolling window has none.
func (m model) declared(d core.Declaration) model {
	zone := d.TimeZone
	d = d.WithDefaults()
	d.TimeZone = zone
	m.transfer(attribute.OutOf(), &d)
	return m
}

// planned is a plan's values, with prior's where they mean the same: "1d" for 24h,
// "100.0" for 100, "0.5" for 1/2, lists in another order. A plan then shows no change
// where there is none.
func (m model) planned(prior model) model {
	attribute.KeepWording(prior.transfer, m.transfer)
	return m
}

func sameDuration(a, b string) bool {
	was, errWas := duration.Parse(a)
	now, errNow := duration.Parse(b)
	return errWas == nil && errNow == nil && was == now
}

// filled is the state after an apply: the plan, with its unknown values filled in.
func (m model) filled(d core.Declaration) model {
	m.Record = m.Record.Filled(d.UID, d.Generation, d.ClusterUID)
	return m
}

// equal reports whether all values are the same.
func (m model) equal(other model) bool { return attribute.Equal(m, other) }
