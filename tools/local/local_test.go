package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// localkube is the built one: make test hands it in.
func localkube(t *testing.T) string {
	t.Helper()
	if given := os.Getenv("GPUPOOL_LOCALKUBE"); given != "" {
		return given
	}
	built, err := filepath.Abs("../../bin/localkube")
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func TestKubernetesServesUntilItIsStopped(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "local-*") //nolint:usetesting // t.TempDir has the test's name, and a socket's path at most 104 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	k, err := StartKubernetes(t.Context(), localkube(t), dir, "--no-kubelet", "--no-scheduler", "--controllers=serviceaccount-controller")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", k.Kubeconfig)
	if err != nil {
		k.Stop()
		t.Fatal(err)
	}
	config.Timeout = 10 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err == nil {
		_, err = client.CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
	}
	k.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{}); err == nil {
		t.Error("it serves still")
	}
}

// A server that does not become ready is reported with its output.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	const broken = "testdata/broken"
	if _, err := StartKubernetes(t.Context(), broken, t.TempDir()); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a Kubernetes that ends at once: %v", err)
	}
	if _, err := StartKubernetes(t.Context(), "", t.TempDir()); err == nil || !strings.Contains(err.Error(), "GPUPOOL_LOCALKUBE") {
		t.Errorf("no Kubernetes: %v", err)
	}
	if _, err := StartCVM(t.Context(), broken, nil); err == nil || !strings.Contains(err.Error(), "named no endpoint") {
		t.Errorf("a CVM that ends at once: %v", err)
	}
}

func TestOverrideNamesTheBuiltProvider(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	built := filepath.Join(dir, "built")
	if err := os.WriteFile(built, []byte("provider"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "gpupool")
	if err := os.Symlink(built, link); err != nil {
		t.Fatal(err)
	}
	configuration, err := Override(dir, link)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(configuration)
	if err != nil || !strings.Contains(string(text), `"gpupool/gpupool" = "`+filepath.Join(dir, "override")) {
		t.Errorf("%v\n%s", err, text)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "override", "terraform-provider-gpupool")); err != nil || string(data) != "provider" {
		t.Errorf("the provider is %q: %v", data, err)
	}
	if _, err := Override(t.TempDir(), filepath.Join(dir, "missing")); err == nil {
		t.Error("a provider that is not there is taken")
	}
}
