package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const (
	firstLook   = 20 * time.Millisecond
	longestLook = time.Second
	// looks is how often a lock that another process just took is tried again at once.
	looks = 3
	// leaseTimeout is how long one call about a Lease may take.
	leaseTimeout = 10 * time.Second
)

// errNoDate keeps this machine's clock from deciding whether a lock is free.
var errNoDate = errors.New("the API server's answers carry no Date header, by which locks are judged: something on the way removes it")

// locks are those of a store, each a Lease.
type locks struct{ *layout }

type contender struct {
	locks *locks
	name  string
	who   identity

	// seen is the version of the last observed Lease. The time next to it is since when it is
	// unchanged, by this machine's monotonic clock.
	seen  string
	since time.Time
}

// Lock takes the named lock, or returns *store.LockedError after waiting for the given time. A
// holder that does not renew its Lease loses it.
func (k *locks) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := store.ValidateName(name); err != nil {
		return nil, err
	}
	c := &contender{locks: k, name: name, who: newIdentity(k.options.Command)}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		// A try is always completed: a Lease that was requested and then forgotten would block
		// every process.
		held, other, err := c.try(context.WithoutCancel(ctx))
		switch {
		case err != nil:
			return nil, fmt.Errorf("cannot take the lock %q of %s: %w", name, k, err)
		case held != nil:
			return held, nil
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-waiting.Done():
			timer.Stop()
			locked := &store.LockedError{Name: name, Holder: holderOf(other)}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("gave up waiting: %w: %w", locked, ctx.Err())
			}
			return nil, locked
		case <-timer.C:
		}
	}
}

func (c *contender) object() string {
	return "leases " + c.locks.location.Namespace + "/" + objectName(locksKind, c.name)
}

// try takes the lock if it is free, and else returns its holder's Lease. If another process was
// faster, it tries again: that may have been an earlier call of its own whose response was lost.
func (c *contender) try(ctx context.Context) (held *lock, other *coordinationv1.Lease, err error) {
	for range looks {
		found, err := c.locks.lease(ctx, c.name)
		switch {
		case apierrors.IsNotFound(err):
			found = nil
		case err != nil:
			return nil, nil, kubeclient.Wrap("get", c.object(), err)
		case holderIdentity(found) == c.who.String(): // renewed, since it may expire soon
		default:
			if free, err := c.free(found); err != nil || !free {
				return nil, found, err
			}
		}
		if held, err = c.take(ctx, found); held != nil || err != nil {
			return held, nil, err
		}
		other = found
	}
	return nil, other, nil
}

// free reports whether a Lease's holder is gone. Either the API server's clock is past its expiry,
// or it stayed unchanged for its whole duration. The latter also works if the servers' clocks were
// set. If the holder's death can be proven on this machine, there is no wait.
func (c *contender) free(lease *coordinationv1.Lease) (bool, error) {
	if c.seen != lease.ResourceVersion {
		c.seen, c.since = lease.ResourceVersion, time.Now()
	}
	now := c.locks.cluster.Now()
	if now.IsZero() {
		return false, errNoDate
	}
	over := holderIdentity(lease) == "" || now.After(expiry(lease)) || time.Since(c.since) > durationOf(lease)
	return over || deathOf(lease).proven(), nil
}

// take creates the Lease, or takes over one that is free. The second process gets a conflict, and
// then neither a lock nor an error.
func (c *contender) take(ctx context.Context, from *coordinationv1.Lease) (*lock, error) {
	verb, send := "create", func(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
		return c.locks.leases.Create(ctx, l, metav1.CreateOptions{})
	}
	wanted := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name:        objectName(locksKind, c.name),
		Labels:      map[string]string{kindLabel: locksKind, managedByLabel: managedBy},
		Annotations: map[string]string{keyAnnotation: locksKind + "/" + c.name},
	}}
	if from != nil {
		verb, wanted, send = "update", from.DeepCopy(), c.locks.update
	}
	var sent time.Time
	var taken *coordinationv1.Lease
	err := retry(ctx, func(ctx context.Context) (err error) {
		limited, cancel := context.WithTimeout(ctx, leaseTimeout)
		defer cancel()
		// Each try dates the lease again, since the one before may have taken long.
		now := c.locks.cluster.Now()
		if now.IsZero() {
			return errNoDate
		}
		hold(wanted, c.who, c.locks.options.LeaseDuration, now)
		sent = time.Now()
		taken, err = send(limited, wanted)
		return err
	})
	switch {
	case err == nil:
		return newLock(c, taken, sent), nil
	case errors.Is(err, errNoDate):
		return nil, err
	case noNamespace(err):
		return nil, c.locks.noStore()
	case lostRace(err):
		return nil, nil
	}
	return nil, kubeclient.Wrap(verb, c.object(), err)
}

// Holder returns the holder of the lock's Lease. The holder is gone if the Lease has expired, since
// releasing it removes it, or if its death is proven.
func (k *locks) Holder(ctx context.Context, name string) (*store.Holder, error) {
	if err := store.ValidateName(name); err != nil {
		return nil, err
	}
	found, err := k.lease(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the holder of the lock %q of %s: %w", name, k,
			kubeclient.Wrap("get", "leases "+k.location.Namespace+"/"+objectName(locksKind, name), err))
	}
	h, now := holderIn(found), k.cluster.Now()
	if h == nil || now.IsZero() {
		return nil, nil
	}
	h.Until = expiry(found).UTC()
	h.Heard, h.Gone = h.Until.Add(-durationOf(found)), now.After(h.Until) || deathOf(found).proven()
	return h, nil
}

func (k *locks) lease(ctx context.Context, name string) (found *coordinationv1.Lease, err error) {
	err = retry(ctx, func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, leaseTimeout)
		defer cancel()
		found, err = k.leases.Get(limited, objectName(locksKind, name), metav1.GetOptions{})
		return err
	})
	return found, err
}

func (k *locks) update(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return k.leases.Update(ctx, lease, metav1.UpdateOptions{})
}
