package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// TestLostDescriptionIsRepaired, and the documents are as they were.
func TestLostDescriptionIsRepaired(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	client := connect(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()})
	s, err := kubernetes.Open(t.Context(), client, namespace, kubernetes.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []store.Key{{Kind: store.SpotPools, Name: "ap-singapore/train"}, {Kind: store.Statuses, Name: "runs/last"}} {
		if _, err := s.Write(t.Context(), key, []byte("a"), ""); err != nil {
			t.Fatal(err)
		}
	}
	maps := cluster.Client().CoreV1().ConfigMaps(namespace)
	described := mustGet(t, cluster, namespace, "gpupool.store")
	if err := maps.Delete(t.Context(), "gpupool.store", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, create := range []bool{false, true} {
		expectSays(t, tryOpen(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, create), store.ErrUndescribed,
			"has documents of a store", "gpupool store repair --store kubernetes:"+namespace)
	}

	remains, err := kubernetes.OpenRemains(client, namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []store.Kind{store.SpotPools, store.Statuses} {
		if documents, err := remains.List(t.Context(), kind); err != nil || len(documents) != 1 || string(documents[0].Data) != "a" {
			t.Errorf("%s: %v and %v", kind, documents, err)
		}
	}
	if strange, err := remains.Strange(t.Context()); err != nil || len(strange) > 0 {
		t.Errorf("strange are %v, and %v", strange, err)
	}
	newer := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "gpupool.histories.a", Labels: map[string]string{"gpupool/kind": "histories"}}}
	if _, err := maps.Create(t.Context(), newer, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if strange, err := remains.Strange(t.Context()); err != nil || len(strange) != 1 || !strings.HasSuffix(strange[0], "/gpupool.histories.a") {
		t.Errorf("strange are %v, and %v", strange, err)
	}
	for range 2 { // the second finds it described
		if err := remains.Describe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	again := mustGet(t, cluster, namespace, "gpupool.store")
	if diff := cmp.Diff(described.Data, again.Data); diff != "" || !cmp.Equal(described.Labels, again.Labels) {
		t.Errorf("it is described otherwise: %s, and labeled %v", diff, again.Labels)
	}
	if _, err := s.Read(t.Context(), store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"}); err != nil {
		t.Error(err)
	}
}
