package outcome

import (
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// remedies are what to do about errors of a class, where the error itself does not
// know better.
var remedies = map[errorclass.Class]string{
	errorclass.Capacity:      "Wait: the next runs try again. Or list offerings in other zones or of other instance types.",
	errorclass.Price:         "Raise spot_max_price, or leave it out for the market price. Or list other offerings.",
	errorclass.Quota:         "Ask the cloud for a higher quota, or list offerings in other zones: each zone has its own.",
	errorclass.Configuration: "Correct what the message names, in the declaration or in gpupool's own configuration.",
	errorclass.Authorisation: "Give gpupool credentials that are valid and may do this.",
	errorclass.Transient:     "Nothing, at first: the next run tries again. Where it stays, check the network from here to what was asked.",
}

// remedyOf is what to do about an error: what the error itself says, or else what
// helps against its class; empty where neither is known, and the message says all
// there is to say.
func remedyOf(err error, class errorclass.Class) string {
	if cloud, ok := spotpool.AsCloudError(err); ok && cloud.Remedy != "" {
		return cloud.Remedy
	}
	var advised interface{ Advice() string } // a Kubernetes API server's, and a wrong cluster's
	if errors.As(err, &advised) {
		if advice := advised.Advice(); advice != "" {
			return advice
		}
	}
	return remedies[class]
}

// shortRemedies are what to do about what keeps a pool short, where it is more than
// to wait for the next run.
var shortRemedies = map[spotpool.Code]string{
	spotpool.BecauseHold:            "Wait until the hold ends, or end it now: gpupool release POOL.",
	spotpool.BecauseGate:            "Wait until its budget recovers, raise its limit, or give it hours for a while: gpupool grant.",
	spotpool.BecauseGateUnknown:     "Have gpupool reconcile run and reach the cluster: it judges the budget.",
	spotpool.BecauseGateUndeclared:  "Declare the budget, or name another or none in the pool.",
	spotpool.BecauseHourlyCap:       "Raise max_hourly_cost, or list cheaper offerings.",
	spotpool.BecauseQuota:           remedies[errorclass.Quota],
	spotpool.BecauseAboveMaxPrice:   remedies[errorclass.Price],
	spotpool.BecauseSoldOut:         remedies[errorclass.Capacity],
	spotpool.BecauseCooldown:        remedies[errorclass.Capacity],
	spotpool.BecauseNotSold:         "List offerings that the cloud sells: gpupool offers shows them.",
	spotpool.BecauseMaximum:         "Raise maximum, or end what is held and does not work: gpupool status --machines shows it.",
	spotpool.BecauseLaunchTimeout:   "See why instances do not start: gpupool status --machines shows them. Or raise maximum.",
	spotpool.BecauseFallbackMaximum: "Raise on_demand_fallback.maximum, or list other offerings.",
}

// ShortRemedy is what to do about a pool that these reasons keep short: about the one
// that binds most; empty where there is nothing but to wait.
func ShortRemedy(reasons spotpool.Reasons) string {
	for _, code := range spotpool.Codes() {
		for _, r := range reasons {
			if r.Code == code {
				return shortRemedies[code]
			}
		}
	}
	return ""
}
