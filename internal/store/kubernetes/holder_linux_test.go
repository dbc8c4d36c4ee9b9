package kubernetes_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"strings"
	"syscall"
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

// holding starts a process that holds the lock "run" for a minute at a time.
func holding(t *testing.T, cluster *kubetest.Cluster, namespace string, in ...func(*exec.Cmd)) *exec.Cmd {
	t.Helper()
	cmd, out := start(t, "hold a minute", cluster, namespace, in...)
	if line, err := out.ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("%q %v", line, err)
	}
	return cmd
}

// TestAKilledProcessGivesWayAtOnce has six want the lock of a process that is
// killed, whose parent has asked for its end or not yet.
func TestAKilledProcessGivesWayAtOnce(t *testing.T) {
	t.Parallel()
	for name, reaped := range map[string]bool{"its parent asked for its end": true, "its parent has not asked yet": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, cluster, namespace := fresh(t)
			cmd := holding(t, cluster, namespace)
			var locked *store.LockedError
			if _, err := s.Lock(t.Context(), "run", 2*time.Second); !errors.As(err, &locked) {
				t.Fatalf("got %v, want a LockedError while the holder lives", err)
			}
			if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Lock(t.Context(), "run", 0); !errors.As(err, &locked) {
				t.Fatalf("got %v, want a LockedError while the holder is only stopped", err)
			}
			killed := time.Now()
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if reaped {
				_ = cmd.Wait() // killed
			}
			got, first := make(chan error), make(chan time.Duration, 6)
			for range 6 {
				other := open(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, kubernetes.Options{})
				go func() {
					_, err := other.Lock(t.Context(), "run", 2*time.Second)
					if err == nil {
						first <- time.Since(killed)
					}
					got <- err
				}()
			}
			taken := 0
			for range 6 {
				if err := <-got; err == nil {
					taken++
				} else if !errors.As(err, &locked) || !strings.Contains(err.Error(), "gpupool test (process ") {
					t.Errorf("got %v, want the lock or a LockedError that tells the new holder", err)
				}
			}
			if taken != 1 {
				t.Fatalf("%d took the lock over, want one", taken)
			}
			if took := <-first; took > 5*time.Second {
				t.Errorf("the lock was taken over %s after its holder was killed, want at once", took)
			} else {
				t.Logf("taken over after %s", took)
			}
		})
	}
}

func holderOn(t *testing.T, lease coordinationv1.Lease) map[string]any {
	t.Helper()
	var holder map[string]any
	if err := json.Unmarshal([]byte(lease.Annotations["gpupool/holder"]), &holder); err != nil {
		t.Fatal(err)
	}
	return holder
}

// TestUnprovenDeathKeepsTheLock lays Leases as others would have left
// them, renewed just now, and asks for their locks.
func TestUnprovenDeathKeepsTheLock(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	cmd := holding(t, cluster, namespace)
	lease := leases(t, cluster, namespace)[0]
	dead := holderOn(t, lease)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	l := storetest.Lock(t, s, "own")
	var alive map[string]any
	for _, lease := range leases(t, cluster, namespace) {
		if lease.Name == "gpupool.locks.own" {
			alive = holderOn(t, lease)
		}
	}
	defer storetest.Release(t, l)
	alive["nonce"] = dead["nonce"]
	started, ok := alive["started"].(float64)
	if !ok {
		t.Fatalf("the holder is %v", alive)
	}
	with := func(from map[string]any, field string, value any) map[string]any {
		changed := maps.Clone(from)
		changed[field] = value
		return changed
	}
	for name, c := range map[string]struct {
		holder any
		taken  bool
	}{
		"gone":                      {dead, true},
		"its-number-is-another's":   {with(alive, "started", started-1), true},
		"alive":                     {alive, false},
		"another-boot":              {with(dead, "boot_id", "f2f3c0a4-0000-4000-8000-6a1b2c3d4e5f"), false},
		"no-boot":                   {with(dead, "boot_id", ""), false},
		"another-host":              {with(dead, "host", "elsewhere"), false},
		"another-pid-namespace":     {with(dead, "pid_namespace", "pid:[1]"), false},
		"no-pid-namespace":          {with(dead, "pid_namespace", ""), false},
		"another-time-namespace":    {with(dead, "time_namespace", "time:[1]"), false},
		"no-process":                {with(dead, "pid", 0), false},
		"a-group-of-processes":      {with(dead, "pid", -dead["pid"].(float64)), false},
		"an-earlier-holder":         {with(dead, "nonce", "AAAA"), false},
		"of-no-holder":              {with(dead, "nonce", ""), false},
		"no-JSON":                   {"process 1", false},
		"of-a-gpupool-without-this": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock := strings.NewReplacer("'", "").Replace(strings.ToLower(name))
			laid := leaseOf(namespace, time.Now())
			laid.Name, laid.Spec.HolderIdentity = "gpupool.locks."+lock, lease.Spec.HolderIdentity
			*laid.Spec.LeaseDurationSeconds = 60
			if c.holder != nil {
				text, err := json.Marshal(c.holder)
				if err != nil {
					t.Fatal(err)
				}
				laid.Annotations = map[string]string{"gpupool/holder": string(text)}
			}
			kubetest.Create(t, cluster, laid)
			got, err := s.Lock(t.Context(), lock, 0)
			var locked *store.LockedError
			if c.taken && err != nil || !c.taken && !errors.As(err, &locked) {
				t.Fatalf("got %v, want it taken: %v", err, c.taken)
			}
			if c.taken {
				storetest.Release(t, got)
			}
		})
	}
}

// TestAProcessOfAnotherNamespaceKeepsItsLock has the holder be process 1 of a PID
// namespace of its own, as in a container, and killed. In the test's own namespace
// process 1 is another one.
func TestAProcessOfAnotherNamespaceKeepsItsLock(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	inside := func(cmd *exec.Cmd) {
		if os.Geteuid() == 0 { // only root may make one
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		}
	}
	cmd := holding(t, cluster, namespace, inside)
	lease := leases(t, cluster, namespace)[0]
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	if holder := holderOn(t, lease); os.Geteuid() == 0 && (holder["pid"] != 1.0 || holder["pid_namespace"] == own) {
		t.Fatalf("the holder is %v, want process 1 of another namespace than %s", holder, own)
	} else if os.Geteuid() != 0 && holder["pid_namespace"] != own {
		t.Fatalf("the holder is %v, want one of %s", holder, own)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	_, err = s.Lock(t.Context(), "run", 3*time.Second)
	var locked *store.LockedError
	if kept := errors.As(err, &locked); kept != (os.Geteuid() == 0) {
		t.Errorf("got %v, want the lock kept by a holder of another namespace, and by no other", err)
	}
}

// TestAnOlderGpupoolsLockIsNotJudgedByTheOneBefore has a gpupool take a dead
// holder's lock over that knows of no annotation, and so leaves it as it is.
func TestAnOlderGpupoolsLockIsNotJudgedByTheOneBefore(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	cmd := holding(t, cluster, namespace)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	lease := leases(t, cluster, namespace)[0]
	older, now := "gpupool reconcile/elsewhere/1/BBBB", metav1.NowMicro()
	lease.Spec.HolderIdentity, lease.Spec.RenewTime = &older, &now
	if _, err := cluster.Client().CoordinationV1().Leases(namespace).Update(t.Context(), &lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	var locked *store.LockedError
	if _, err := s.Lock(t.Context(), "run", 0); !errors.As(err, &locked) || !strings.Contains(err.Error(), "process 1 on elsewhere") {
		t.Errorf("got %v, want a LockedError that tells the holder", err)
	}
}
