package tencent

import (
	"context"
	"sync"
	"time"

	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Reads answers the reads of many pools, as when Terraform refreshes all of
// them in one plan, with as few calls as it can. Its answers may be as old as
// its maximum age, except that they are never older than the last change that
// was made through the same client. It is for looking, not for acting.
//
// A few pools are read one by one. Where more are asked for, one listing of the
// region answers all, unless the region holds so many instances of other pools
// that reading one by one has cost less so far.
type Reads struct {
	client *Client
	maxAge time.Duration

	mu      sync.Mutex
	regions map[string]*regionReads
}

// readsBefore is how many pools of a region are read one by one before a listing
// of all of them is considered.
const readsBefore = 3

// NewReads shares reads for up to maxAge.
func (c *Client) NewReads(maxAge time.Duration) *Reads {
	return &Reads{client: c, maxAge: maxAge, regions: map[string]*regionReads{}}
}

// regionReads is what is known of one region. Who holds turn may read and
// change it.
type regionReads struct {
	turn    chan struct{} // a lock that can be given up on
	singles int           // pools read one by one since the last listing
	pages   int           // what a listing costs; 0: not known
	pools   poolsListing
	markets marketsListing
}

type poolsListing struct {
	freshness
	at    time.Time // the cloud's clock
	byUID map[string][]spotpool.Instance
}

type marketsListing struct {
	freshness
	offers    []spotpool.Offer
	spotVCPUs map[string]int
	err       error
}

// freshness is when an answer was asked for, and after how many changes.
type freshness struct {
	began  time.Time
	change int
}

func (r *Reads) mark(region string) freshness {
	return freshness{r.client.config.now(), r.client.changes.count(region)}
}

func (r *Reads) fresh(f freshness, region string) bool {
	return !f.began.IsZero() && r.client.config.now().Sub(f.began) < r.maxAge && f.change == r.client.changes.count(region)
}

func (r *Reads) enter(ctx context.Context, region string) (*regionReads, error) {
	r.mu.Lock()
	s := r.regions[region]
	if s == nil {
		s = &regionReads{turn: make(chan struct{}, 1)}
		r.regions[region] = s
	}
	r.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *regionReads) leave() { <-s.turn }

// ObservePool answers as Client.ObservePool does.
func (r *Reads) ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	list, at, listed, err := r.listed(ctx, region, uid)
	if err != nil {
		return nil, time.Time{}, err
	}
	if !listed {
		return r.client.ObservePool(ctx, region, uid, ids)
	}
	list, err = r.client.withUntagged(ctx, region, uid, list, ids)
	return list, at, err
}

// listed answers from a listing of the region, made now if it is worth it.
func (r *Reads) listed(ctx context.Context, region, uid string) ([]spotpool.Instance, time.Time, bool, error) {
	s, err := r.enter(ctx, region)
	if err != nil {
		return nil, time.Time{}, false, err
	}
	defer s.leave()
	if !r.fresh(s.pools.freshness, region) {
		worth, err := r.worthListing(ctx, s, region)
		if err != nil {
			return nil, time.Time{}, false, err
		}
		if !worth {
			s.singles++
			return nil, time.Time{}, false, nil
		}
		if err := r.list(ctx, s, region); err != nil {
			return nil, time.Time{}, false, err
		}
	}
	return append([]spotpool.Instance(nil), s.pools.byUID[uid]...), s.pools.at, true, nil
}

// worthListing compares what a listing costs with what reading one by one has
// cost already.
func (r *Reads) worthListing(ctx context.Context, s *regionReads, region string) (bool, error) {
	if s.singles < readsBefore {
		return false, nil
	}
	if s.pages == 0 {
		head, err := r.client.page(ctx, region, poolsFilter(), 0)
		if err != nil && !isCode(err, codeTagKeyNotFound) {
			return false, err
		}
		s.pages = max(1, (head.total+pageSize-1)/pageSize)
	}
	return s.pages <= max(s.singles, 4*readsBefore), nil
}

func (r *Reads) list(ctx context.Context, s *regionReads, region string) error {
	mark := r.mark(region)
	all, at, err := r.client.ObserveRegion(ctx, region)
	if err != nil {
		return err
	}
	byUID := map[string][]spotpool.Instance{}
	for _, i := range all {
		byUID[i.PoolUID] = append(byUID[i.PoolUID], i)
	}
	s.pools = poolsListing{mark, at, byUID}
	s.singles, s.pages = 0, 0
	return nil
}

// Markets answers as Client.Markets does.
func (r *Reads) Markets(ctx context.Context, region string) ([]spotpool.Offer, map[string]int, error) {
	s, err := r.enter(ctx, region)
	if err != nil {
		return nil, nil, err
	}
	defer s.leave()
	if !r.fresh(s.markets.freshness, region) {
		mark := r.mark(region)
		offers, spotVCPUs, err := r.client.Markets(ctx, region)
		if cloud, ok := spotpool.AsCloudError(err); err != nil && (!ok || cloud.Class != spotpool.ClassConfiguration) {
			return nil, nil, err
		}
		s.markets = marketsListing{mark, offers, spotVCPUs, err}
	}
	return s.markets.offers, s.markets.spotVCPUs, s.markets.err
}

func poolsFilter() *cvm.Filter {
	return &cvm.Filter{Name: pointer("tag-key"), Values: pointers([]string{TagUID})}
}

// changes counts what was changed through a client, by region.
type changes struct {
	mu      sync.Mutex
	regions map[string]int
}

func newChanges() *changes { return &changes{regions: map[string]int{}} }

func (c *changes) note(region string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.regions[region]++
}

func (c *changes) count(region string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.regions[region]
}
