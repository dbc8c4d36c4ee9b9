package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/move"
)

// TestAStoreMovesToANamespaceAndBack with every byte. The old store names the new one,
// also to a process that had opened it before, and while its description is applied again.
func TestAStoreMovesToANamespaceAndBack(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	client := connect(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()})
	dir := filepath.Join(t.TempDir(), "store")
	local, err := directory.Open(dir, directory.Options{Create: true, Moving: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"journals/ap-singapore/large": strings.Repeat("a document that is compressed", 10_000)}
	for _, kind := range store.Kinds() {
		want[string(kind)+"/ap-singapore/train"] = fmt.Sprintf("{\"kind\": %q}\n", kind)
	}
	want["ledger/cluster/recent.parquet"] = "PAR1\x00\xff\xfePAR1"
	for name, data := range want {
		kind, key, _ := strings.Cut(name, "/")
		if _, err := local.Write(t.Context(), store.Key{Kind: store.Kind(kind), Name: key}, []byte(data), ""); err != nil {
			t.Fatal(err)
		}
	}
	remote, err := kubernetes.Open(t.Context(), client, namespace, kubernetes.Options{Create: true, Moving: true})
	if err != nil {
		t.Fatal(err)
	}
	var waited time.Duration
	sleep := func(_ context.Context, d time.Duration) error { waited += d; return nil }
	if _, err := (move.Move{From: local, To: remote, Sleep: sleep}).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectContents(t, remote, want)
	earlier, err := kubernetes.Open(t.Context(), client, namespace, kubernetes.Options{MarkFor: time.Nanosecond})
	if err != nil {
		t.Fatalf("opening it after the move: %v", err)
	}

	if _, err := (move.Move{From: remote, To: local, Sleep: sleep}).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectContents(t, local, want)
	if waited != remote.Grace() {
		t.Errorf("it waited for %s", waited)
	}
	_, written := earlier.Write(t.Context(), store.Key{Kind: store.Budgets, Name: "team-a"}, []byte("{}"), "")
	_, listed := earlier.List(t.Context(), store.Budgets)
	// Applying the manifests again patches only what they contain.
	if _, err := cluster.Client().CoreV1().ConfigMaps(namespace).Patch(t.Context(), "gpupool.store", "application/merge-patch+json",
		fmt.Appendf(nil, `{"data":{"store.json":%q}}`, store.Layout()), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	_, opened := kubernetes.Open(t.Context(), client, namespace, kubernetes.Options{Create: true})
	for what, err := range map[string]error{"writing": written, "listing": listed, "opening": opened} {
		var moved *store.MovedError
		if !errors.As(err, &moved) || moved.Mark.To != local.Location().String() {
			t.Errorf("%s the old store: %v", what, err)
		}
	}
}

func expectContents(t *testing.T, s store.Store, want map[string]string) {
	t.Helper()
	list, err := move.Contents(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range list {
		got[d.Key.String()] = string(d.Data)
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s has %d documents, not the %d of before, byte by byte", s, len(got), len(want))
	}
}
