package tencent

import (
	"cmp"
	"context"
	"slices"
	"time"

	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"
	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const (
	// pageSize is the most that DescribeInstances shows at once, and the most
	// ids that it and TerminateInstances take.
	pageSize = 100
	// pagesAtOnce bounds the pages under way; the rate limit bounds them, too.
	pagesAtOnce = 8
	// listings bounds how often a listing is begun again because its pages contradict
	// each other.
	listings = 3
	// codeTagKeyNotFound is the response to a filter by an unused tag key.
	codeTagKeyNotFound = "InvalidParameterValue.TagKeyNotFound"
)

// ObserveRegion lists every instance of the region with a pool's UID, and the time of the
// listing.
func (c *Client) ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error) {
	return c.observe(ctx, region, &cvm.Filter{Name: pointer("tag-key"), Values: pointers([]string{spotpool.TagUID})})
}

// ObservePool lists the instances with the pool's UID, and the existing ones of ids without it.
// Tags are attached after an instance is created (RunInstances, TagSpecification). IDs that do
// not exist are omitted.
func (c *Client) ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	tagged, at, err := c.observe(ctx, region, tagFilter(spotpool.TagUID, uid))
	if err != nil {
		return nil, time.Time{}, err
	}
	untagged := missing(ids, tagged)
	if len(untagged) == 0 {
		return tagged, at, nil
	}
	found, _, err := c.ObserveInstances(ctx, region, untagged)
	if err != nil {
		return nil, time.Time{}, err
	}
	return sorted(append(tagged, found...)), at, nil
}

// ObserveNamed lists the instances that carry a pool's name, whatever their uid.
func (c *Client) ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error) {
	return c.observe(ctx, region, tagFilter(spotpool.TagPool, name))
}

// ObserveInstances describes instances by id. Those that are gone are left out.
func (c *Client) ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error) {
	account, err := c.AccountID(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	chunks := slices.Collect(slices.Chunk(ids, pageSize))
	pages := make([]page, len(chunks))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(pagesAtOnce)
	for n, chunk := range chunks {
		group.Go(func() (err error) {
			request := cvm.NewDescribeInstancesRequest()
			request.InstanceIds = pointers(chunk)
			request.Limit = pointer(int64(pageSize))
			pages[n], err = c.describe(within, region, account, request)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, time.Time{}, err
	}
	at := c.config.now().UTC()
	var all []spotpool.Instance
	for n, p := range pages {
		if n == 0 {
			at = p.at
		}
		all = append(all, p.instances...)
	}
	return sorted(all), at, nil
}

func tagFilter(key, text string) *cvm.Filter {
	return &cvm.Filter{Name: pointer("tag:" + key), Values: pointers([]string{text})}
}

// observe lists the instances that a filter selects. Paging by offset is no snapshot, so a
// listing whose pages contradict each other is repeated. If none is consistent, every observed
// instance counts, in its last state.
func (c *Client) observe(ctx context.Context, region string, filter *cvm.Filter) ([]spotpool.Instance, time.Time, error) {
	account, err := c.AccountID(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	seen := map[string]spotpool.Instance{}
	for n := 1; ; n++ {
		l, err := c.list(ctx, region, account, filter)
		if isCode(err, codeTagKeyNotFound) {
			return nil, l.at, nil
		}
		if err != nil {
			return nil, time.Time{}, err
		}
		if l.consistent {
			clear(seen)
		}
		for _, i := range l.instances {
			if i.ID != "" {
				seen[i.ID] = i
			}
		}
		if l.consistent || n == listings {
			all := make([]spotpool.Instance, 0, len(seen))
			for _, i := range seen {
				all = append(all, i)
			}
			return sorted(all), l.at, nil
		}
	}
}

// page is one answer of DescribeInstances. What of it no pool asks for is dropped as it
// comes: of all pages of a region, that is most.
type page struct {
	at        time.Time
	total     int
	instances []spotpool.Instance
}

type listing struct {
	page
	consistent bool // no page contradicts another
}

// list asks for the first page, and then for all others at once.
func (c *Client) list(ctx context.Context, region, account string, filter *cvm.Filter) (listing, error) {
	head, err := c.page(ctx, region, account, filter, 0)
	if err != nil {
		return listing{page: head}, err
	}
	rest := make([]page, max(0, (head.total-1)/pageSize))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(pagesAtOnce)
	for n := range rest {
		group.Go(func() (err error) {
			rest[n], err = c.page(within, region, account, filter, (n+1)*pageSize)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return listing{page: head}, err
	}
	l := listing{page: head, consistent: true}
	ids := map[string]bool{}
	for _, p := range append([]page{head}, rest...) {
		l.consistent = l.consistent && p.total == head.total
		for _, i := range p.instances {
			ids[i.ID] = true
		}
	}
	for _, p := range rest {
		l.instances = append(l.instances, p.instances...)
	}
	l.consistent = l.consistent && len(ids) == head.total
	return l, nil
}

func (c *Client) page(ctx context.Context, region, account string, filter *cvm.Filter, offset int) (page, error) {
	request := cvm.NewDescribeInstancesRequest()
	request.Filters = []*cvm.Filter{filter}
	request.Limit = pointer(int64(pageSize))
	if offset > 0 {
		request.Offset = pointer(int64(offset))
	}
	return c.describe(ctx, region, account, request)
}

func (c *Client) describe(ctx context.Context, region, account string, request *cvm.DescribeInstancesRequest) (page, error) {
	response := cvm.NewDescribeInstancesResponse()
	got, err := c.api.call(ctx, c.keys, region, request, response)
	p := page{at: got.at}
	if err == nil && response.Response != nil {
		p.total = int(value(response.Response.TotalCount))
		for _, i := range response.Response.InstanceSet {
			if i != nil {
				p.instances = append(p.instances, instanceFrom(i, region, account))
			}
		}
	}
	return p, err
}

// missing lists the ids that are not among the instances.
func missing(ids []string, instances []spotpool.Instance) []string {
	there := make(map[string]bool, len(instances))
	for _, i := range instances {
		there[i.ID] = true
	}
	var out []string
	for _, id := range ids {
		if !there[id] {
			out = append(out, id)
		}
	}
	return out
}

func sorted(list []spotpool.Instance) []spotpool.Instance {
	slices.SortFunc(list, func(a, b spotpool.Instance) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(list, func(a, b spotpool.Instance) bool { return a.ID == b.ID })
}
