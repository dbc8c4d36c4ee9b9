package spotpools

import (
	"context"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// LazyCloud is a cloud that is built by its first call, so that a store without spot
// pools needs no credentials. Where building it fails, that call fails, and the next
// one tries again.
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

func (l *lazyCloud) AccountID(ctx context.Context) (string, error) {
	c, err := l.get(ctx)
	if err != nil {
		return "", err
	}
	return c.AccountID(ctx)
}

func (l *lazyCloud) ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error) {
	c, err := l.get(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return c.ObserveRegion(ctx, region)
}

func (l *lazyCloud) ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	c, err := l.get(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return c.ObservePool(ctx, region, uid, ids)
}

func (l *lazyCloud) ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error) {
	c, err := l.get(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return c.ObserveNamed(ctx, region, name)
}

func (l *lazyCloud) ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error) {
	c, err := l.get(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return c.ObserveInstances(ctx, region, ids)
}

func (l *lazyCloud) Markets(ctx context.Context, region string) (spotpool.Markets, error) {
	c, err := l.get(ctx)
	if err != nil {
		return spotpool.Markets{}, err
	}
	return c.Markets(ctx, region)
}

func (l *lazyCloud) Launch(ctx context.Context, r spotpool.Request) ([]string, time.Time, error) {
	c, err := l.get(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	return c.Launch(ctx, r)
}

func (l *lazyCloud) Terminate(ctx context.Context, region string, instances []spotpool.Instance) ([]string, error) {
	c, err := l.get(ctx)
	if err != nil {
		return nil, err
	}
	return c.Terminate(ctx, region, instances)
}

func (l *lazyCloud) Tag(ctx context.Context, region string, ids []string, tags map[string]string) error {
	c, err := l.get(ctx)
	if err != nil {
		return err
	}
	return c.Tag(ctx, region, ids, tags)
}

func (l *lazyCloud) Untag(ctx context.Context, region string, ids, keys []string) error {
	c, err := l.get(ctx)
	if err != nil {
		return err
	}
	return c.Untag(ctx, region, ids, keys)
}

// Calls is empty until the cloud was built.
func (l *lazyCloud) Calls() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cloud == nil {
		return map[string]int{}
	}
	return l.cloud.Calls()
}
