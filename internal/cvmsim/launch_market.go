package cvmsim

import "slices"

func readMarket(s *launchSpec, p launchParams) *apiError {
	s.sku.Charge = or(p.InstanceChargeType, chargeHourly)
	switch s.sku.Charge {
	case chargeHourly, chargeSpot:
	case chargePrepaid:
		if p.InstanceChargePrepaid == nil || p.InstanceChargePrepaid.Period == nil {
			return missing("InstanceChargePrepaid.Period")
		}
		s.months = *p.InstanceChargePrepaid.Period
		if s.months < 1 || s.months > 12 && !slices.Contains([]int64{24, 36, 48, 60}, s.months) {
			return fail("InvalidPeriod", "A period of %d months is not sold.", s.months)
		}
		s.renew = or(p.InstanceChargePrepaid.RenewFlag, renewByHand)
		if !slices.Contains([]string{"NOTIFY_AND_AUTO_RENEW", renewByHand, "DISABLE_NOTIFY_AND_MANUAL_RENEW"}, s.renew) {
			return fail("InvalidParameterValue", "`RenewFlag` has no value `%s`.", printable(s.renew))
		}
	default:
		return fail("InvalidParameterValue", "`InstanceChargeType` has no value `%s` here.", printable(s.sku.Charge))
	}
	return readBid(s, p.InstanceMarketOptions)
}

func readBid(s *launchSpec, market *marketParams) *apiError {
	if market == nil {
		return nil
	}
	if s.sku.Charge != chargeSpot {
		return fail("InvalidParameterCombination", "`InstanceMarketOptions` needs `InstanceChargeType` to be SPOTPAID.")
	}
	if kind := or(market.MarketType, "spot"); kind != "spot" {
		return fail("InvalidParameterValue", "`MarketType` has no value `%s`.", printable(kind))
	}
	spot := or(market.SpotOptions, spotParams{})
	if kind := or(spot.SpotInstanceType, "one-time"); kind != "one-time" {
		return fail("InvalidParameterValue", "`SpotInstanceType` has no value `%s`; there is only one-time.", printable(kind))
	}
	if spot.MaxPrice == nil {
		return nil
	}
	bid, err := parseMoney(*spot.MaxPrice)
	if err != nil || bid == 0 {
		return fail("InvalidParameterValue", "`MaxPrice` must be a decimal above 0, not `%s`.", printable(*spot.MaxPrice))
	}
	s.bid, s.template.MaxPrice = bid, *spot.MaxPrice
	return nil
}
