package world

import "time"

// SKU is what is bought: a type, in a zone, under a charge type.
type SKU struct {
	Zone, Type, Charge string
}

func (k SKU) key() string { return "market/" + k.Zone + "/" + k.Type + "/" + k.Charge }

// Offer is the state of the market for one sku.
type Offer struct {
	SKU SKU
	// Stock is how many more instances can be launched.
	Stock int64
	// Price is what an instance costs an hour; List the undiscounted price.
	Price, List Money
}

// Category is how the stock of an offer is described (StatusCategory of
// DescribeZoneInstanceConfigInfos).
func (o *Offer) Category() string {
	switch {
	case o.Stock <= 0:
		return "WithoutStock"
	case o.Stock < 5:
		return "UnderStock"
	case o.Stock < 20:
		return "NormalStock"
	}
	return "EnoughStock"
}

// Quota is what the account may hold in a zone.
type Quota struct {
	Zone string
	// SpotVCPU limits the cores of spot instances, HourlyInstances the count
	// of pay-as-you-go instances.
	SpotVCPU, HourlyInstances int64
}

func (q *Quota) key() string { return "quota/" + q.Zone }

const (
	defaultStock           = 40
	defaultSpotVCPU        = 50 // the cloud's own default for a new account
	defaultHourlyInstances = 500
)

// initialOffer is the market for a sku before anyone changed it, or nil where
// it isn't sold.
func initialOffer(k SKU) *Offer {
	z, t := ZoneByID[k.Zone], TypeByName[k.Type]
	if z == nil || t == nil || !z.sells(t.Family()) {
		return nil
	}
	o := &Offer{SKU: k, Stock: defaultStock, Price: t.ListPrice, List: t.ListPrice}
	switch k.Charge {
	case ChargeSpot:
		if RegionOfZone[k.Zone].NoSpot {
			return nil
		}
		o.Price = t.ListPrice * Money(z.SpotPercent) / 100
	case ChargeHourly, ChargePrepaid:
	default:
		return nil
	}
	switch {
	case k.Type == "GN7.2XLARGE32" && (k.Zone == "ap-singapore-2" || k.Zone == "ap-singapore-3"):
		o.Stock = 100
	case k.Type == "GN7.2XLARGE32" && k.Zone == "ap-singapore-4" && k.Charge == ChargeSpot:
		o.Stock = 0 // sold out from the start, to show what a pool does about it
	}
	return o
}

func initialQuota(zoneID string) *Quota {
	q := &Quota{Zone: zoneID, SpotVCPU: defaultSpotVCPU, HourlyInstances: defaultHourlyInstances}
	if zoneID == "ap-singapore-2" || zoneID == "ap-singapore-3" {
		q.SpotVCPU = 128
	}
	return q
}

// Offer returns the market for a sku, or nil where it isn't sold.
func (w *World) Offer(k SKU) *Offer {
	if o, changed := w.market[k]; changed {
		return o
	}
	return initialOffer(k)
}

// ChangeOffer applies a change to the market for a sku. What the catalogue
// doesn't sell is sold from then on, at the catalogue's price.
func (w *World) ChangeOffer(k SKU, change func(*Offer)) {
	o := w.Offer(k)
	if o == nil {
		list := TypeByName[k.Type].ListPrice
		o = &Offer{SKU: k, Price: list, List: list}
		if k.Charge == ChargeSpot {
			o.Price = list * 20 / 100
		}
	}
	change(o)
	w.market[k] = o
	w.touch(k.key())
}

// Quota is what the account may hold in a zone.
func (w *World) Quota(zoneID string) *Quota {
	if q, changed := w.quotas[zoneID]; changed {
		return q
	}
	return initialQuota(zoneID)
}

// ChangeQuota applies a change to the quota of a zone.
func (w *World) ChangeQuota(zoneID string, change func(*Quota)) {
	q := w.Quota(zoneID)
	change(q)
	w.quotas[zoneID] = q
	w.touch(q.key())
}

// Usage is what instances hold of a zone's quota.
type Usage struct{ SpotVCPU, HourlyInstances, PrepaidInstances int64 }

// Used is what instances hold of a zone's quota.
func (w *World) Used(zoneID string) Usage { return w.usage[zoneID] }

// account adds an instance to the zone's usage, or with -1 takes it away.
func (w *World) account(in *Instance, sign int64) {
	u := w.usage[in.Zone]
	switch in.ChargeType {
	case ChargeSpot:
		u.SpotVCPU += sign * TypeByName[in.Type].CPU
	case ChargeHourly:
		u.HourlyInstances += sign
	case ChargePrepaid:
		u.PrepaidInstances += sign
	}
	w.usage[in.Zone] = u
}

// OffersIn lists what a region sells, by zone, type and charge type.
func (w *World) OffersIn(regionID string) []*Offer {
	var offers []*Offer
	for i := range RegionByID[regionID].Zones {
		z := &RegionByID[regionID].Zones[i]
		for _, t := range typeList {
			for _, charge := range ChargeTypes {
				if o := w.Offer(SKU{z.ID, t.Name, charge}); o != nil && !z.Retired {
					offers = append(offers, o)
				}
			}
		}
	}
	return offers
}

// changeStock adds to the stock of what is sold, or takes from it.
func (w *World) changeStock(k SKU, by int64) {
	if w.Offer(k) != nil {
		w.ChangeOffer(k, func(o *Offer) { o.Stock = max(o.Stock+by, 0) })
	}
}

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
		w.account(in, -1)
	}
	w.changeStock(in.sku(), 1)
	in.ChargeType, in.MaxPrice = charge, ""
	in.ExpiresAt, in.RenewFlag = time.Time{}, ""
	if charge == ChargePrepaid {
		in.prepay(now, 1, RenewByHand)
	}
	if charge != ChargeSpot {
		in.ReclaimAt = time.Time{}
	}
	w.changeStock(in.sku(), -1)
	if counted {
		w.account(in, 1)
	}
	w.Changed(in)
}
