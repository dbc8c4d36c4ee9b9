package budget

import (
	"math"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// EstimateWarnings returns what is known of usage only as an estimate, if that matters for its limit. A limit of 0 is none.
func EstimateWarnings(u Usage) (list reason.Reasons) {
	amount := func(n int64) reason.Amount { return reason.Amount(Hours(n)) }
	limit := amount(u.Limit)
	if u.Unconfirmed > 0 {
		why := reason.Unconfirmed(amount(u.Unconfirmed))
		if all := u.Consumed + min(u.Unconfirmed, math.MaxInt64-u.Consumed); !u.Exceeded() && all >= u.Limit {
			why = reason.UnconfirmedReach(why, amount(all), limit)
		}
		list = append(list, why)
	}
	if u.Limit > 0 && u.Exceeded() && u.Certain() < u.Limit {
		list = append(list, reason.EstimatedReach(amount(u.Certain()), limit, amount(u.Estimated)))
	}
	return list
}

// BoundReason returns what the error bound of usage consists of; zero if there is none.
func BoundReason(u Usage) reason.Reason {
	if u.ErrorBound == 0 {
		return reason.Reason{}
	}
	var parts reason.Facts
	if u.Missed > 0 {
		parts = append(parts, reason.BoundOfGaps(reason.Amount(Hours(u.Missed))))
	}
	if rest := u.ErrorBound - u.Missed; rest > 0 {
		parts = append(parts, reason.BoundOfEstimates(reason.Amount(Hours(rest))))
	}
	return reason.ErrorBound(reason.Amount(Hours(u.ErrorBound)), parts)
}
