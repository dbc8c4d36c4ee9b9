package toycloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// launch is the record of a token.
type launch struct {
	count int
	ids   []string
	at    time.Time
}

// Launch launches the instances of a request, or returns those that an earlier call with
// its token launched. It checks the token first: a repeated request must not be
// refused for a stock that its first call used up.
func (c *Cloud) Launch(ctx context.Context, r spotpool.Request) (ids []string, at time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, "Launch"); err != nil {
		return nil, time.Time{}, err
	}
	if r.Token == "" {
		return nil, time.Time{}, invalid("Launch", "a launch without a token cannot be repeated")
	}
	made, repeated := c.launches[r.Token]
	if repeated && made.count != r.Count {
		return nil, time.Time{}, invalid("Launch", "the token "+r.Token+" stands for another launch")
	}
	if !repeated {
		if err := c.refuse(r); err != nil {
			return nil, time.Time{}, err
		}
		made = c.create(r)
		c.launches[r.Token] = made
	}
	if c.lose {
		c.lose = false
		return nil, time.Time{}, lost("Launch")
	}
	return slices.Clone(made.ids), made.at, nil
}

// refuse returns why a request is not launched.
func (c *Cloud) refuse(r spotpool.Request) error {
	offer, sold := spotpool.OffersByMarket(c.offers)[r.Offering.Market(r.ChargeType)]
	switch {
	case r.Region != Region || !sold:
		return refusal("Launch", errorclass.Configuration, spotpool.ScopeOffering, "NotSold",
			r.Offering.Market(r.ChargeType).String()+" is not sold in "+r.Region)
	case offer.Stock == spotpool.StockNone:
		return refusal("Launch", errorclass.Capacity, spotpool.ScopeOffering, "SoldOut", offer.String()+" is sold out")
	case r.Offering.SpotMaxPrice > 0 && r.Offering.SpotMaxPrice < offer.Price:
		return refusal("Launch", errorclass.Price, spotpool.ScopeOffering, "PriceTooLow", fmt.Sprintf("%s costs %s an hour", offer.Market, offer.Price))
	}
	return nil
}

// create creates the instances of a request, with the tags by which listings find them.
func (c *Cloud) create(r spotpool.Request) launch {
	tags := map[string]string{
		spotpool.TagUID: r.UID, spotpool.TagPool: r.Pool, spotpool.TagSequence: strconv.FormatInt(r.SeqTag, 10),
		spotpool.TagConfiguration: r.ConfigurationTag,
	}
	maps.Copy(tags, r.Tags)
	made := launch{count: r.Count, at: c.now}
	for range r.Count {
		n := len(c.launches)*1000 + len(made.ids) + 1
		i := &instance{tags: maps.Clone(tags), listedAt: c.now.Add(c.tagDelay), Instance: spotpool.Instance{
			ID: fmt.Sprintf("toy-%06d", n), Region: r.Region, AccountID: Account,
			AvailabilityZone: r.Offering.AvailabilityZone, InstanceType: r.Offering.InstanceType, SubnetID: r.Offering.SubnetID, VPCID: r.VPCID,
			ChargeType: r.ChargeType, State: spotpool.StatePending, LaunchedAt: c.now, PrivateIP: fmt.Sprintf("10.0.%d.%d", n/200, n%200+1),
		}}
		c.instances[i.ID] = i
		made.ids = append(made.ids, i.ID)
	}
	return made
}
