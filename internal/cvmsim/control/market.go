package control

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// StockRequest changes stock and quota. Nil fields stay as they are.
type StockRequest struct {
	AvailabilityZone string `json:"availability_zone"`
	InstanceType     string `json:"instance_type"`
	// ChargeType is what the stock is for; empty means SPOTPAID.
	ChargeType string `json:"charge_type,omitempty"`
	// Stock is how many more can be launched.
	Stock *int64 `json:"stock,omitempty"`
	// VCPUQuota is the account's quota of spot vCPU in the zone,
	// InstanceQuota that of pay-as-you-go instances.
	VCPUQuota     *int64 `json:"vcpu_quota,omitempty"`
	InstanceQuota *int64 `json:"instance_quota,omitempty"`
}

// SetStock changes stock and quota. A pair that was not sold is sold from then on.
func (p *Panel) SetStock(r StockRequest) error {
	k, err := readSKU(r.AvailabilityZone, r.InstanceType, r.ChargeType)
	if err != nil {
		return err
	}
	err = cmp.Or(
		notNegative("stock", wire.Or(r.Stock, 0)), notNegative("vcpu_quota", wire.Or(r.VCPUQuota, 0)),
		notNegative("instance_quota", wire.Or(r.InstanceQuota, 0)),
	)
	if err != nil {
		return err
	}
	return p.store.Change(func(w *world.World) error {
		if r.Stock != nil {
			w.Market.Change(k, func(o *world.Offer) { o.Stock = *r.Stock })
		}
		if r.VCPUQuota != nil || r.InstanceQuota != nil {
			w.Quotas.Change(k.Zone, func(q *world.Quota) {
				q.SpotVCPU, q.HourlyInstances = wire.Or(r.VCPUQuota, q.SpotVCPU), wire.Or(r.InstanceQuota, q.HourlyInstances)
			})
		}
		return nil
	})
}

// PriceRequest changes the market price of a pair.
type PriceRequest struct {
	AvailabilityZone string `json:"availability_zone"`
	InstanceType     string `json:"instance_type"`
	// ChargeType is what the price is for; empty means SPOTPAID.
	ChargeType string `json:"charge_type,omitempty"`
	// Price is in CNY an hour, a decimal string. ListPrice is the price
	// before the discount; empty leaves it.
	Price     string `json:"price"`
	ListPrice string `json:"list_price,omitempty"`
}

// SetPrice changes the market price of a pair. Running instances stay: Tencent Cloud reclaims for
// stock, not for bids.
func (p *Panel) SetPrice(r PriceRequest) error {
	k, err := readSKU(r.AvailabilityZone, r.InstanceType, r.ChargeType)
	if err != nil {
		return err
	}
	price, err := world.ParseMoney(r.Price)
	if err != nil {
		return fieldError("price", "%v, not %q", err, r.Price)
	}
	list := world.Money(0)
	if r.ListPrice != "" {
		if list, err = world.ParseMoney(r.ListPrice); err != nil {
			return fieldError("list_price", "%v, not %q", err, r.ListPrice)
		}
	}
	return p.store.Change(func(w *world.World) error {
		w.Market.Change(k, func(o *world.Offer) {
			o.Price = price
			if list > 0 {
				o.List = list
			}
		})
		return nil
	})
}

// readSKU parses an SKU; the default charge type is spot.
func readSKU(zoneID, typeID, charge string) (world.SKU, error) {
	charge = cmp.Or(charge, world.ChargeSpot)
	switch {
	case world.ZoneByID[zoneID] == nil:
		return world.SKU{}, fieldError("availability_zone", "%q is not a zone of the catalog", zoneID)
	case world.TypeByName[typeID] == nil:
		return world.SKU{}, fieldError("instance_type", "%q is not a type of the catalog", typeID)
	}
	return world.SKU{Zone: zoneID, Type: typeID, Charge: charge}, checkCharge(charge)
}

func checkCharge(charge string) error {
	if slices.Contains(world.ChargeTypes, charge) {
		return nil
	}
	return fieldError("charge_type", "must be SPOTPAID, POSTPAID_BY_HOUR or PREPAID, not %q", charge)
}
