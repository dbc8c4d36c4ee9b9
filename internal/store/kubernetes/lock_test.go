package kubernetes_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

const poolLock = "spot_pool/ap-singapore/train"

// lostWithin fails unless the lock says within a time that it is lost.
func lostWithin(t *testing.T, l store.Lock, d time.Duration) {
	t.Helper()
	select {
	case <-l.Lost():
	case <-time.After(d):
		t.Errorf("after %s the lock has not said that it is lost", d)
	}
}

func stillHeld(t *testing.T, l store.Lock) {
	t.Helper()
	select {
	case <-l.Lost():
		t.Error("a lock that is held says that it is lost")
	default:
	}
}

func leases(t *testing.T, cluster *kubetest.Cluster, namespace string) []coordinationv1.Lease {
	t.Helper()
	list, err := cluster.Client().CoordinationV1().Leases(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestALockIsALeaseThatGoesWithIt(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	l := storetest.Lock(t, s, poolLock)
	list := leases(t, cluster, namespace)
	if len(list) != 1 || list[0].Name != "gpupool.locks.spot--pool.ap-singapore.train" || *list[0].Spec.LeaseDurationSeconds != 60 ||
		!strings.HasPrefix(*list[0].Spec.HolderIdentity, "gpupool test/") || list[0].Annotations["gpupool/key"] != "locks/"+poolLock {
		t.Errorf("the leases are %+v", list)
	}
	storetest.Release(t, l)
	if list := leases(t, cluster, namespace); len(list) > 0 {
		t.Errorf("what was given back left %+v", list)
	}
	stillHeld(t, l)
}

func TestALivingHolderKeepsItsLockWhateverTheClocksSay(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"this machine is an hour slow": time.Hour, "this machine is an hour fast": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := kubetest.Start(t)
			namespace := cluster.Namespace(t)
			p := newProxy(t, cluster)
			p.ahead = ahead
			holder, other := p.open(t, namespace, short), p.open(t, namespace, short)
			l := storetest.Lock(t, holder, poolLock)
			var locked *store.LockedError
			for _, wait := range []time.Duration{0, short.LeaseDuration + 2*time.Second} {
				if got, err := other.Lock(t.Context(), poolLock, wait); !errors.As(err, &locked) {
					t.Fatalf("a living holder's lock was taken: %v %v", got, err)
				}
			}
			stillHeld(t, l)
			// It renews no more, as if it were dead.
			p.set(every("PUT", cutBefore))
			began := time.Now()
			lostWithin(t, l, short.LeaseDuration)
			if got, err := other.Lock(t.Context(), poolLock, 0); err == nil {
				t.Fatalf("the lock was taken before its lease was over: %v", got)
			}
			p.set(nil)
			next, err := other.Lock(t.Context(), poolLock, 2*short.LeaseDuration)
			if err != nil || time.Since(began) > short.LeaseDuration+3*time.Second {
				t.Fatalf("after %s: %v", time.Since(began), err)
			}
			storetest.Release(t, l) // which is the other's now
			if _, err := holder.Lock(t.Context(), poolLock, 0); !errors.As(err, &locked) {
				t.Errorf("what was lost was given back for its new holder: %v", err)
			}
			storetest.Release(t, next)
		})
	}
}

func TestALockThatSomeoneTookIsLost(t *testing.T) {
	t.Parallel()
	_, cluster, namespace := fresh(t)
	s := open(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, short)
	api := cluster.Client().CoordinationV1().Leases(namespace)
	l := storetest.Lock(t, s, poolLock)
	found := leases(t, cluster, namespace)[0]
	robber := "kubectl"
	kubetest.WaitFor(t, "the lease to be edited", func(ctx context.Context) error {
		now, err := api.Get(ctx, found.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Spec.HolderIdentity = &robber
		_, err = api.Update(ctx, now, metav1.UpdateOptions{})
		return err
	})
	lostWithin(t, l, short.LeaseDuration)
	storetest.Release(t, l)
	if list := leases(t, cluster, namespace); len(list) != 1 || *list[0].Spec.HolderIdentity != robber {
		t.Errorf("the new holder's lease is %+v", list)
	}
	removed := storetest.Lock(t, s, "run")
	if err := api.Delete(t.Context(), "gpupool.locks.run", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	lostWithin(t, removed, short.LeaseDuration)
	storetest.Release(t, removed)
}

func TestALeaseThatWasLabeledIsStillHeld(t *testing.T) {
	t.Parallel()
	_, cluster, namespace := fresh(t)
	s := open(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, short)
	api := cluster.Client().CoordinationV1().Leases(namespace)
	l := storetest.Lock(t, s, "run")
	edit := func(value string) {
		t.Helper()
		kubetest.WaitFor(t, "the lease to be edited", func(ctx context.Context) error {
			now, err := api.Get(ctx, "gpupool.locks.run", metav1.GetOptions{})
			if err != nil {
				return err
			}
			now.Annotations["note"] = value
			_, err = api.Update(ctx, now, metav1.UpdateOptions{})
			return err
		})
	}
	edit("a")
	time.Sleep(short.LeaseDuration) // it is renewed all the same
	stillHeld(t, l)
	var locked *store.LockedError
	if _, err := s.Lock(t.Context(), "run", 0); !errors.As(err, &locked) {
		t.Errorf("got %v, want a LockedError", err)
	}
	edit("b")
	storetest.Release(t, l)
	storetest.Release(t, storetest.Lock(t, s, "run"))
}

func TestLostAnswersAboutLocks(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{"the call is lost": cutBefore, "the answer is lost": cutAfter, "the answer breaks off": cutWithin} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, others, p := throughProxy(t, short)
			p.set(first("POST", f))
			l, err := s.Lock(t.Context(), "run", 0)
			if err != nil {
				t.Fatal(err)
			}
			var locked *store.LockedError
			if _, err := others.Lock(t.Context(), "run", 0); !errors.As(err, &locked) {
				t.Errorf("got %v, want a LockedError", err)
			}
			p.set(first("PUT", f))
			time.Sleep(2*short.RenewEvery + short.RenewEvery/2)
			stillHeld(t, l)
			p.set(first("DELETE", f))
			storetest.Release(t, l)
			storetest.Release(t, storetest.Lock(t, others, "run"))
		})
	}
}

// TestALeaseFromTheFutureIsJudgedByWhatIsSeen has a holder that renewed its lease
// an hour ahead of the API server's present clock, and is gone.
func TestALeaseFromTheFutureIsJudgedByWhatIsSeen(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	kubetest.Create(t, cluster, leaseOf(namespace, time.Now().Add(time.Hour)))
	var locked *store.LockedError
	if _, err := s.Lock(t.Context(), "run", 0); !errors.As(err, &locked) || !strings.Contains(err.Error(), "gpupool reconcile (process 1 on gone, since ") {
		t.Errorf("got %v, want a LockedError that tells the holder", err)
	}
	began := time.Now()
	l, err := s.Lock(t.Context(), "run", time.Minute)
	if took := time.Since(began); err != nil || took < time.Second {
		t.Fatalf("after %s: %v, want the lock once a second has passed", took, err)
	}
	storetest.Release(t, l)
}

// TestLeaseHolder is reported until its lease expires or is released.
func TestLeaseHolder(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	kubetest.Create(t, cluster, leaseOf(namespace, time.Now().Add(-time.Hour)))
	holder := func() *store.Holder {
		t.Helper()
		h, err := s.Holder(t.Context(), "run")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if h := holder(); h == nil || !h.Gone || h.Host != "gone" {
		t.Errorf("a lease that is over is held by %+v", h)
	}
	l := storetest.Lock(t, s, "run")
	if h := holder(); h == nil || h.PID != os.Getpid() || h.Command == "" || h.Gone || time.Since(h.Since) > time.Minute || !h.Until.After(h.Heard) {
		t.Errorf("the lease is held by %+v", h)
	}
	storetest.Release(t, l)
	if h := holder(); h != nil {
		t.Errorf("a lease that was given back is held by %v", h)
	}
}

// leaseOf is the lease of a holder that is gone, of one second.
func leaseOf(namespace string, renewed time.Time) *coordinationv1.Lease {
	second, holder, at := int32(1), "gpupool reconcile/gone/1/AAAA", metav1.NewMicroTime(renewed)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gpupool.locks.run"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &second, RenewTime: &at, AcquireTime: &at},
	}
}

// TestOneOfManyTakesOverADeadHoldersLock has six want a lock whose lease is over,
// at once.
func TestOneOfManyTakesOverADeadHoldersLock(t *testing.T) {
	t.Parallel()
	_, cluster, namespace := fresh(t)
	admin := kubeclient.Config{ConfigPath: cluster.Kubeconfig()}
	kubetest.Create(t, cluster, leaseOf(namespace, time.Now().Add(-time.Hour)))
	got := make(chan error)
	for range 6 {
		s := open(t, admin, namespace, kubernetes.Options{})
		go func() {
			_, err := s.Lock(t.Context(), "run", 0)
			got <- err
		}()
	}
	taken := 0
	for range 6 {
		var locked *store.LockedError
		if err := <-got; err == nil {
			taken++
		} else if !errors.As(err, &locked) {
			t.Error(err)
		}
	}
	if taken != 1 {
		t.Errorf("%d took over the lock", taken)
	}
}
