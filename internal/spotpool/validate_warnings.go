package spotpool

import (
	"encoding/base64"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Warnings returns what is allowed in a declaration, but probably not intended. The
// declaration must be valid, with its defaults filled in.
func (d Declaration) Warnings() []Problem {
	v := &validator{d: d}
	v.costWarnings()
	v.onDemandWarnings()
	v.refreshWarnings()
	v.budgetWarnings()
	if len(d.Tags) == maxTags-len(OwnTags()) {
		v.Add("tags", reason.NoRoomForProtection())
	}
	if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(d.Script())); err == nil && strings.HasPrefix(string(decoded), "#") {
		v.Add("user_data_raw", reason.UserDataEncoded())
	}
	return v.List
}

// costWarnings compares the hourly cost cap with the cost of the minimum at the price caps.
func (v *validator) costWarnings() {
	d := v.d
	if d.MaxHourlyCost == 0 || d.Minimum == 0 || d.InstanceChargeType != Spot {
		return
	}
	var cheapest Price
	for _, o := range d.Offerings {
		if o.SpotMaxPrice == 0 {
			return
		}
		if cheapest == 0 || o.SpotMaxPrice < cheapest {
			cheapest = o.SpotMaxPrice
		}
	}
	if full := Price(d.Minimum) * cheapest; full > d.MaxHourlyCost {
		v.Add("max_hourly_cost", reason.CostBelowCaps(
			reason.Price{Amount: cheapest.String()}, reason.Count(d.Minimum), reason.Price{Amount: full.String(), Currency: string(d.Currency)},
			reason.Price{Amount: d.MaxHourlyCost.String()},
		))
	}
}

func (v *validator) onDemandWarnings() {
	d := v.d
	switch {
	case d.OnDemandBase > 0 && d.InstanceChargeType != Spot:
		v.Add("on_demand_base", reason.BaseHasNoEffect())
	case d.OnDemandBase > d.Minimum:
		v.Add("on_demand_base", reason.BaseAboveMinimum(reason.Count(d.OnDemandBase), reason.Count(d.Minimum)))
	}
	if f := d.OnDemandFallback; f != nil && d.Minimum > 0 && d.Minimum == d.Maximum {
		v.Add("on_demand_fallback", reason.FallbackNoRoom(reason.Count(d.Maximum)))
	}
}

func (v *validator) refreshWarnings() {
	d, r := v.d, v.d.Refresh
	spare := d.Maximum - d.Minimum
	switch {
	case r.Strategy == RefreshOpportunistic && spare == 0 && d.Maximum > 0:
		v.Add("refresh.strategy", reason.NeverOpportune(reason.Count(d.Maximum)))
	case r.Strategy == RefreshRolling && r.MaxSurge > spare:
		v.Add("refresh.max_surge", reason.SurgeAboveRoom(reason.Count(r.MaxSurge), reason.Count(spare)))
	case r.Strategy == RefreshRolling && d.Minimum > 0 && r.MaxUnavailable >= d.Minimum:
		v.Add("refresh.max_unavailable", reason.AllUnavailable(reason.Count(r.MaxUnavailable), reason.Count(d.Minimum)))
	}
}
