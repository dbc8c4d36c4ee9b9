package world

import "time"

// RenewByHand is Tencent Cloud's default for the end of a prepaid term (cvm models.go,
// InstanceChargePrepaid.RenewFlag).
const RenewByHand = "NOTIFY_AND_MANUAL_RENEW"

func (in *Instance) prepay(from time.Time, months int64, renew string) {
	in.ExpiresAt = from.UTC().Truncate(time.Second).AddDate(0, int(max(months, 1)), 0)
	in.RenewFlag = renew
}

// Convert changes the charge type of an instance. Stock and quota follow, and spot-only fields are
// cleared.
func (w *World) Convert(in *Instance, charge string, now time.Time) {
	if charge == in.ChargeType {
		return
	}
	counted := !in.Uncounted
	if counted {
		w.Quotas.count(in, -1)
	}
	w.Market.changeStock(in.sku(), 1)
	in.ChargeType, in.MaxPrice = charge, ""
	in.ExpiresAt, in.RenewFlag = time.Time{}, ""
	if charge == ChargePrepaid {
		in.prepay(now, 1, RenewByHand)
	}
	if charge != ChargeSpot {
		in.ReclaimAt = time.Time{}
	}
	w.Market.changeStock(in.sku(), -1)
	if counted {
		w.Quotas.count(in, 1)
	}
	w.Instances.Changed(in)
}
