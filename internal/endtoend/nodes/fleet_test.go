package nodes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// fleet simulates the kubelets of a local CVM. Each running instance joins the cluster with two
// GPUs, and stops reporting once it is gone.
type fleet struct {
	server *kubetest.Cluster
	sim    *cvmsim.Server
	name   string // of the fleet, and of its pods' nodes

	mu     sync.Mutex
	broken bool            // what comes up now never joins
	seen   map[string]bool // instances by id; false: silent
	lost   map[string]bool // instances that never join
}

func nodeOf(id string) string { return "node-" + id }

// keep brings the nodes up to the instances until the test ends.
func (f *fleet) keep(t *testing.T) {
	t.Helper()
	f.seen, f.lost = map[string]bool{}, map[string]bool{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := f.step(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("keeping the nodes: %v", err)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
		f.remove(t)
	})
}

// step brings the nodes up to the instances once.
func (f *fleet) step(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	running := map[string]bool{}
	for _, i := range f.sim.Instances() {
		running[i.InstanceID] = i.State == "RUNNING"
		switch {
		case !running[i.InstanceID], f.seen[i.InstanceID], f.lost[i.InstanceID], i.Pool != poolName:
		case f.broken:
			f.lost[i.InstanceID] = true
		default:
			f.seen[i.InstanceID] = true
			if err := f.join(ctx, i.InstanceID); err != nil {
				return err
			}
		}
	}
	for id, there := range f.seen {
		if there && !running[id] {
			f.seen[id] = false
			if err := f.server.Silence(ctx, nodeOf(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *fleet) join(ctx context.Context, id string) error {
	_, err := kubetest.TryCreate(ctx, f.server, kubetest.Node(nodeOf(id), 2, kubetest.OfFleet(f.name), kubetest.ProviderID("qcloud:///800002/"+id)))
	return err
}

func (f *fleet) breaks(broken bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = broken
	if !broken {
		clear(f.lost)
	}
}

// remove leaves no node behind for the scenes that go on.
func (f *fleet) remove(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	nodes, err := f.server.FleetNodes(ctx, f.name)
	for _, n := range nodes {
		err = errors.Join(err, f.server.Client().CoreV1().Nodes().Delete(ctx, n.Name, metav1.DeleteOptions{}))
	}
	if err != nil {
		t.Logf("nodes stay: %v", err)
	}
}

// ready waits until so many nodes of the fleet are Ready.
func (f *fleet) ready(t *testing.T, count int) {
	t.Helper()
	kubetest.WaitFor(t, fmt.Sprintf("%d Ready nodes", count), func(ctx context.Context) error {
		nodes, err := f.server.FleetNodes(ctx, f.name)
		if err != nil {
			return err
		}
		is := 0
		for _, n := range nodes {
			for _, c := range n.Status.Conditions {
				if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
					is++
				}
			}
		}
		if is != count {
			return fmt.Errorf("%d are", is)
		}
		return nil
	})
}
