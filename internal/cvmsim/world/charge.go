package world

import "time"

// RenewByHand is what the cloud does at the end of a prepaid term unless told
// otherwise (cvm models.go, InstanceChargePrepaid.RenewFlag).
const RenewByHand = "NOTIFY_AND_MANUAL_RENEW"

// prepay pays an instance for so many months.
func (in *Instance) prepay(from time.Time, months int64, renew string) {
	in.ExpiresAt = from.UTC().Truncate(time.Second).AddDate(0, int(max(months, 1)), 0)
	in.RenewFlag = renew
}

// Convert changes the charge type of an instance: its place in the stock and
// the quota moves along, and what only spot instances have goes.
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
