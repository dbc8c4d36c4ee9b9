package spotpool

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// checkMarket checks whether a changed declaration can be applied now, with these credentials
// and the region's market. All pools of a plan share one observation. It changes no planned
// value.
func (r *poolResource) checkMarket(ctx context.Context, was, d core.Declaration, diags *diag.Diagnostics) {
	if !r.Connection.Ready() {
		return
	}
	doing := reason.ReadingMarket(reason.Word(d.Region))
	reader, err := r.Connection.ReadSpotPools(ctx)
	if err != nil {
		diags.Append(connection.Error(doing, err))
		return
	}
	account, err := r.Connection.AccountID(ctx)
	switch {
	case err != nil && temporary(err):
		diags.Append(connection.Warning(doing, err))
		return
	case err != nil:
		diags.Append(connection.Error(doing, err))
		return
	case d.AccountID != "" && account != d.AccountID:
		diags.Append(connection.Error(doing, &spotpools.AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: account}))
		return
	}
	markets, err := reader.Markets(ctx, d.Region)
	offers := markets.Offers
	if why := markets.QuotaWarning(d.Region); !why.IsZero() && d.InstanceChargeType == core.Spot {
		diags.Append(problem.Warning(path.Empty(), reason.MarketDoubts(reason.Word(d.Region), reason.Paragraphs{why})))
	}
	refusal, refused := core.AsCloudError(err)
	switch {
	case err == nil:
	case !refused || refusal.Class != errorclass.Configuration:
		diags.Append(connection.Warning(doing, err))
		return
	case offers == nil || d.InstanceChargeType == core.Spot:
		diags.Append(problem.Error(path.Root("region"), reason.RegionUnusable(reason.Word(d.Region), reason.Failure(err))))
		return
	}
	assess(d, offers, diags)
	if d.Budget != was.Budget || d.Maximum != was.Maximum || !slices.Equal(d.Offerings, was.Offerings) {
		// If the size stays the same, the refresh has warned already.
		if why := forecast(ctx, reader, d, offers); !why.IsZero() {
			diags.Append(problem.Warning(path.Root("budget"), why))
		}
	}
}

// temporary reports whether an error may be over by the apply. An endpoint without a server is
// probably wrong.
func temporary(err error) bool {
	if cloud, ok := core.AsCloudError(err); ok {
		return cloud.Class == errorclass.Transient && !cloud.Unreachable
	}
	return !connection.IsUnusable(err)
}

// assess compares a declaration with its region's market. Only an unknown zone is an error,
// since prices and stock change.
func assess(d core.Declaration, offers []core.Offer, diags *diag.Diagnostics) {
	zones := namesOf(offers, func(o core.Offer) string { return o.AvailabilityZone })
	byMarket := core.OffersByMarket(offers)
	for n, o := range d.Offerings {
		at := path.Root("offerings").AtListIndex(n)
		zone, kind := reason.Word(o.AvailabilityZone), reason.Word(o.InstanceType)
		offer, sold := byMarket[o.Market(d.InstanceChargeType)]
		switch {
		case o.AvailabilityZone == "" || o.InstanceType == "": // not known yet
		case !slices.Contains(zones, o.AvailabilityZone):
			diags.Append(problem.Error(at.AtName("availability_zone"), unknownZone(d.Region, o.AvailabilityZone, zones)))
		case !sold:
			diags.Append(problem.Warning(at, notSold(o, d.InstanceChargeType, offers)))
		case offer.Stock == core.StockNone:
			diags.Append(problem.Warning(at, reason.OfferingSoldOut(kind, zone)))
		case d.InstanceChargeType == core.Spot && o.SpotMaxPrice > 0 && offer.Price > o.SpotMaxPrice:
			why := reason.OfferingAbovePrice(kind, zone, d.Currency.Reason(offer.Price), core.Currency("").Reason(o.SpotMaxPrice))
			diags.Append(problem.Warning(at.AtName("spot_max_price"), why))
		}
	}
	if cost := estimate(d, offers, byMarket); d.MaxHourlyCost > 0 && cost > d.MaxHourlyCost {
		why := reason.PoolAboveCost(reason.Count(d.Minimum), d.Currency.Reason(cost), core.Currency("").Reason(d.MaxHourlyCost))
		diags.Append(problem.Warning(path.Root("max_hourly_cost"), why))
	}
}

// unknownZone names the zones of a region, and the one that was probably meant.
func unknownZone(region, zone string, zones []string) reason.Reason {
	if nearest := wording.Nearest(zone, zones); nearest != "" {
		return reason.ZoneMisspelled(reason.Word(region), reason.NewForeign(zone), reason.Word(nearest), zones)
	}
	return reason.ZoneUnknown(reason.Word(region), reason.NewForeign(zone), zones)
}

// notSold names the zones that sell an offering's type, or else the type of its zone that was
// probably meant.
func notSold(o core.Offering, charge core.ChargeType, offers []core.Offer) reason.Reason {
	zone, kind, chargeType := reason.Word(o.AvailabilityZone), reason.Word(o.InstanceType), reason.Word(charge)
	sold := slices.DeleteFunc(slices.Clone(offers), func(of core.Offer) bool { return of.ChargeType != charge })
	elsewhere := slices.DeleteFunc(slices.Clone(sold), func(of core.Offer) bool { return of.InstanceType != o.InstanceType })
	if zones := namesOf(elsewhere, func(of core.Offer) string { return of.AvailabilityZone }); len(zones) > 0 {
		return reason.OfferingElsewhere(zone, kind, chargeType, zones)
	}
	here := slices.DeleteFunc(sold, func(of core.Offer) bool { return of.AvailabilityZone != o.AvailabilityZone })
	if nearest := wording.Nearest(o.InstanceType, namesOf(here, func(of core.Offer) string { return of.InstanceType })); nearest != "" {
		return reason.OfferingMisspelled(zone, kind, chargeType, reason.Word(nearest))
	}
	return reason.OfferingNotSold(zone, kind, chargeType)
}

// namesOf returns the zones or types of offers, each once.
func namesOf(offers []core.Offer, name func(core.Offer) string) (names []string) {
	for _, o := range offers {
		names = append(names, name(o))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// estimate returns what the pool's minimum costs an hour, if an empty pool launched it at these
// prices.
func estimate(d core.Declaration, offers []core.Offer, byMarket map[core.Market]core.Offer) core.Price {
	d.MaxHourlyCost, d.MaxLaunchesPerRun, d.OnDemandFallback = 0, max(1, d.Minimum), nil
	plan := decide.Decide(decide.Situation{Declaration: d, Observation: core.Observation{
		Region: d.Region, AccountID: d.AccountID, Offers: offers,
	}})
	var total core.Price
	for _, decision := range plan.Decisions {
		if decision.Kind == core.KindLaunch {
			total += core.Price(decision.Count) * byMarket[decision.Offering.Market(decision.ChargeType)].Price
		}
	}
	return total
}

// checkImage checks whether instances without keys can be launched, which Tencent Cloud refuses
// for a public image. It is an error if the plan introduces it, and a warning if the pool was
// so before. An image that cannot be read is not checked. The configuration must be known.
func (r *poolResource) checkImage(ctx context.Context, was, d core.Declaration, diags *diag.Diagnostics) {
	if !r.Connection.Ready() || len(d.KeyIDs) > 0 || d.ImageID == "" || d.Region == "" {
		return
	}
	kind, err := r.Connection.ImageType(ctx, d.Region, d.ImageID)
	switch {
	case err != nil:
	case !kind.Found():
		diags.Append(problem.Warning(path.Root("image_id"), reason.ImageMissing(reason.Word(d.ImageID), reason.Word(d.Region))))
	case kind.NeedsKeys() && was.ImageID == d.ImageID && slices.Equal(was.KeyIDs, d.KeyIDs):
		diags.Append(problem.Warning(path.Root("image_id"), reason.ImageNeedsKeys(reason.Word(d.ImageID))))
	case kind.NeedsKeys():
		diags.Append(problem.Error(path.Root("image_id"), reason.ImageNeedsKeys(reason.Word(d.ImageID))))
	}
}
