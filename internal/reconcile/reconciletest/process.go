package reconciletest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
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
	if w.Sender != nil {
		w.Sender = hookedSender{w.Sender, p}
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

type hookedSender struct {
	notifications.Sender
	by *faults.Process
}

func (s hookedSender) Send(ctx context.Context, d notification.Declaration, m notification.Message) error {
	return s.by.Hook(ctx, faults.Call{Name: "Send"}, func() error { return s.Sender.Send(ctx, d, m) })
}

// Receiver is a Sender that keeps its messages. Err is what it fails with; nil if it succeeds.
type Receiver struct {
	mu       sync.Mutex
	messages []notification.Message
	Err      error
}

// Send keeps a message.
func (r *Receiver) Send(_ context.Context, _ notification.Declaration, m notification.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Err == nil {
		r.messages = append(r.messages, m)
	}
	return r.Err
}

// Messages returns the messages so far.
func (r *Receiver) Messages() []notification.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.messages)
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

// Until repeats an operation with longer and longer timeouts until its error contains a text, since a
// slow machine observes nothing within a short one. It returns the last error.
func Until(text string, do func(timeout time.Duration) error) (err error) {
	for timeout := time.Second / 2; timeout < 2*time.Minute; timeout *= 2 {
		if err = do(timeout); err == nil || strings.Contains(err.Error(), text) {
			break
		}
	}
	return err
}
