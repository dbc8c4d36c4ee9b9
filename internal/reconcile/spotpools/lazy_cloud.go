package spotpools

import (
	"context"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// LazyCloud returns a cloud that is built by its first call, so that a store without spot
// pools needs no credentials. If that fails, the next call retries.
func LazyCloud(build func(ctx context.Context) (Cloud, error)) Cloud { return &lazyCloud{build: build} }

type lazyCloud struct {
	build func(ctx context.Context) (Cloud, error)
	mu    sync.Mutex
	cloud Cloud
}

func (l *lazyCloud) get(ctx context.Context) (Cloud, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cloud != nil {
		return l.cloud, nil
	}
	cloud, err := l.build(ctx)
	if err != nil {
		return nil, err
	}
	l.cloud = cloud
	return cloud, nil
}

func (l *lazyCloud) with(ctx context.Context, do func(Cloud) error) error {
	c, err := l.get(ctx)
	if err != nil {
		return err
	}
	return do(c)
}

// list is with for calls that list instances.
func (l *lazyCloud) list(ctx context.Context, do func(Cloud) ([]spotpool.Instance, time.Time, error)) (found []spotpool.Instance, at time.Time, err error) {
	err = l.with(ctx, func(c Cloud) (err error) { found, at, err = do(c); return err })
	return found, at, err
}

func (l *lazyCloud) Account(ctx context.Context) (account spotpool.Account, err error) {
	err = l.with(ctx, func(c Cloud) (err error) { account, err = c.Account(ctx); return err })
	return account, err
}

func (l *lazyCloud) ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error) {
	return l.list(ctx, func(c Cloud) ([]spotpool.Instance, time.Time, error) { return c.ObserveRegion(ctx, region) })
}

func (l *lazyCloud) ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return l.list(ctx, func(c Cloud) ([]spotpool.Instance, time.Time, error) { return c.ObservePool(ctx, region, uid, ids) })
}

func (l *lazyCloud) ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error) {
	return l.list(ctx, func(c Cloud) ([]spotpool.Instance, time.Time, error) { return c.ObserveNamed(ctx, region, name) })
}

func (l *lazyCloud) ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return l.list(ctx, func(c Cloud) ([]spotpool.Instance, time.Time, error) { return c.ObserveInstances(ctx, region, ids) })
}

func (l *lazyCloud) Markets(ctx context.Context, region string) (m spotpool.Markets, err error) {
	err = l.with(ctx, func(c Cloud) (err error) { m, err = c.Markets(ctx, region); return err })
	return m, err
}

func (l *lazyCloud) Launch(ctx context.Context, r spotpool.Request) (ids []string, at time.Time, err error) {
	err = l.with(ctx, func(c Cloud) (err error) { ids, at, err = c.Launch(ctx, r); return err })
	return ids, at, err
}

func (l *lazyCloud) Terminate(ctx context.Context, region string, instances []spotpool.Instance) (ended []string, err error) {
	err = l.with(ctx, func(c Cloud) (err error) { ended, err = c.Terminate(ctx, region, instances); return err })
	return ended, err
}

func (l *lazyCloud) Tag(ctx context.Context, region string, ids []string, tags map[string]string) error {
	return l.with(ctx, func(c Cloud) error { return c.Tag(ctx, region, ids, tags) })
}

func (l *lazyCloud) Untag(ctx context.Context, region string, ids, keys []string) error {
	return l.with(ctx, func(c Cloud) error { return c.Untag(ctx, region, ids, keys) })
}

// Calls is empty before the first call.
func (l *lazyCloud) Calls() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cloud == nil {
		return map[string]int{}
	}
	return l.cloud.Calls()
}
