package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

// TestALockThatTookLongToTakeIsLostInTime has the first call for a lock hang for most of a lease,
// and every renewal lost. A waiting process must not get the lock while its holder believes in it.
func TestALockThatTookLongToTakeIsLostInTime(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{"the call is lost": slowBefore, "the answer is lost": slowAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, others, p := throughProxy(t, short)
			calls := map[string]int{}
			p.set(func(call string) fault {
				method, _, _ := strings.Cut(call, " ")
				switch calls[method]++; {
				case method == "POST" && calls[method] == 1:
					return f
				case method == "PUT" && (f == slowBefore || calls[method] > 1): // what is renewed, and not taken
					return cutBefore
				}
				return none
			})
			l, err := s.Lock(t.Context(), "run", 0)
			if err != nil {
				t.Fatal(err)
			}
			next, err := others.Lock(t.Context(), "run", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-l.Lost():
			default:
				t.Error("two believe that they hold the lock")
			}
			storetest.Release(t, l)
			storetest.Release(t, next)
		})
	}
}

// TestALockOutlivesItsMachinesSleep has the API server's clock go on by an hour
// while the holder's stood still, as it does where a machine sleeps. The first
// renewal after that still goes by the old clock.
func TestALockOutlivesItsMachinesSleep(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	p := newProxy(t, cluster)
	unhurried := kubernetes.Options{LeaseDuration: 24 * time.Second, RenewEvery: 6 * time.Second}
	holder := p.open(t, namespace, unhurried)
	l := storetest.Lock(t, holder, poolLock)
	var mu sync.Mutex
	var renewals []time.Time
	p.set(func(call string) fault {
		if strings.HasPrefix(call, "PUT") {
			mu.Lock()
			defer mu.Unlock()
			renewals = append(renewals, time.Now())
		}
		return none
	})
	p.shift(time.Hour)
	kubetest.WaitFor(t, "two renewals", func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if len(renewals) < 2 {
			return fmt.Errorf("there were %d", len(renewals))
		}
		return nil
	})
	if apart := renewals[1].Sub(renewals[0]); apart > unhurried.RenewEvery/2 {
		t.Errorf("for %s after the sleep anyone could take the lock", apart)
	}
	other := p.open(t, namespace, unhurried)
	var locked *store.LockedError
	if got, err := other.Lock(t.Context(), poolLock, 0); !errors.As(err, &locked) {
		t.Errorf("a living holder's lock was taken: %v %v", got, err)
	}
	stillHeld(t, l)
	storetest.Release(t, l)
}
