// Package providertest gives each test of the provider its own world. That is a local CVM, a
// store in a temporary directory, and the provider block for both. Nothing is shared, so that
// all tests run in parallel. The tests of a package share a cluster if they need one.
package providertest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// Main runs a package's tests with neutral settings of Terraform: without a
// developer's configuration, and without calls home.
func Main(m *testing.M) {
	_, here, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(here), "..", "..", "..")
	for name, value := range map[string]string{
		"TF_CLI_CONFIG_FILE": filepath.Join(root, "tools", "terraform", "cli.tfrc"),
		"CHECKPOINT_DISABLE": "1",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	flag.Parse()
	soaktest.Properties(100, 1000)
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// World is one account, one store and, where a test needs it, one cluster.
type World struct {
	tb  testing.TB
	Sim *cvmsimtest.Sim
	// StoreDir is the store's directory.
	StoreDir string
	// Cluster is nil in a world without one.
	Cluster *kubetest.Cluster
}

// New starts a world. At the end of the test it must be empty.
func New(tb testing.TB, options ...func(*cvmsim.Options)) *World {
	tb.Helper()
	w := &World{tb: tb, StoreDir: filepath.Join(tb.TempDir(), "store")}
	w.Sim = cvmsimtest.Start(tb, options...)
	tb.Cleanup(func() {
		for _, i := range w.Sim.Server.Instances() {
			tb.Errorf("%s of the pool %q is left behind, %s", i.InstanceID, i.Pool, i.State)
		}
	})
	return w
}

// NewWithCluster starts a world in which budgets can be declared, too.
func NewWithCluster(tb testing.TB, options ...func(*cvmsim.Options)) *World {
	tb.Helper()
	w := New(tb, options...)
	w.Cluster = kubetest.Start(tb)
	for _, name := range []string{"ml", "dev", "ops"} { // which budgets of tests name
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := w.Cluster.Client().CoreV1().Namespaces().Create(tb.Context(), namespace, metav1.CreateOptions{}); err != nil &&
			!apierrors.IsAlreadyExists(err) {
			tb.Fatal(err)
		}
	}
	return w
}

// Factories serve the provider with no environment at all.
func Factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"gpupool": func() (tfprotov6.ProviderServer, error) { return newServer(nil), nil },
	}
}

// newServer is the provider with only these environment variables. It polls settling instances
// often.
func newServer(environment map[string]string) tfprotov6.ProviderServer {
	return provider.NewServer("test", options(environment)...)()
}

// newBareServer is newServer without the layers around the framework.
func newBareServer(environment map[string]string) tfprotov6.ProviderServer {
	return providerserver.NewProtocol6(provider.New("test", options(environment)...)())()
}

func options(environment map[string]string) []provider.Option {
	return []provider.Option{
		provider.WithPollInterval(10 * time.Millisecond),
		provider.WithEnvironment(func(name string) string { return environment[name] }),
	}
}

// Config is a configuration with the provider block of this world.
func (w *World) Config(rest string) string { return w.ConfigIn("ap-singapore", rest) }

// ConfigIn is Config with another region of the provider.
func (w *World) ConfigIn(region, rest string) string {
	return w.ConfigWith(map[string]string{"region": fmt.Sprintf("%q", region)}, rest)
}

// ConfigWith is Config with other arguments in the provider block, in HCL.
func (w *World) ConfigWith(arguments map[string]string, rest string) string {
	all := map[string]string{
		"region": `"ap-singapore"`, "secret_id": fmt.Sprintf("%q", cvmsim.DemoSecretID), "secret_key": fmt.Sprintf("%q", cvmsim.DemoSecretKey),
		"endpoint": fmt.Sprintf("%q", w.Sim.URL), "store": fmt.Sprintf("{ directory = %q }", w.StoreDir),
	}
	if w.Cluster != nil {
		all["kubernetes"] = w.kubernetes()
	}
	maps.Copy(all, arguments)
	return block(all) + rest
}

// BudgetConfig is a configuration whose provider block has the cluster and the store, and no
// account.
func (w *World) BudgetConfig(rest string) string {
	return w.BudgetConfigWith(nil, rest)
}

// BudgetConfigWith is BudgetConfig with other arguments in the provider block.
func (w *World) BudgetConfigWith(arguments map[string]string, rest string) string {
	all := map[string]string{"kubernetes": w.kubernetes(), "store": fmt.Sprintf("{ directory = %q }", w.StoreDir)}
	maps.Copy(all, arguments)
	return block(all) + rest
}

// StoreConfig is a configuration whose provider block has only the store.
func (w *World) StoreConfig(rest string) string {
	return block(map[string]string{"store": fmt.Sprintf("{ directory = %q }", w.StoreDir)}) + rest
}

func (w *World) kubernetes() string {
	return fmt.Sprintf("{ config_path = %q }", w.Cluster.Kubeconfig())
}

func block(arguments map[string]string) string {
	lines := ""
	for name, value := range arguments {
		lines += fmt.Sprintf("  %s = %s\n", name, value)
	}
	return fmt.Sprintf("provider \"gpupool\" {\n%s}\n\n", lines)
}

// Process is another client that manages the same pools and budgets.
func (w *World) Process() reconcile.World {
	w.tb.Helper()
	client, err := tencent.New(w.tb.Context(), tencent.Config{
		Endpoint: w.Sim.URL, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey, Region: "ap-singapore",
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	return reconcile.World{
		Cloud: client, Cluster: w.cluster, Store: w.Store(), Actor: "reconcile", LockTimeout: time.Minute, PollInterval: 10 * time.Millisecond,
	}
}

func (w *World) cluster(context.Context) (reconcile.Cluster, error) {
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: w.Cluster.Kubeconfig()}, "providertest")
	if err != nil {
		return nil, err
	}
	return kubecluster.New(client), nil
}

// Store opens the world's store.
func (w *World) Store() store.Store {
	w.tb.Helper()
	s, err := directory.Open(w.StoreDir, directory.Options{Create: true})
	if err != nil {
		w.tb.Fatal(err)
	}
	return s
}

// Pool lists the ids of a pool's instances.
func (w *World) Pool(name string) []string {
	var ids []string
	for _, i := range w.Sim.Server.Instances() {
		if i.Pool == name {
			ids = append(ids, i.InstanceID)
		}
	}
	return ids
}

// Calls counts the calls of an action so far.
func (w *World) Calls(action string) int {
	n := 0
	for _, c := range w.Sim.Server.Calls() {
		if c.Action == action {
			n++
		}
	}
	return n
}
