package cvmsim

import "time"

// renewByHand is what the cloud does at the end of a prepaid term unless told
// otherwise (cvm models.go, InstanceChargePrepaid.RenewFlag).
const renewByHand = "NOTIFY_AND_MANUAL_RENEW"

// prepay pays an instance for so many months.
func (in *instance) prepay(from time.Time, months int64, renew string) {
	in.ExpiresAt = from.UTC().Truncate(time.Second).AddDate(0, int(max(months, 1)), 0)
	in.RenewFlag = renew
}

// convert changes the charge type of an instance: its place in the stock and
// the quota moves along, and what only spot instances have goes.
func (w *world) convert(in *instance, charge string, now time.Time) {
	if charge == in.ChargeType {
		return
	}
	counted := !in.Uncounted
	if counted {
		w.account(in, -1)
	}
	w.changeStock(in.sku(), 1)
	in.ChargeType, in.MaxPrice = charge, ""
	in.ExpiresAt, in.RenewFlag = time.Time{}, ""
	if charge == chargePrepaid {
		in.prepay(now, 1, renewByHand)
	}
	if charge != chargeSpot {
		in.ReclaimAt = time.Time{}
	}
	w.changeStock(in.sku(), -1)
	if counted {
		w.account(in, 1)
	}
	w.touch(in.key())
}

// changeStock adds to the stock of what is sold, or takes from it.
func (w *world) changeStock(k sku, by int64) {
	if w.offer(k) != nil {
		w.changeOffer(k, func(o *offer) { o.Stock = max(o.Stock+by, 0) })
	}
}
