// Package kubetest gives tests the Kubernetes of tools/localkube. It has an API server with its
// controllers and scheduler, and nodes with GPUs whose pods seem to run. With
// GPUPOOL_TEST_KUBECONFIG set, tests use the cluster of that file instead.
//
// It contains what tests of several packages need: clusters, namespaces, objects, waiting, and
// kubeconfigs of service accounts. No code outside of tests may import it.
//
// It exports more than 40 names. Most create one object each, in pod.go, node.go, workload.go,
// device.go and reservation.go. Tests only set what matters to them.
package kubetest

import (
	"os"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is a Kubernetes cluster that tests may use as its administrator.
type Cluster struct {
	kubeconfig string
	config     *rest.Config
	client     kubernetes.Interface

	process *process // nil for an existing cluster
	own     bool     // used by one test only
}

var shared = sync.OnceValues(func() (*Cluster, error) {
	if given := os.Getenv("GPUPOOL_TEST_KUBECONFIG"); given != "" {
		return connect(given)
	}
	// Many GPUs, so that parallel tests do not wait for each other's.
	process, err := start("--nodes=3", "--gpus-per-node=64")
	if err != nil {
		return nil, err
	}
	cluster, err := connect(process.kubeconfig)
	if err != nil {
		return nil, err
	}
	cluster.process = process
	return cluster, nil
})

// Start returns the cluster that all tests of this process share. The first test starts it within a
// few seconds, and it ends with the process. Tests keep to their own namespaces and nodes.
func Start(t testing.TB) *Cluster {
	t.Helper()
	cluster, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// StartOwn starts a cluster for one test that needs the whole state of a cluster or stops its API
// server. The flags are those of localkube serve. Default: two nodes of eight GPUs.
func StartOwn(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "kubetest-*") //nolint:usetesting // t.TempDir has the test's name, and a socket's path at most 104 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	process, err := start(append(flags, "--dir="+dir)...)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := connect(process.kubeconfig)
	if err != nil {
		process.stop()
		t.Fatal(err)
	}
	cluster.process, cluster.own = process, true
	t.Cleanup(func() { cluster.process.stop() })
	return cluster
}

func connect(kubeconfig string) (*Cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // no client-side rate limit
	config.UserAgent = "kubetest"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Cluster{kubeconfig: kubeconfig, config: config, client: client}, nil
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.kubeconfig }

// Config returns a copy of the administrator's configuration, without a limit
// of requests.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Client returns the administrator's client.
func (c *Cluster) Client() kubernetes.Interface { return c.client }

// Stop stops a test's own cluster; Restart restores it with its objects, at the same address.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	if !c.own {
		t.Fatal("other tests use this cluster: take one of your own by StartOwn")
	}
	c.process.stop()
}

// Restart restarts a test's own cluster. Watches end, and the new API server has no earlier events:
// it responds 410 Gone to a watch from an older resourceVersion.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	c.Stop(t)
	process, err := start(c.process.flags...)
	if err != nil {
		t.Fatal(err)
	}
	c.process = process
}
