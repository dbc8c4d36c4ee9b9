package cvm

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

func readMarket(s *launchSpec, p launch.Params) *wire.Error {
	s.SKU.Charge = wire.Or(p.InstanceChargeType, world.ChargeHourly)
	switch s.SKU.Charge {
	case world.ChargeHourly, world.ChargeSpot:
	case world.ChargePrepaid:
		if p.InstanceChargePrepaid == nil || p.InstanceChargePrepaid.Period == nil {
			return wire.Missing("InstanceChargePrepaid.Period")
		}
		s.Months = *p.InstanceChargePrepaid.Period
		if s.Months < 1 || s.Months > 12 && !slices.Contains([]int64{24, 36, 48, 60}, s.Months) {
			return wire.Fail("InvalidPeriod", "A period of %d months is not sold.", s.Months)
		}
		s.Renew = wire.Or(p.InstanceChargePrepaid.RenewFlag, world.RenewByHand)
		failure := checkValue("RenewFlag", s.Renew, "NOTIFY_AND_AUTO_RENEW", world.RenewByHand, "DISABLE_NOTIFY_AND_MANUAL_RENEW")
		if failure != nil {
			return failure
		}
	default:
		return wire.Fail("InvalidParameterValue", "`InstanceChargeType` has no value `%s` here.", wire.Printable(s.SKU.Charge))
	}
	return readBid(s, p.InstanceMarketOptions)
}

func readBid(s *launchSpec, market *launch.Market) *wire.Error {
	if market == nil {
		return nil
	}
	if s.SKU.Charge != world.ChargeSpot {
		return wire.Fail("InvalidParameterCombination", "`InstanceMarketOptions` needs `InstanceChargeType` to be SPOTPAID.")
	}
	spot := wire.Or(market.SpotOptions, launch.Spot{})
	failure := cmp.Or(
		checkValue("MarketType", wire.Or(market.MarketType, "spot"), "spot"),
		checkValue("SpotInstanceType", wire.Or(spot.SpotInstanceType, "one-time"), "one-time"),
	)
	if failure != nil || spot.MaxPrice == nil {
		return failure
	}
	bid, err := world.ParseMoney(*spot.MaxPrice)
	if err != nil || bid == 0 {
		return wire.Fail("InvalidParameterValue", "`MaxPrice` must be a decimal above 0, not `%s`.", wire.Printable(*spot.MaxPrice))
	}
	s.bid, s.Instance.MaxPrice = bid, *spot.MaxPrice
	return nil
}
