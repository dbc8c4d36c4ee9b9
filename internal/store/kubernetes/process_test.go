package kubernetes_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// The test binary starts itself with these set, to be one of several processes.
const (
	roleVariable      = "KUBERNETES_TEST_ROLE"
	clusterVariable   = "KUBERNETES_TEST_KUBECONFIG"
	namespaceVariable = "KUBERNETES_TEST_NAMESPACE"
)

const (
	processes = 3
	rounds    = 10
)

// short has locks change hands quickly. The API server tells whole seconds.
var short = kubernetes.Options{LeaseDuration: 5 * time.Second, RenewEvery: time.Second}

var roles = map[string]func(context.Context, store.Store) error{
	"guarded":       incrementUnderLock,
	"hold":          holdUntilKilled,
	"hold a minute": holdUntilKilled, // as long as no option says otherwise
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		soaktest.Main(m, 100, 3000)
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(role string) error {
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: os.Getenv(clusterVariable)}, "gpupool/test")
	if err != nil {
		return err
	}
	o := short
	if role == "hold a minute" {
		o = kubernetes.Options{}
	}
	o.Command = "gpupool " + role
	s, err := kubernetes.Open(context.Background(), client, os.Getenv(namespaceVariable), o)
	if err != nil {
		return err
	}
	return roles[role](context.Background(), s)
}

func start(t *testing.T, role string, cluster *kubetest.Cluster, namespace string, in ...func(*exec.Cmd)) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, clusterVariable+"="+cluster.Kubeconfig(), namespaceVariable+"="+namespace)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range in {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

// incrementUnderLock reads and writes blindly: only the lock keeps increments from
// being lost.
func incrementUnderLock(ctx context.Context, s store.Store) error {
	key := store.Key{Kind: store.Statuses, Name: "counter"}
	for range rounds {
		l, err := s.Lock(ctx, "run", time.Minute)
		if err != nil {
			return err
		}
		d, err := s.Read(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		n, err := strconv.Atoi("0" + string(d.Data))
		if err != nil {
			return err
		}
		// A conflict would show that two hold the lock.
		if _, err := s.Write(ctx, key, []byte(strconv.Itoa(n+1)), d.Revision); err != nil {
			return err
		}
		if err := l.Release(); err != nil {
			return err
		}
	}
	return nil
}

func TestALockGuardsBetweenProcesses(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	var running []*exec.Cmd
	for range processes {
		cmd, _ := start(t, "guarded", cluster, namespace)
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	d, err := s.Read(t.Context(), store.Key{Kind: store.Statuses, Name: "counter"})
	if err != nil || string(d.Data) != strconv.Itoa(processes*rounds) {
		t.Errorf("%d increments gave %s (%v)", processes*rounds, d.Data, err)
	}
}

func holdUntilKilled(ctx context.Context, s store.Store) error {
	if _, err := s.Lock(ctx, "run", 0); err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Hour)
	return errors.New("no process killed it")
}

// TestLockOfAKilledProcessExpires has the process be of another
// machine, as far as its Lease tells.
func TestLockOfAKilledProcessExpires(t *testing.T) {
	t.Parallel()
	_, cluster, namespace := fresh(t)
	s := open(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, short)
	cmd, out := start(t, "hold", cluster, namespace)
	if line, err := out.ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("%q %v", line, err)
	}
	_, err := s.Lock(t.Context(), "run", short.LeaseDuration+time.Second) // it lives, so it keeps the lock
	var locked *store.LockedError
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), fmt.Sprintf("gpupool hold (process %d on ", cmd.Process.Pid)) {
		t.Errorf("got %v, want a LockedError that tells the holder", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = cmd.Wait() // killed
	forgetHolder(t, cluster, namespace)
	if _, err := s.Lock(t.Context(), "run", 0); !errors.As(err, &locked) {
		t.Errorf("got %v, want a LockedError until the lease is over", err)
	}
	l, err := s.Lock(t.Context(), "run", time.Minute)
	if err != nil {
		t.Fatalf("the lock is still held: %v", err)
	}
	took := time.Since(killed)
	if took < short.LeaseDuration-2*short.RenewEvery || took > short.LeaseDuration+3*time.Second {
		t.Errorf("the lock was free %s after its holder was killed, want about %s", took, short.LeaseDuration)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// forgetHolder removes the record of the process that holds the lock "run".
func forgetHolder(t *testing.T, cluster *kubetest.Cluster, namespace string) {
	t.Helper()
	api := cluster.Client().CoordinationV1().Leases(namespace)
	kubetest.WaitFor(t, "the lease to be edited", func(ctx context.Context) error {
		lease, err := api.Get(ctx, "gpupool.locks.run", metav1.GetOptions{})
		if err != nil {
			return err
		}
		delete(lease.Annotations, "gpupool/holder")
		_, err = api.Update(ctx, lease, metav1.UpdateOptions{})
		return err
	})
}
