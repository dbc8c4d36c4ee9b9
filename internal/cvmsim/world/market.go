package world

// SKU is an instance type in a zone under a charge type.
type SKU struct {
	Zone, Type, Charge string
}

func (k SKU) name() string { return k.Zone + "/" + k.Type + "/" + k.Charge }

// Offer is the state of the market for one SKU.
type Offer struct {
	SKU SKU
	// Stock is how many more instances can be launched.
	Stock int64
	// Price is the hourly price of an instance; List is the undiscounted price.
	Price, List Money
}

// Category is the description of the stock (StatusCategory of DescribeZoneInstanceConfigInfos).
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

const defaultStock = 40

// initialOffer returns the initial market for a SKU, or nil if it is not sold.
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
		o.Stock = 0 // sold out from the start, to show how a pool reacts
	}
	return o
}

// Market contains the offers that differ from the initial ones.
type Market struct{ table[Offer] }

// Offer returns the market for a SKU, or nil if it is not sold.
func (m *Market) Offer(k SKU) *Offer {
	if o := m.Get(k.name()); o != nil {
		return o
	}
	return initialOffer(k)
}

// Change changes the market for a SKU. What the catalog does not sell is sold from then on, at
// the catalog's price.
func (m *Market) Change(k SKU, change func(*Offer)) {
	o := m.Offer(k)
	if o == nil {
		list := TypeByName[k.Type].ListPrice
		o = &Offer{SKU: k, Price: list, List: list}
		if k.Charge == ChargeSpot {
			o.Price = list * 20 / 100
		}
	}
	change(o)
	m.Put(k.name(), o)
}

// Offers lists what a region sells, by zone, type and charge type.
func (m *Market) Offers(regionID string) []*Offer {
	var offers []*Offer
	for i := range RegionByID[regionID].Zones {
		z := &RegionByID[regionID].Zones[i]
		for _, t := range typeList {
			for _, charge := range ChargeTypes {
				if o := m.Offer(SKU{z.ID, t.Name, charge}); o != nil && !z.Retired {
					offers = append(offers, o)
				}
			}
		}
	}
	return offers
}

func (m *Market) changeStock(k SKU, by int64) {
	if m.Offer(k) != nil {
		m.Change(k, func(o *Offer) { o.Stock = max(o.Stock+by, 0) })
	}
}
