package spotpool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
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
	doing := "Reading the market of " + d.Region // one headline for all pools of the region
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
		diags.AddError("Wrong account", fmt.Sprintf("%s belongs to account %s, and these credentials to account %s. Use the credentials of account %s.",
			d.Object(), d.AccountID, account, d.AccountID))
		return
	}
	markets, err := reader.Markets(ctx, d.Region)
	offers := markets.Offers
	if why := markets.QuotaWarning(d.Region); !why.IsZero() && d.InstanceChargeType == core.Spot {
		diags.AddWarning(doing, why.String())
	}
	refusal, refused := core.AsCloudError(err)
	switch {
	case err == nil:
	case !refused || refusal.Class != errorclass.Configuration:
		diags.Append(connection.Warning(doing, err))
		return
	case offers == nil || d.InstanceChargeType == core.Spot:
		diags.AddAttributeError(path.Root("region"), fmt.Sprintf("Region %s cannot be used", d.Region), err.Error())
		return
	}
	assess(d, offers, diags)
	if d.Budget != was.Budget || d.Maximum != was.Maximum || !slices.Equal(d.Offerings, was.Offerings) {
		// If the size stays the same, the refresh has warned already.
		if text := forecast(ctx, reader, d, offers); text != "" {
			diags.AddAttributeWarning(path.Root("budget"), "Budget may be used up", text)
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
		offer, sold := byMarket[o.Market(d.InstanceChargeType)]
		switch {
		case o.AvailabilityZone == "" || o.InstanceType == "": // not known yet
		case !slices.Contains(zones, o.AvailabilityZone):
			diags.AddAttributeError(at.AtName("availability_zone"), "Unknown availability zone",
				fmt.Sprintf("The region %s has no zone %q that sells instances%s. It has %s.", d.Region, o.AvailabilityZone,
					didYouMean(o.AvailabilityZone, zones), strings.Join(zones, ", ")))
		case !sold:
			diags.AddAttributeWarning(at, "Offering is not sold",
				fmt.Sprintf("%s does not sell %s as %s now%s: nothing can be launched there. The data source gpupool_spot_offers lists all offers.",
					o.AvailabilityZone, o.InstanceType, d.InstanceChargeType, instead(o, d.InstanceChargeType, offers)))
		case offer.Stock == core.StockNone:
			diags.AddAttributeWarning(at, "Offering is sold out",
				fmt.Sprintf("%s in %s is sold out now: other offerings launch instead, or the pool waits.", o.InstanceType, o.AvailabilityZone))
		case d.InstanceChargeType == core.Spot && o.SpotMaxPrice > 0 && offer.Price > o.SpotMaxPrice:
			diags.AddAttributeWarning(at.AtName("spot_max_price"), "Market price is above spot_max_price",
				fmt.Sprintf("%s in %s costs %s now, and spot_max_price is %s: nothing is launched there until the price falls.", o.InstanceType,
					o.AvailabilityZone, d.Currency.Hourly(offer.Price), o.SpotMaxPrice))
		}
	}
	if cost := estimate(d, offers, byMarket); d.MaxHourlyCost > 0 && cost > d.MaxHourlyCost {
		diags.AddAttributeWarning(path.Root("max_hourly_cost"), "Estimated cost is above max_hourly_cost",
			fmt.Sprintf("At present prices the minimum of %s costs about %s, and max_hourly_cost is %s: nothing "+
				"launches above that cost.", instances(d.Minimum), d.Currency.Hourly(cost), d.MaxHourlyCost))
	}
}

// instead names the zones that sell an offering's type, or else the type of its zone that was
// probably meant.
func instead(o core.Offering, charge core.ChargeType, offers []core.Offer) string {
	sold := slices.DeleteFunc(slices.Clone(offers), func(of core.Offer) bool { return of.ChargeType != charge })
	elsewhere := slices.DeleteFunc(slices.Clone(sold), func(of core.Offer) bool { return of.InstanceType != o.InstanceType })
	if zones := namesOf(elsewhere, func(of core.Offer) string { return of.AvailabilityZone }); len(zones) > 0 {
		return fmt.Sprintf(" (%s %s)", wording.Some(zones), wording.Plural(len(zones), "does", "do"))
	}
	here := slices.DeleteFunc(sold, func(of core.Offer) bool { return of.AvailabilityZone != o.AvailabilityZone })
	return didYouMean(o.InstanceType, namesOf(here, func(of core.Offer) string { return of.InstanceType }))
}

// namesOf returns the zones or types of offers, each once.
func namesOf(offers []core.Offer, name func(core.Offer) string) (names []string) {
	for _, o := range offers {
		names = append(names, name(o))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// didYouMean suggests the nearest of the existing names.
func didYouMean(name string, names []string) string {
	if nearest := wording.Nearest(name, names); nearest != "" {
		return fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return ""
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
		diags.AddAttributeWarning(path.Root("image_id"), "Image not found",
			fmt.Sprintf("The account has no image %s in %s: launches are refused while it is missing.", d.ImageID, d.Region))
	case kind.NeedsKeys():
		const summary = "A public image needs key_ids"
		detail := fmt.Sprintf("Without key_ids, instances keep the login of their image. Tencent Cloud allows that only for custom, shared and imported "+
			"images, and %s is a public image. Set key_ids, or use a custom image.", d.ImageID)
		if was.ImageID == d.ImageID && slices.Equal(was.KeyIDs, d.KeyIDs) {
			diags.AddAttributeWarning(path.Root("image_id"), summary, detail)
			return
		}
		diags.AddAttributeError(path.Root("image_id"), summary, detail)
	}
}
