package reconciletest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// ErrKilled is what a process that was killed gets from everything it touches.
var ErrKilled = errors.New("killed")

// ErrUnanswered is what an effect fails with whose outcome nobody learns.
var ErrUnanswered = errors.New("the connection was lost before the answer came")

// Mortal is a process that can be killed right before or right after its n-th
// effect: a call of the cloud, or a write, delete or lock of the store. From
// then on nothing it does has an effect, and the locks it held are free.
type Mortal struct {
	mu     sync.Mutex
	KillAt int    // the effect to die at, from 1; 0 never
	KillOn string // or the first effect of this name to die at
	Pause  func() // before each effect; nil: none
	After  bool   // after the effect took place, not before
	Count  int    // of the effects so far
	dead   bool
	// FailOn is the effect that fails FailTimes, before or after it took place.
	FailOn    string
	FailTimes int
	Trace     []string // the names of the effects so far
	locks     []store.Lock
}

// effect runs do unless the process dies before it or is dead.
func (m *Mortal) effect(name string, do func() error) error {
	if m.Pause != nil {
		m.Pause()
	}
	m.mu.Lock()
	if m.dead {
		m.mu.Unlock()
		return ErrKilled
	}
	m.Count++
	m.Trace = append(m.Trace, name)
	dies := m.Count == m.KillAt || m.KillOn == name
	if dies && !m.After {
		m.die()
		m.mu.Unlock()
		return ErrKilled
	}
	fails := name == m.FailOn && m.FailTimes > 0
	if fails {
		m.FailTimes--
	}
	m.mu.Unlock()
	if fails && !m.After {
		return ErrUnanswered
	}
	err := do()
	if fails {
		return ErrUnanswered
	}
	if dies {
		m.mu.Lock()
		m.die()
		m.mu.Unlock()
		return ErrKilled
	}
	return err
}

// die frees the locks, as the end of a process does; mu must be held.
func (m *Mortal) die() {
	m.dead = true
	for _, l := range m.locks {
		_ = l.Release()
	}
}

// Possess has all that an engine does be what this process does.
func (m *Mortal) Possess(e *reconcile.Engine) {
	e.Store = m.store(e.Store)
	if e.Cloud != nil {
		e.Cloud = m.cloud(e.Cloud)
	}
	if connect := e.Cluster; connect != nil {
		e.Cluster = func(ctx context.Context) (reconcile.Cluster, error) {
			c, err := connect(ctx)
			if err != nil {
				return nil, err
			}
			return &mortalCluster{Cluster: c, m: m}, nil
		}
	}
}

func (m *Mortal) cloud(c spotpools.Cloud) spotpools.Cloud { return &mortalCloud{Cloud: c, m: m} }
func (m *Mortal) store(s store.Store) store.Store         { return &mortalStore{Store: s, m: m} }

type mortalCloud struct {
	spotpools.Cloud
	m *Mortal
}

func (c *mortalCloud) ObserveRegion(ctx context.Context, region string) (list []spotpool.Instance, at time.Time, err error) {
	err = c.m.effect("ObserveRegion", func() error { list, at, err = c.Cloud.ObserveRegion(ctx, region); return err })
	return list, at, err
}

func (c *mortalCloud) ObservePool(ctx context.Context, region, uid string, ids []string) (list []spotpool.Instance, at time.Time, err error) {
	err = c.m.effect("ObservePool", func() error { list, at, err = c.Cloud.ObservePool(ctx, region, uid, ids); return err })
	return list, at, err
}

func (c *mortalCloud) ObserveNamed(ctx context.Context, region, name string) (list []spotpool.Instance, at time.Time, err error) {
	err = c.m.effect("ObserveNamed", func() error { list, at, err = c.Cloud.ObserveNamed(ctx, region, name); return err })
	return list, at, err
}

func (c *mortalCloud) ObserveInstances(ctx context.Context, region string, ids []string) (list []spotpool.Instance, at time.Time, err error) {
	err = c.m.effect("ObserveInstances", func() error {
		list, at, err = c.Cloud.ObserveInstances(ctx, region, ids)
		return err
	})
	return list, at, err
}

func (c *mortalCloud) Launch(ctx context.Context, r spotpool.Request) (ids []string, at time.Time, err error) {
	err = c.m.effect("Launch", func() error { ids, at, err = c.Cloud.Launch(ctx, r); return err })
	if errors.Is(err, ErrKilled) {
		ids = nil
	}
	return ids, at, err
}

func (c *mortalCloud) Terminate(ctx context.Context, region string, list []spotpool.Instance) (ids []string, err error) {
	err = c.m.effect("Terminate", func() error { ids, err = c.Cloud.Terminate(ctx, region, list); return err })
	return ids, err
}

func (c *mortalCloud) Untag(ctx context.Context, region string, ids, keys []string) error {
	return c.m.effect("Untag", func() error { return c.Cloud.Untag(ctx, region, ids, keys) })
}

func (c *mortalCloud) Tag(ctx context.Context, region string, ids []string, tags map[string]string) error {
	return c.m.effect("Tag", func() error { return c.Cloud.Tag(ctx, region, ids, tags) })
}

type mortalStore struct {
	store.Store
	m *Mortal
}

func (s *mortalStore) Read(ctx context.Context, key store.Key) (store.Document, error) {
	if s.m.IsDead() {
		return store.Document{}, ErrKilled
	}
	return s.Store.Read(ctx, key)
}

func (s *mortalStore) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	if s.m.IsDead() {
		return nil, ErrKilled
	}
	return s.Store.List(ctx, kind)
}

func (s *mortalStore) Write(ctx context.Context, key store.Key, data []byte, r store.Revision) (next store.Revision, err error) {
	err = s.m.effect("Write "+string(key.Kind), func() error { next, err = s.Store.Write(ctx, key, data, r); return err })
	return next, err
}

func (s *mortalStore) Delete(ctx context.Context, key store.Key, r store.Revision) error {
	return s.m.effect("Delete "+string(key.Kind), func() error { return s.Store.Delete(ctx, key, r) })
}

func (s *mortalStore) Lock(ctx context.Context, name string, wait time.Duration) (lock store.Lock, err error) {
	err = s.m.effect("Lock", func() error { lock, err = s.Store.Lock(ctx, name, wait); return err })
	if lock != nil {
		s.m.mu.Lock()
		s.m.locks = append(s.m.locks, lock)
		if s.m.dead {
			_ = lock.Release()
		}
		s.m.mu.Unlock()
	}
	return lock, err
}

// IsDead tells whether the process was killed.
func (m *Mortal) IsDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}
