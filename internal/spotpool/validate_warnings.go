package spotpool

import (
	"encoding/base64"
	"strings"
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
		v.Add("tags", "Omit one to be able to protect single instances from scale-in.", "with the pool's own tags, there is no room for gpupool/protected")
	}
	if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(d.Script())); err == nil && strings.HasPrefix(string(decoded), "#") {
		v.Add("user_data_raw", "Write it as plain text: it is encoded when it is sent.", "user data looks like base64 already")
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
		v.Add("max_hourly_cost", "Raise max_hourly_cost, or lower the offerings' spot_max_price.",
			"at the lowest spot_max_price %s, minimum %d costs %s, and max_hourly_cost is %s: the pool stays short if prices come near their caps",
			cheapest, d.Minimum, d.Currency.Hourly(full), d.MaxHourlyCost)
	}
}

func (v *validator) onDemandWarnings() {
	d := v.d
	switch {
	case d.OnDemandBase > 0 && d.InstanceChargeType != Spot:
		v.Add("on_demand_base", "Omit it, or set instance_charge_type to \"SPOTPAID\".", "on_demand_base has no effect if every instance is on-demand")
	case d.OnDemandBase > d.Minimum:
		v.Add("on_demand_base", "Raise minimum, or lower on_demand_base.", "on_demand_base is %d, and only minimum %d are launched", d.OnDemandBase,
			d.Minimum)
	}
	if f := d.OnDemandFallback; f != nil && d.Minimum > 0 && d.Minimum == d.Maximum {
		v.Add("on_demand_fallback", "Raise maximum by one to launch replacements first.",
			"minimum and maximum are both %d, so on the way back to spot each on-demand instance is terminated before its replacement is launched", d.Maximum)
	}
}

func (v *validator) refreshWarnings() {
	d, r := v.d, v.d.Refresh
	spare := d.Maximum - d.Minimum
	switch {
	case r.Strategy == RefreshOpportunistic && spare == 0 && d.Maximum > 0:
		v.Add("refresh.strategy", "Raise maximum, or set strategy to \"rolling\" with max_unavailable.",
			"minimum and maximum are both %d, so an opportunistic refresh never finds an instance to spare", d.Maximum)
	case r.Strategy == RefreshRolling && r.MaxSurge > spare:
		v.Add("refresh.max_surge", "Raise maximum, or lower max_surge.", "max_surge is %d, and maximum leaves room for %d above minimum", r.MaxSurge, spare)
	case r.Strategy == RefreshRolling && d.Minimum > 0 && r.MaxUnavailable >= d.Minimum:
		v.Add("refresh.max_unavailable", "Lower it below minimum to keep some instances working.",
			"max_unavailable is %d and minimum %d: a refresh may terminate every instance at once", r.MaxUnavailable, d.Minimum)
	}
}
