package reconciletest

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Possess returns a world in which all calls are those of a process. Its cluster is one in
// memory, or has a method By as that one has.
func Possess(w reconcile.World, p *faults.Process) reconcile.World {
	w.Store = hookedStore{w.Store, p}
	if w.Cloud != nil {
		w.Cloud = hookedCloud{w.Cloud, p}
	}
	if connect := w.Cluster; connect != nil {
		w.Cluster = func(ctx context.Context) (reconcile.Cluster, error) {
			c, err := connect(ctx)
			if err != nil {
				return nil, err
			}
			return c.(interface {
				By(hooks ...faults.Hook) reconcile.Cluster
			}).By(p.Hook), nil
		}
	}
	return w
}

type hookedCloud struct {
	spotpools.Cloud
	by *faults.Process
}

func ask[T any](ctx context.Context, c hookedCloud, name string, do func() (T, time.Time, error)) (answer T, at time.Time, err error) {
	answer, err = faults.Get(ctx, []faults.Hook{c.by.Hook}, faults.Call{Name: name}, func() (answer T, err error) {
		answer, at, err = do()
		return answer, err
	})
	return answer, at, err
}

func (c hookedCloud) ObserveRegion(ctx context.Context, region string) ([]spotpool.Instance, time.Time, error) {
	return ask(ctx, c, "ObserveRegion", func() ([]spotpool.Instance, time.Time, error) { return c.Cloud.ObserveRegion(ctx, region) })
}

func (c hookedCloud) ObservePool(ctx context.Context, region, uid string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return ask(ctx, c, "ObservePool", func() ([]spotpool.Instance, time.Time, error) { return c.Cloud.ObservePool(ctx, region, uid, ids) })
}

func (c hookedCloud) ObserveNamed(ctx context.Context, region, name string) ([]spotpool.Instance, time.Time, error) {
	return ask(ctx, c, "ObserveNamed", func() ([]spotpool.Instance, time.Time, error) { return c.Cloud.ObserveNamed(ctx, region, name) })
}

func (c hookedCloud) ObserveInstances(ctx context.Context, region string, ids []string) ([]spotpool.Instance, time.Time, error) {
	return ask(ctx, c, "ObserveInstances", func() ([]spotpool.Instance, time.Time, error) { return c.Cloud.ObserveInstances(ctx, region, ids) })
}

func (c hookedCloud) Launch(ctx context.Context, r spotpool.Request) ([]string, time.Time, error) {
	return ask(ctx, c, "Launch", func() ([]string, time.Time, error) { return c.Cloud.Launch(ctx, r) })
}

func (c hookedCloud) Terminate(ctx context.Context, region string, list []spotpool.Instance) ([]string, error) {
	return faults.Get(ctx, []faults.Hook{c.by.Hook}, faults.Call{Name: "Terminate"}, func() ([]string, error) { return c.Cloud.Terminate(ctx, region, list) })
}

func (c hookedCloud) Untag(ctx context.Context, region string, ids, keys []string) error {
	return c.by.Hook(ctx, faults.Call{Name: "Untag"}, func() error { return c.Cloud.Untag(ctx, region, ids, keys) })
}

func (c hookedCloud) Tag(ctx context.Context, region string, ids []string, tags map[string]string) error {
	return c.by.Hook(ctx, faults.Call{Name: "Tag"}, func() error { return c.Cloud.Tag(ctx, region, ids, tags) })
}

// hookedStore is a store as a process reaches it. Reads are not points of a trace.
type hookedStore struct {
	store.Store
	by *faults.Process
}

func (s hookedStore) Read(ctx context.Context, key store.Key) (store.Document, error) {
	if s.by.Dead() {
		return store.Document{}, faults.ErrKilled
	}
	return s.Store.Read(ctx, key)
}

func (s hookedStore) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	if s.by.Dead() {
		return nil, faults.ErrKilled
	}
	return s.Store.List(ctx, kind)
}

func (s hookedStore) Write(ctx context.Context, key store.Key, data []byte, r store.Revision) (store.Revision, error) {
	return faults.Get(ctx, []faults.Hook{s.by.Hook}, faults.Call{Name: "Write " + string(key.Kind)}, func() (store.Revision, error) {
		return s.Store.Write(ctx, key, data, r)
	})
}

func (s hookedStore) Delete(ctx context.Context, key store.Key, r store.Revision) error {
	return s.by.Hook(ctx, faults.Call{Name: "Delete " + string(key.Kind)}, func() error { return s.Store.Delete(ctx, key, r) })
}

func (s hookedStore) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	return faults.Get(ctx, []faults.Hook{s.by.Hook}, faults.Call{Name: "Lock"}, func() (store.Lock, error) {
		lock, err := s.Store.Lock(ctx, name, wait)
		if err == nil {
			s.by.Hold(lock)
		}
		return lock, err
	})
}
