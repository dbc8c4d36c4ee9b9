package outcome

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// remedies are the default remedies of error classes.
var remedies = map[errorclass.Class]reason.Reason{
	errorclass.Capacity:      reason.AwaitStock(),
	errorclass.Price:         reason.AcceptPrice(),
	errorclass.Quota:         reason.AwaitQuota(),
	errorclass.Configuration: reason.CorrectAsTold(),
	errorclass.Authorization: reason.UseValidCredentials(),
	errorclass.Transient:     reason.AwaitRetry(),
}

// remedyOf is the remedy of an error or of its class; empty if neither is known.
func remedyOf(err error, class errorclass.Class) string {
	if todo := reason.Remedy(err); todo != "" {
		return todo
	}
	return remedies[class].String()
}

// shortRemedies are the remedies of reasons that keep a pool short. A hold names its own.
var shortRemedies = map[spotpool.Code]reason.Reason{
	spotpool.BecauseGate:            reason.AwaitBudget(),
	spotpool.BecauseGateUnknown:     reason.MeasureBudget(),
	spotpool.BecauseGateUndeclared:  reason.DeclareBudget(),
	spotpool.BecauseHourlyCap:       reason.RaiseHourlyCap(),
	spotpool.BecauseQuota:           reason.AwaitQuota(),
	spotpool.BecauseAboveMaxPrice:   reason.AcceptPrice(),
	spotpool.BecauseSoldOut:         reason.AwaitStock(),
	spotpool.BecauseCooldown:        reason.AwaitStock(),
	spotpool.BecauseNotSold:         reason.UseSoldOfferings(),
	spotpool.BecauseFallbackMaximum: reason.RaiseFallback(),
}

// ShortRemedy is the remedy of the most important reason that keeps a pool short; zero if
// only waiting helps.
func ShortRemedy(object string, reasons spotpool.Reasons) reason.Reason {
	for _, code := range spotpool.Codes() {
		for _, r := range reasons {
			switch {
			case r.Code != code:
			case code == spotpool.BecauseMaximum:
				return reason.MakeRoom(reason.Object(object))
			case code == spotpool.BecauseLaunchTimeout:
				return reason.FindHungLaunches(reason.Object(object))
			default:
				return shortRemedies[code]
			}
		}
	}
	return reason.Reason{}
}
