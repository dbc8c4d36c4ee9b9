package notification

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

// model has the resource's values. Collections have the framework's types, since they or their
// elements may be unknown.
type model struct {
	Name          types.String `tfsdk:"name"`
	Type          types.String `tfsdk:"type"`
	URL           types.String `tfsdk:"url_wo"`
	URLVersion    types.Int64  `tfsdk:"url_wo_version"`
	Secret        types.String `tfsdk:"secret_wo"`
	SecretVersion types.Int64  `tfsdk:"secret_wo_version"`
	Events        types.List   `tfsdk:"events"`
	Objects       types.List   `tfsdk:"objects"`
	Thresholds    types.List   `tfsdk:"thresholds"`
	Digest        types.String `tfsdk:"digest"`
	QuietHours    types.Object `tfsdk:"quiet_hours"`
	TimeZone      types.String `tfsdk:"time_zone"`
	PageURL       types.String `tfsdk:"page_url"`
	kit.Base
}

// transfer copies the values into a declaration or out of it, except the write-only ones.
func (m *model) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Text(x, &m.Name, &d.Name)
	attribute.Text(x, &m.Type, &d.Type)
	attribute.OptionalNumber(x, &m.URLVersion, &d.URLVersion)
	attribute.OptionalNumber(x, &m.SecretVersion, &d.SecretVersion)
	attribute.Members(x, &m.Events, &d.Events)
	attribute.Members(x, &m.Objects, &d.Objects)
	attribute.Carry(x, percents, &m.Thresholds, &d.Thresholds)
	attribute.Spelled(x, &m.Digest, &d.Digest, attribute.SameDuration)
	attribute.Optional(x, &m.QuietHours, quietHoursTypes, &d.QuietHours, core.QuietHours{}, quietHoursFields)
	attribute.Text(x, &m.TimeZone, &d.TimeZone)
	attribute.Text(x, &m.PageURL, &d.PageURL)
	m.Base.Transfer(x, &d.UID, &d.Generation)
}

// percents are whole numbers in any order: a validation refuses others.
var percents = attribute.Kind[types.List, []int]{
	Read: values.Numbers,
	Write: func(list []int) types.List {
		if len(list) == 0 {
			return types.ListNull(types.NumberType)
		}
		return values.OfNumbers(list)
	},
	Same: attribute.SameMembers[int],
}

var quietHoursTypes = attribute.Types(quietHoursAttributes())

func quietHoursAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"start": kit.Text(kit.Required, "Start of the quiet hours, as hours and minutes such as `\"22:00\"`."),
		"end":   kit.Text(kit.Required, "End of the quiet hours, such as `\"07:00\"`. If it is earlier than `start`, it is on the next day."),
	}
}

func quietHoursFields(x *attribute.Transfer, f *attribute.Fields, q *core.QuietHours) {
	attribute.Text(x, f.Text("start"), &q.Start)
	attribute.Text(x, f.Text("end"), &q.End)
}

// declaration converts the values. The write-only ones are only in the values of a configuration.
// A caller with unknown values must not validate the result.
func (m model) declaration() core.Declaration {
	var d core.Declaration
	m.transfer(attribute.Into(nil), &d)
	d.URL, d.Secret = m.URL.ValueString(), m.Secret.ValueString()
	return d
}

// writeOnly adds the write-only values of a configuration to a plan's values.
func (m model) writeOnly(config model) model {
	m.URL, m.Secret = config.URL, config.Secret
	return m
}

// declared replaces the values that differ from d. Equal values keep their wording, such as "1h"
// for 60m, or the order of a list.
func (m model) declared(d core.Declaration) model {
	m.transfer(attribute.OutOf(), &d)
	m.URL, m.Secret = types.StringNull(), types.StringNull()
	return m
}

// planned returns a plan's values. Equal values keep prior's wording.
func (m model) planned(prior model) model {
	attribute.KeepWording(prior.transfer, m.transfer)
	return m
}

// filled returns the state after an apply: the plan with its unknown values.
func (m model) filled(d core.Declaration) model {
	m.Base = m.Base.Filled(d.UID, d.Generation)
	return m
}

// declares reports whether both declare the same, as far as values are known.
func (m model) declares(prior model) bool {
	m.Timeouts, m.Generation = prior.Timeouts, prior.Generation
	return attribute.Equal(m, prior)
}
