package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// lock is a Lease that was taken. One goroutine renews it.
type lock struct {
	locks  *locks
	name   string
	who    identity
	object string

	lost    chan struct{}
	stop    context.CancelFunc
	stopped chan struct{} // closed when the renewal stops
	release func() error

	// lease is the last state of the Lease; renewed is when its last renewal was requested. Both
	// belong to the renewing goroutine until stopped is closed.
	lease   *coordinationv1.Lease
	renewed time.Time
}

func newLock(c *contender, lease *coordinationv1.Lease, sent time.Time) *lock {
	ctx, stop := context.WithCancel(context.Background())
	l := &lock{
		locks: c.locks, name: c.name, who: c.who, object: c.object(),
		lost: make(chan struct{}), stop: stop, stopped: make(chan struct{}), lease: lease, renewed: sent,
	}
	l.release = sync.OnceValue(l.releaseLease)
	go l.keep(ctx)
	return l
}

// Release releases the lock. Releasing it twice is harmless. If it fails, the lock is free once its
// Lease has expired.
func (l *lock) Release() error { return l.release() }

// Lost is closed when another process has taken the lock, or could soon.
func (l *lock) Lost() <-chan struct{} { return l.lost }

// safe returns for how long after the request of a renewal no other process can have the lock. It
// is less than the Lease's duration, since servers' clocks differ and have whole seconds. The
// holder's estimate of the time can also be a second worse than that of a waiting process.
func (l *lock) safe() time.Duration {
	duration := l.locks.options.LeaseDuration
	return duration - max(duration/6, 2*time.Second)
}

// keep renews the Lease until the lock is released or lost.
func (l *lock) keep(ctx context.Context) {
	defer close(l.stopped)
	every := l.locks.options.RenewEvery
	next := every
	for {
		timer := time.NewTimer(next - min(next, time.Since(l.renewed)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		mine, err := l.renew(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case !mine, err != nil && time.Since(l.renewed) >= l.safe():
			close(l.lost)
			return
		case err != nil:
			next = min(time.Since(l.renewed)+every/10, l.safe())
		default:
			next = every
		}
	}
}

// renew extends the Lease. The lock is lost if another process has the Lease, or if it was deleted.
func (l *lock) renew(ctx context.Context) (mine bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, min(leaseTimeout, max(time.Second, l.safe()-time.Since(l.renewed))))
	defer cancel()
	for range 2 {
		sent, at := time.Now(), l.locks.cluster.Now()
		wanted := l.lease.DeepCopy()
		wanted.Spec.RenewTime = new(metav1.NewMicroTime(at))
		renewed, err := l.locks.update(ctx, wanted)
		if err != nil {
			return l.isStillHeld(ctx, err)
		}
		l.lease, l.renewed = renewed, sent
		// If this machine slept, its last reading of the time is long past. The response has the
		// time in whole seconds.
		if behind := l.locks.cluster.Now().Sub(at) - time.Since(sent); behind <= time.Second {
			break
		}
	}
	return true, nil
}

// isStillHeld reports whether a Lease that could not be renewed is still ours.
func (l *lock) isStillHeld(ctx context.Context, err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if !apierrors.IsConflict(err) {
		return true, err
	}
	// The Lease was changed, perhaps by a renewal of ours whose response was lost.
	found, err := l.locks.leases.Get(ctx, l.lease.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return true, err
	case holderIdentity(found) != l.who.String():
		return false, nil
	}
	l.lease = found
	return true, errChanged
}

// errChanged allows an immediate second renewal.
var errChanged = errors.New("the lease was changed by another process, and is still held")

func (l *lock) releaseLease() error {
	l.stop()
	<-l.stopped
	ctx := context.Background()
	err := l.remove(ctx)
	if apierrors.IsConflict(err) {
		// The Lease was changed since, perhaps by a renewal of ours that timed out.
		found, err := l.locks.lease(ctx, l.name)
		switch {
		case apierrors.IsNotFound(err), err == nil && holderIdentity(found) != l.who.String():
			return nil
		case err != nil:
			return l.releaseError("get", err)
		}
		l.lease = found
		return l.releaseError("delete", l.remove(ctx))
	}
	return l.releaseError("delete", err)
}

func (l *lock) remove(ctx context.Context) error {
	return retry(ctx, func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, leaseTimeout)
		defer cancel()
		return l.locks.leases.Delete(limited, l.lease.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &l.lease.UID, ResourceVersion: &l.lease.ResourceVersion},
		})
	})
}

func (l *lock) releaseError(verb string, err error) error {
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("cannot give the lock %q of %s back, so it stays taken until its lease of %s is over: %w",
		l.name, l.locks, l.locks.options.LeaseDuration, kubeclient.Wrap(verb, l.object, err))
}
