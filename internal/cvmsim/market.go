package cvmsim

// sku is what is bought: a type, in a zone, under a charge type.
type sku struct {
	Zone, Type, Charge string
}

func (k sku) key() string { return "market/" + k.Zone + "/" + k.Type + "/" + k.Charge }

// offer is the state of the market for one sku.
type offer struct {
	SKU sku
	// Stock is how many more instances can be launched.
	Stock int64
	// Price is what an instance costs an hour; List the undiscounted price.
	Price, List money
}

// The stock of an offer decides how it is described
// (StatusCategory of DescribeZoneInstanceConfigInfos).
func (o *offer) category() string {
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

// quota is what the account may hold in a zone.
type quota struct {
	Zone string
	// SpotVCPU limits the cores of spot instances, HourlyInstances the count
	// of pay-as-you-go instances.
	SpotVCPU, HourlyInstances int64
}

func (q *quota) key() string { return "quota/" + q.Zone }

const (
	defaultStock           = 40
	defaultSpotVCPU        = 50 // the cloud's own default for a new account
	defaultHourlyInstances = 500
)

// initialOffer is the market for a sku before anyone changed it, or nil where
// it isn't sold.
func initialOffer(k sku) *offer {
	z, t := zones[k.Zone], instanceTypes[k.Type]
	if z == nil || t == nil || !z.sells(t.family()) {
		return nil
	}
	o := &offer{SKU: k, Stock: defaultStock, Price: t.ListPrice, List: t.ListPrice}
	switch k.Charge {
	case chargeSpot:
		if zoneRegion[k.Zone].NoSpot {
			return nil
		}
		o.Price = t.ListPrice * money(z.SpotPercent) / 100
	case chargeHourly, chargePrepaid:
	default:
		return nil
	}
	switch {
	case k.Type == "GN7.2XLARGE32" && (k.Zone == "ap-singapore-2" || k.Zone == "ap-singapore-3"):
		o.Stock = 100
	case k.Type == "GN7.2XLARGE32" && k.Zone == "ap-singapore-4" && k.Charge == chargeSpot:
		o.Stock = 0 // sold out from the start, to show what a pool does about it
	}
	return o
}

func initialQuota(zoneID string) *quota {
	q := &quota{Zone: zoneID, SpotVCPU: defaultSpotVCPU, HourlyInstances: defaultHourlyInstances}
	if zoneID == "ap-singapore-2" || zoneID == "ap-singapore-3" {
		q.SpotVCPU = 128
	}
	return q
}

// offer returns the market for a sku, or nil where it isn't sold.
func (w *world) offer(k sku) *offer {
	if o, changed := w.market[k]; changed {
		return o
	}
	return initialOffer(k)
}

// changeOffer applies a change to the market for a sku. What the catalogue
// doesn't sell is sold from then on, at the catalogue's price.
func (w *world) changeOffer(k sku, change func(*offer)) {
	o := w.offer(k)
	if o == nil {
		list := instanceTypes[k.Type].ListPrice
		o = &offer{SKU: k, Price: list, List: list}
		if k.Charge == chargeSpot {
			o.Price = list * 20 / 100
		}
	}
	change(o)
	w.market[k] = o
	w.touch(k.key())
}

func (w *world) quota(zoneID string) *quota {
	if q, changed := w.quotas[zoneID]; changed {
		return q
	}
	return initialQuota(zoneID)
}

func (w *world) changeQuota(zoneID string, change func(*quota)) {
	q := w.quota(zoneID)
	change(q)
	w.quotas[zoneID] = q
	w.touch(q.key())
}

// usage is what instances hold of a zone's quota.
type usage struct{ SpotVCPU, HourlyInstances, PrepaidInstances int64 }

// used is what instances hold of a zone's quota.
func (w *world) used(zoneID string) usage { return w.usage[zoneID] }

// account adds an instance to the zone's usage, or with -1 takes it away.
func (w *world) account(in *instance, sign int64) {
	u := w.usage[in.Zone]
	switch in.ChargeType {
	case chargeSpot:
		u.SpotVCPU += sign * instanceTypes[in.Type].CPU
	case chargeHourly:
		u.HourlyInstances += sign
	case chargePrepaid:
		u.PrepaidInstances += sign
	}
	w.usage[in.Zone] = u
}
