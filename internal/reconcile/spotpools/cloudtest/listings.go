package cloudtest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// oneAccount: a pool belongs to an account, and a run with other credentials must not
// take its instances for gone.
func oneAccount(t *testing.T, c Cloud) {
	first, err := c.Account(t.Context())
	if err != nil || first.ID == "" || first.Currency == "" {
		t.Fatalf("got the account %v and the error %v", first, err)
	}
	if again, err := c.Account(t.Context()); err != nil || again != first {
		t.Errorf("got the account %v and the error %v, and %v before", again, err, first)
	}
}

// cloudClock: delays of tags and pending launches are measured by these times, by runs on
// computers whose clocks differ.
func cloudClock(t *testing.T, c Cloud) {
	times := func() []time.Time {
		_, region, err1 := c.ObserveRegion(t.Context(), c.Request.Region)
		_, pool, err2 := c.ObservePool(t.Context(), c.Request.Region, "uid-1", nil)
		_, named, err3 := c.ObserveNamed(t.Context(), c.Request.Region, "train")
		_, one, err4 := c.ObserveInstances(t.Context(), c.Request.Region, []string{"ins-00000000"})
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		return []time.Time{region, pool, named, one}
	}
	before := times()
	c.Step(time.Hour)
	for n, after := range times() {
		if moved := after.Sub(before[n]); moved < time.Hour || moved > time.Hour+time.Minute {
			t.Errorf("listing %d: the time moved by %s in one hour of the API's clock", n, moved)
		}
	}
}

// callsCounted: reports and metrics show the number of calls of a run.
func callsCounted(t *testing.T, c Cloud) {
	before := c.Calls()
	copied := maps.Clone(before)
	c.launch(t, "train", "uid-1")
	total := func(calls map[string]int) (n int) {
		for _, count := range calls {
			n += count
		}
		return n
	}
	if !maps.Equal(before, copied) || total(c.Calls()) <= total(before) {
		t.Errorf("got %v calls after a launch, want more than %v, in a map of their own", c.Calls(), copied)
	}
}

// lateTags: a cloud may attach tags after the launch. An instance that the journal knows
// must be found by its id meanwhile, or the pool would launch another in its place.
func lateTags(t *testing.T, c Cloud) {
	ids := c.launchUntagged(t, "train", "uid-1")
	list, _, err := c.ObservePool(t.Context(), c.Request.Region, "uid-1", ids)
	expectIDs(t, "the pool with known ids", list, err, ids)
	for _, i := range list {
		if i.PoolUID != "" && i.PoolUID != "uid-1" {
			t.Errorf("%s has the uid %q", i.ID, i.PoolUID)
		}
	}
	c.Step(time.Hour)
	c.expectPool(t, "uid-1", ids)
}

// listingsSelect: one observation of a region serves all its pools; names find what a lost
// journal forgot.
func listingsSelect(t *testing.T, c Cloud) {
	region := c.Request.Region
	old, current, other := c.launch(t, "train", "uid-1"), c.launch(t, "train", "uid-2"), c.launch(t, "serve", "uid-3")
	released := other[:1]
	if err := c.Untag(t.Context(), region, released, spotpool.OwnTags()); err != nil {
		t.Fatal(err)
	}
	c.expectPool(t, "uid-2", current)
	c.expectPool(t, "uid-9", nil)
	list, _, err := c.ObserveNamed(t.Context(), region, "train")
	expectIDs(t, "by name", list, err, slices.Concat(old, current))
	list, _, err = c.ObserveRegion(t.Context(), region)
	expectIDs(t, "the region", list, err, slices.Concat(old, current, other[1:]))
	list, _, err = c.ObserveInstances(t.Context(), region, slices.Concat(released, old, old))
	expectIDs(t, "by id", list, err, slices.Concat(released, old))
}

// foreignInstances: the flow asks for ids that it recorded once. It learns from the uid
// that another pool adopted one.
func foreignInstances(t *testing.T, c Cloud) {
	theirs := c.launch(t, "train", "uid-2")
	list, _, err := c.ObservePool(t.Context(), c.Request.Region, "uid-1", theirs)
	expectIDs(t, "with recorded ids", list, err, theirs)
	for _, i := range list {
		if i.PoolUID != "uid-2" {
			t.Errorf("%s has the uid %q, want uid-2", i.ID, i.PoolUID)
		}
	}
}

// goneInstances: an instance that a listing leaves out is gone. If one id made the call
// fail, a single reclaimed instance would stop its pool.
func goneInstances(t *testing.T, c Cloud) {
	ids := c.launch(t, "train", "uid-1")
	c.Reclaim(ids[0])
	asked := append(slices.Clone(ids), "ins-00000000")
	expectIDs(t, "by id", c.observe(t, asked...), nil, ids[1:])
	list, _, err := c.ObservePool(t.Context(), c.Request.Region, "uid-1", asked)
	expectIDs(t, "the pool", list, err, ids[1:])
	expectIDs(t, "no ids", c.observe(t), nil, nil)
}

// canceledRead: an interrupted listing must not look like an empty region.
func canceledRead(t *testing.T, c Cloud) {
	ids := c.launch(t, "train", "uid-1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, region := c.ObserveRegion(ctx, c.Request.Region)
	_, _, pool := c.ObservePool(ctx, c.Request.Region, "uid-1", ids)
	_, _, byID := c.ObserveInstances(ctx, c.Request.Region, ids)
	_, prices := c.Markets(ctx, c.Request.Region)
	for call, err := range map[string]error{"ObserveRegion": region, "ObservePool": pool, "ObserveInstances": byID, "Markets": prices} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got the error %v, want the context's", call, err)
		}
	}
}

// markets: the pool ranks offerings by price, and launches no more than the quota
// leaves. An unknown quota is not zero.
func markets(t *testing.T, c Cloud) {
	m, err := c.Markets(t.Context(), c.Request.Region)
	if err != nil {
		t.Fatal(err)
	}
	want := c.Request.Offering.Market(c.Request.ChargeType)
	offer, sold := spotpool.OffersByMarket(m.Offers)[want]
	if !sold || offer.Price <= 0 || offer.Stock == spotpool.StockNone || offer.VCPUs <= 0 {
		t.Errorf("got %+v for %s, want a price, a stock and vCPUs", offer, want)
	}
	if (m.SpotVCPUs == nil) != (m.QuotaUnknown != nil) {
		t.Errorf("the quota is %v, and unknown because of %v: want one of the two", m.SpotVCPUs, m.QuotaUnknown)
	}
}

// soldOutMarket: a plan reports it without a launch that is refused.
func soldOutMarket(t *testing.T, c Cloud) {
	market := c.Request.Offering.Market(c.Request.ChargeType)
	m, err := c.Markets(t.Context(), c.Request.Region)
	if offer := spotpool.OffersByMarket(m.Offers)[market]; err != nil || offer.Price <= 0 || offer.Stock == spotpool.StockNone {
		t.Fatalf("%s has the price %d and the stock %q before SellOut (%v), want both", market, offer.Price, offer.Stock, err)
	}
	c.SellOut(market)
	m, err = c.Markets(t.Context(), c.Request.Region)
	if offer, sold := spotpool.OffersByMarket(m.Offers)[market]; err != nil || sold && offer.Stock != spotpool.StockNone {
		t.Errorf("got %+v and the error %v, want no offer, or one without stock", offer, err)
	}
}
