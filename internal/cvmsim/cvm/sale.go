package cvm

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// checkSale checks the market, the quotas and the balance, and the remaining addresses and tags.
func checkSale(w *world.World, s launchSpec) *wire.Error {
	if failure := checkOffer(w, s); failure != nil {
		return failure
	}
	if failure := checkQuota(w, s); failure != nil {
		return failure
	}
	if w.Market.Offer(s.SKU).Price*world.Money(s.Count) > w.Settings.Balance {
		return wire.Fail("InvalidAccount.InsufficientBalance", "The account's balance does not suffice.")
	}
	for _, address := range s.Addresses {
		if w.Instances.AddressTaken(s.Instance.VPCID, address) {
			return wire.Fail("VpcIpIsUsed", "The address %s is in use.", address)
		}
	}
	return api.CheckTagValues(w, s.Tags)
}

// checkOffer checks whether there is enough of the SKU, at the bid price.
func checkOffer(w *world.World, s launchSpec) *wire.Error {
	spot := s.SKU.Charge == world.ChargeSpot
	if spot && world.RegionOfZone[s.SKU.Zone].NoSpot {
		return wire.Fail("UnsupportedOperation.SpotUnsupportedRegion", "The region `%s` does not sell spot instances.", world.RegionOfZone[s.SKU.Zone].ID)
	}
	o := w.Market.Offer(s.SKU)
	switch {
	case o == nil:
		return wire.Fail("ResourceUnavailable.InstanceType", "The instance type `%s` is not sold in `%s`.", s.SKU.Type, s.SKU.Zone)
	case spot && s.bid != 0 && s.bid < o.Price:
		return wire.Fail("InvalidParameterValue.InsufficientPrice", "The bid %s is below the market price.", s.bid)
	case o.Stock <= 0:
		return wire.Fail("ResourcesSoldOut.SpecifiedInstanceType", "The instance type `%s` is sold out in `%s`.", s.SKU.Type, s.SKU.Zone)
	case o.Stock < s.Count && spot:
		return wire.Fail("InvalidParameterValue.InsufficientOffering", "There are not %d spot instances of `%s` left in `%s`.", s.Count, s.SKU.Type, s.SKU.Zone)
	case o.Stock < s.Count:
		return wire.Fail("ResourceInsufficient.SpecifiedInstanceType", "There are not %d instances of `%s` left in `%s`.", s.Count, s.SKU.Type, s.SKU.Zone)
	}
	return nil
}

// prepaidQuota is how many prepaid instances a zone may have.
const prepaidQuota = 100

func checkQuota(w *world.World, s launchSpec) *wire.Error {
	limit, used := w.Quotas.Quota(s.SKU.Zone), w.Quotas.Used(s.SKU.Zone)
	switch s.SKU.Charge {
	case world.ChargeSpot:
		if used.SpotVCPU+s.Count*s.itype.CPU > limit.SpotVCPU {
			return wire.Fail("LimitExceeded.UserSpotQuota", "%d more vCPU would exceed the spot quota of %d vCPU in `%s`, of which %d are in use.",
				s.Count*s.itype.CPU, limit.SpotVCPU, s.SKU.Zone, used.SpotVCPU)
		}
	case world.ChargePrepaid:
		if used.PrepaidInstances+s.Count > prepaidQuota {
			return wire.Fail("LimitExceeded.PrepayQuota", "%d more instances would exceed the quota of %d prepaid ones in `%s`, of which %d are in use.",
				s.Count, prepaidQuota, s.SKU.Zone, used.PrepaidInstances)
		}
	case world.ChargeHourly:
		if used.HourlyInstances+s.Count > limit.HourlyInstances {
			return wire.Fail("LimitExceeded.CvmInstanceQuota", "%d more instances would exceed the quota of %d in `%s`, of which %d are in use.", s.Count,
				limit.HourlyInstances, s.SKU.Zone, used.HourlyInstances)
		}
	}
	return nil
}
