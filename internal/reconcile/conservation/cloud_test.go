package conservation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const (
	region    = "ap-singapore"
	account   = "100000000001"
	boots     = 40 * time.Second // from launch to running
	dies      = 20 * time.Second // from termination to gone
	lateTags  = 9 * time.Minute
	instances = "GN7.2XLARGE32"
)

// zones are where pools may launch.
var zones = []string{"ap-singapore-2", "ap-singapore-3"}

// cloud is a Tencent Cloud account in memory. It implements spotpools.Cloud.
type cloud struct {
	w        *world
	mu       sync.Mutex
	machines []*machine
	tokens   map[string][]string // the instances that each client token launched
	calls    map[string]int
	last     int
	// tagsLate delays the tags of the next launches by lateTags.
	tagsLate bool
	soldOut  bool
	// listed are the prices of zones; one without a price is 0, and one that is not sold is absent. known are the
	// last prices above 0.
	listed, known map[string]spotpool.Price
}

const price = spotpool.Price(1_000_000)

// machine is one instance, with what no listing shows.
type machine struct {
	spotpool.Instance
	pool     string // the uid of the pool that launched it; empty for a foreign one
	version  string // the configuration tag, which may not have arrived
	made     time.Time
	tagged   time.Time
	tags     spotpool.Instance
	ends     time.Time // when it is gone; zero while it is not to be
	address  int
	joined   bool // its kubelet has registered
	bad      bool // its image keeps a node Ready for a while only
	released bool // its tags were removed
}

func newCloud(w *world) *cloud {
	c := &cloud{w: w, tokens: map[string][]string{}, calls: map[string]int{}, listed: map[string]spotpool.Price{}, known: map[string]spotpool.Price{}}
	for _, zone := range zones {
		c.listed[zone], c.known[zone] = price, price
	}
	for _, uid := range []string{"", "0123456789abcdef0123456789abcdef"} {
		c.add(&machine{address: 200 + len(c.machines), Instance: spotpool.Instance{PoolUID: uid, State: spotpool.StateRunning, AvailabilityZone: zones[0]}})
	}
	return c
}

// add adds a machine; c.mu must be held, or no other goroutine use c.
func (c *cloud) add(m *machine) string {
	c.last++
	m.ID, m.Region, m.AccountID = fmt.Sprintf("ins-%04d", c.last), region, account
	m.ChargeType, m.InstanceType, m.LaunchedAt = spotpool.Spot, instances, time.Now().UTC()
	m.PrivateIP = fmt.Sprintf("10.0.0.%d", m.address)
	m.made = time.Now()
	c.machines = append(c.machines, m)
	return m.ID
}

// pass brings the machines up to now; c.mu must be held.
func (c *cloud) pass() {
	now := time.Now()
	for _, m := range c.machines {
		if m.State == spotpool.StatePending && now.Sub(m.made) >= boots {
			m.State = spotpool.StateRunning
		}
		if m.tags.PoolUID != "" && !m.released && !now.Before(m.tagged) {
			m.PoolUID, m.PoolName, m.SeqTag, m.ConfigurationTag = m.tags.PoolUID, m.tags.PoolName, m.tags.SeqTag, m.tags.ConfigurationTag
		}
	}
	c.machines = slices.DeleteFunc(c.machines, func(m *machine) bool { return !m.ends.IsZero() && !now.Before(m.ends) })
}

// alive reports whether a machine is paid for and not being terminated.
func (m *machine) alive() bool { return m.ends.IsZero() }

// of are the machines that a pool launched and that are alive, oldest first.
func (c *cloud) of(uid string) []*machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass()
	var own []*machine
	for _, m := range c.machines {
		if m.pool == uid && m.alive() && !m.released {
			own = append(own, m)
		}
	}
	return own
}

// cost is the hourly cost of a pool's instances, each at the last price of its zone; c.mu must be held.
func (c *cloud) cost(uid string) (sum spotpool.Price) {
	for _, m := range c.machines {
		if m.pool == uid && m.alive() && !m.released {
			sum += c.known[m.AvailabilityZone]
		}
	}
	return sum
}

// running is the machine of an id while it runs; else nil.
func (c *cloud) running(id string) *machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass()
	for _, m := range c.machines {
		if m.ID == id && m.State == spotpool.StateRunning {
			return m
		}
	}
	return nil
}

func (c *cloud) reclaim(m *machine) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.State, m.ends = spotpool.StateTerminating, time.Now().Add(dies)
}

func (c *cloud) call(action string) {
	c.calls[action]++
	c.pass()
}

func (c *cloud) list(ctx context.Context, action string, fits func(*machine) bool) ([]spotpool.Instance, time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.call(action)
	var list []spotpool.Instance
	for _, m := range c.machines {
		if fits(m) {
			list = append(list, m.Instance)
		}
	}
	slices.SortFunc(list, func(a, b spotpool.Instance) int { return strings.Compare(a.ID, b.ID) })
	return list, time.Now().UTC(), ctx.Err()
}

func (c *cloud) Account(context.Context) (spotpool.Account, error) {
	return spotpool.Account{ID: account, Currency: "CNY"}, nil
}

func (c *cloud) ObserveRegion(ctx context.Context, _ string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, "DescribeInstances", func(m *machine) bool { return m.PoolUID != "" })
}

func (c *cloud) ObservePool(ctx context.Context, _, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, "DescribeInstances", func(m *machine) bool { return m.PoolUID == uid || slices.Contains(ids, m.ID) })
}

func (c *cloud) ObserveNamed(ctx context.Context, _, name string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, "DescribeInstances", func(m *machine) bool { return m.PoolName == name })
}

func (c *cloud) ObserveInstances(ctx context.Context, _ string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return c.list(ctx, "DescribeInstances", func(m *machine) bool { return slices.Contains(ids, m.ID) })
}

func (c *cloud) Markets(ctx context.Context, _ string) (spotpool.Markets, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.call("DescribeZoneInstanceConfigInfos")
	var m spotpool.Markets
	m.SpotVCPUs = map[string]int{}
	for _, zone := range zones {
		m.SpotVCPUs[zone] = 1000
		stock := spotpool.StockEnough
		if c.soldOut {
			stock = spotpool.StockNone
		}
		if of, sold := c.listed[zone]; sold {
			m.Offers = append(m.Offers, spotpool.Offer{
				Market: spotpool.Market{AvailabilityZone: zone, InstanceType: instances, ChargeType: spotpool.Spot}, Price: of, Stock: stock, VCPUs: 8,
			})
		}
	}
	return m, ctx.Err()
}

func (c *cloud) Launch(ctx context.Context, r spotpool.Request) ([]string, time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.call("RunInstances")
	if ids, known := c.tokens[r.Token]; known {
		return ids, time.Now().UTC(), ctx.Err()
	}
	if c.soldOut {
		return nil, time.Time{}, &spotpool.CloudError{
			Class: errorclass.Capacity, Scope: spotpool.ScopeOffering, NothingLaunched: true, Action: "RunInstances",
			Code: "ResourcesSoldOut.SpecifiedInstanceType",
		}
	}
	var ids []string
	for range r.Count {
		m := &machine{
			pool: r.UID, version: r.ConfigurationTag, address: c.freeAddress(), tagged: time.Now(),
			tags:     spotpool.Instance{PoolUID: r.UID, PoolName: r.Pool, SeqTag: r.SeqTag, ConfigurationTag: r.ConfigurationTag},
			Instance: spotpool.Instance{State: spotpool.StatePending, AvailabilityZone: r.Offering.AvailabilityZone, SubnetID: r.Offering.SubnetID},
		}
		if c.tagsLate {
			m.tagged = m.tagged.Add(lateTags)
		}
		ids = append(ids, c.add(m))
	}
	c.pass()
	c.tokens[r.Token] = ids
	c.w.launched(r, ids)
	return ids, time.Now().UTC(), nil
}

// freeAddress is one that no machine has: the lowest where the network hands addresses out
// again at once, and with them host names.
func (c *cloud) freeAddress() int {
	if !c.w.reuses {
		return c.last + 1
	}
	for n := 1; ; n++ {
		if !slices.ContainsFunc(c.machines, func(m *machine) bool { return m.address == n && m.alive() }) {
			return n
		}
	}
}

func (c *cloud) Terminate(ctx context.Context, _ string, list []spotpool.Instance) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.call("TerminateInstances")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var ended []string
	for _, i := range list {
		at := slices.IndexFunc(c.machines, func(m *machine) bool { return m.ID == i.ID })
		if at < 0 {
			ended = append(ended, i.ID)
			continue
		}
		m := c.machines[at]
		if m.State == spotpool.StatePending {
			continue // the adapter returns those that end
		}
		if m.alive() {
			c.w.terminates(m)
			m.State, m.ends = spotpool.StateTerminating, time.Now().Add(dies)
		}
		ended = append(ended, i.ID)
	}
	return ended, nil
}

func (c *cloud) Tag(ctx context.Context, _ string, ids []string, _ map[string]string) error {
	return c.retag(ctx, "TagResources", ids, false)
}

func (c *cloud) Untag(ctx context.Context, _ string, ids []string, _ []string) error {
	return c.retag(ctx, "UnTagResources", ids, true)
}

func (c *cloud) retag(ctx context.Context, action string, ids []string, release bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.call(action)
	for _, m := range c.machines {
		if !slices.Contains(ids, m.ID) {
			continue
		}
		if m.pool == "" {
			c.w.violated(promiseForeign, "%s of the foreign instance %s", action, m.ID)
		}
		if release {
			m.released, m.PoolUID, m.PoolName, m.SeqTag, m.ConfigurationTag = true, "", "", 0, ""
		}
	}
	return ctx.Err()
}

func (c *cloud) Calls() map[string]int { return map[string]int{} }
