package outcome

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// remedies are the default remedies of error classes.
var remedies = map[errorclass.Class]string{
	errorclass.Capacity:      "Wait: the next runs retry. Or add offerings in other zones or of other instance types.",
	errorclass.Price:         "Raise spot_max_price, or remove it to pay the market price. Or add other offerings.",
	errorclass.Quota:         "Request a higher quota from Tencent Cloud, or add offerings in other zones: each zone has its own quota.",
	errorclass.Configuration: "Correct the declaration or the configuration of gpupool, as the message says.",
	errorclass.Authorization: "Use valid credentials with this permission.",
	errorclass.Transient:     "Wait: the next run retries. If it persists, check the network.",
}

// remedyOf is the remedy of an error or of its class; empty if neither is known.
func remedyOf(err error, class errorclass.Class) string {
	if todo := reason.Remedy(err); todo != "" {
		return todo
	}
	return remedies[class]
}

// shortRemedies are the remedies of reasons that keep a pool short. OBJECT is the pool. A hold names its own.
var shortRemedies = map[spotpool.Code]string{
	spotpool.BecauseGate:            "Wait until its budget recovers, raise its limit, or grant it more hours for a limited time (gpupool grant).",
	spotpool.BecauseGateUnknown:     "Run gpupool reconcile with access to the cluster, to measure the budget.",
	spotpool.BecauseGateUndeclared:  "Declare the budget, or set another one or none in the pool.",
	spotpool.BecauseHourlyCap:       "Raise max_hourly_cost, or add cheaper offerings.",
	spotpool.BecauseQuota:           remedies[errorclass.Quota],
	spotpool.BecauseAboveMaxPrice:   remedies[errorclass.Price],
	spotpool.BecauseSoldOut:         remedies[errorclass.Capacity],
	spotpool.BecauseCooldown:        remedies[errorclass.Capacity],
	spotpool.BecauseNotSold:         "Use offerings that Tencent Cloud sells:\ngpupool offers",
	spotpool.BecauseMaximum:         "Raise maximum, or terminate instances that do not work:\ngpupool status OBJECT --machines",
	spotpool.BecauseLaunchTimeout:   "Find out why instances do not start, or raise maximum:\ngpupool status OBJECT --machines",
	spotpool.BecauseFallbackMaximum: "Raise on_demand_fallback.maximum, or add other offerings.",
}

// ShortRemedy is the remedy of the most important reason that keeps a pool short; empty if
// only waiting helps.
func ShortRemedy(object string, reasons spotpool.Reasons) string {
	for _, code := range spotpool.Codes() {
		for _, r := range reasons {
			if r.Code == code {
				return strings.ReplaceAll(shortRemedies[code], "OBJECT", object)
			}
		}
	}
	return ""
}
