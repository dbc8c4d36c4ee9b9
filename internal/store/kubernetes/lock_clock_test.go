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
)

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
	l := take(t, holder, poolLock)
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
	release(t, l)
}
