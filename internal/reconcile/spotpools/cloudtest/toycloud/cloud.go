package toycloud

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Region is the only region, and Account the only account.
const (
	Region  = "toy-east"
	Account = "toy-account"
	// Currency is that of every price.
	Currency spotpool.Currency = "CNY"
)

// starting is how long an instance is pending.
const starting = time.Second

// Cloud is a cloud in memory. Create it with New.
type Cloud struct {
	mu        sync.Mutex
	now       time.Time
	instances map[string]*instance
	launches  map[string]launch // by token, for ever: a real cloud says for how long
	offers    []spotpool.Offer
	calls     map[string]int
	tagDelay  time.Duration
	lose      bool // the next response to a launch
	denied    bool
}

type instance struct {
	spotpool.Instance
	tags      map[string]string
	listedAt  time.Time // when listings by tag show it
	protected bool
}

// New returns a cloud that sells one instance type in one zone.
func New() *Cloud {
	market := Request().Offering.Market(spotpool.Spot)
	return &Cloud{
		now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), instances: map[string]*instance{}, launches: map[string]launch{}, calls: map[string]int{},
		offers: []spotpool.Offer{{Market: market, Price: 2_000_000, Currency: Currency, Stock: spotpool.StockEnough, VCPUs: 8, MemoryGB: 32, GPUs: "1"}},
	}
}

// Request is a launch that the toy cloud accepts, apart from its pool and token.
func Request() spotpool.Request {
	return spotpool.Request{
		Region: Region, ChargeType: spotpool.Spot, Count: 2,
		Offering:      spotpool.Offering{AvailabilityZone: "toy-east-1", InstanceType: "TOY1.LARGE", SubnetID: "subnet-1"},
		Configuration: spotpool.Configuration{VPCID: "vpc-1", ImageID: "image-1"},
	}
}

// begin counts a call, and returns why it is refused. The caller holds the lock.
func (c *Cloud) begin(ctx context.Context, action string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.calls[action]++
	if c.denied {
		return denied(action)
	}
	return nil
}

// Account names the account, and the currency of its prices.
func (c *Cloud) Account(ctx context.Context) (spotpool.Account, error) {
	return spotpool.Account{ID: Account, Currency: Currency}, ctx.Err()
}

// Calls counts the calls by action.
func (c *Cloud) Calls() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

// Markets returns the offers. There is no quota.
func (c *Cloud) Markets(ctx context.Context, region string) (spotpool.Markets, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, "Markets"); err != nil {
		return spotpool.Markets{}, err
	}
	if region != Region {
		return spotpool.Markets{}, invalid("Markets", fmt.Sprintf("unknown region %s: use %s", region, Region))
	}
	return spotpool.Markets{Offers: append([]spotpool.Offer{}, c.offers...), QuotaUnknown: errNoQuota}, nil
}
