package budget

import (
	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

// model has the resource's values. Collections have the framework's types, since they or their
// elements may be unknown.
type model struct {
	limit
	selector
	enforcement
	counting
	kit.Record
}

var defaults = core.Declaration{}.WithDefaults()

// transfer copies the values into a declaration or out of it.
func (m *model) transfer(x *attribute.Transfer, d *core.Declaration) {
	m.limit.transfer(x, d)
	m.selector.transfer(x, d)
	m.enforcement.transfer(x, d)
	m.counting.transfer(x, d)
	m.Record.Transfer(x, &d.UID, &d.Generation, &d.ClusterUID)
}

// declaration converts the values. A null or unknown value gets its default, an empty string does
// not. A caller with unknown values must not validate them.
func (m model) declaration() core.Declaration {
	d := core.Declaration{}.WithDefaults()
	m.transfer(attribute.Into(nil), &d)
	return d
}

// declared replaces the values that differ from d. Equal values keep their wording, such as "1d"
// for 24h, or the order of a list. An omitted zone stays null: a rolling window has none.
func (m model) declared(d core.Declaration) model {
	zone := d.TimeZone
	d = d.WithDefaults()
	d.TimeZone = zone
	m.transfer(attribute.OutOf(), &d)
	return m
}

// planned returns a plan's values. Equal values keep prior's wording, such as "1d" for 24h,
// "100.0" for 100, or the order of a list. So a plan shows only real changes.
func (m model) planned(prior model) model {
	attribute.KeepWording(prior.transfer, m.transfer)
	return m
}

// filled returns the state after an apply: the plan with its unknown values.
func (m model) filled(d core.Declaration) model {
	m.Record = m.Record.Filled(d.UID, d.Generation, d.ClusterUID)
	return m
}

func (m model) equal(other model) bool { return attribute.Equal(m, other) }
