package kubernetes_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

func TestObjectsOfOthers(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	write(t, s, train, "a", "")
	api := cluster.Client().CoreV1().Secrets(namespace)
	o, err := api.Get(t.Context(), "gpupool.spot-pools.ap-singapore.train", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(change func(o *corev1.Secret)) {
		t.Helper()
		other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: o.Name, Labels: o.Labels, Annotations: o.Annotations}, Data: o.Data}
		change(other)
		if _, err := api.Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create(func(o *corev1.Secret) { o.Name = "my-copy" })
	create(func(o *corev1.Secret) { o.Name, o.Annotations = "not-gpupools", nil })
	create(func(o *corev1.Secret) { o.Name, o.Labels = "no-label", nil })
	list, err := s.List(t.Context(), store.SpotPools)
	if err != nil || len(list) != 1 || string(list[0].Data) != "a" {
		t.Errorf("listed %v (%v), want the document alone", list, err)
	}
	create(func(o *corev1.Secret) { o.Name, o.Annotations = "gpupool.spot-pools.ap-singapore.infer", nil })
	list, err = s.List(t.Context(), store.SpotPools)
	if err != nil || len(list) != 2 || list[0].Key.Name != "ap-singapore/infer" || string(list[0].Data) != "a" {
		t.Errorf("one of the store's own lost its key: listed %v (%v), want it by its name", list, err)
	}
	cut := "gpupool.0.spot-pools.a.0123456789abcdef0123456789abcdef"
	create(func(o *corev1.Secret) { o.Name, o.Annotations = cut, map[string]string{"gpupool/key": "ledger/a"} })
	list, err = s.List(t.Context(), store.SpotPools)
	if err != nil || len(list) != 3 || !slices.ContainsFunc(list, func(d store.Document) bool { return d.Key.Name == cut }) {
		t.Errorf("what can't be found by its name either: listed %v (%v), want it by the object's", list, err)
	}
}

// TestADocumentThatLostItsLabelIsStillThere removes every label, as a tool does that sets its own.
// One of the documents loses its key as well.
func TestADocumentThatLostItsLabelIsStillThere(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	api := cluster.Client().CoreV1()
	kinds := store.Kinds()
	if len(kinds) == 0 {
		t.Fatal("a store has no kind of documents")
	}
	for _, kind := range kinds {
		var want []store.Document
		for _, name := range []string{"a/keyless", "a/long--name", "a/whole"} {
			key := store.Key{Kind: kind, Name: name}
			write(t, s, key, name, "")
			want = append(want, store.Document{Key: key, Data: []byte(name)})
		}
		strip := func(o metav1.Object) []byte {
			if strings.HasSuffix(o.GetName(), "keyless") {
				return []byte(`{"metadata": {"labels": null, "annotations": null}}`)
			}
			return []byte(`{"metadata": {"labels": null}}`)
		}
		all := metav1.ListOptions{LabelSelector: "gpupool/kind=" + string(kind)}
		secrets, err := api.Secrets(namespace).List(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range secrets.Items {
			if _, err := api.Secrets(namespace).Patch(t.Context(), o.Name, types.MergePatchType, strip(&o), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		maps, err := api.ConfigMaps(namespace).List(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range maps.Items {
			if _, err := api.ConfigMaps(namespace).Patch(t.Context(), o.Name, types.MergePatchType, strip(&o), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(secrets.Items) + len(maps.Items); n != len(want) {
			t.Fatalf("%s: %d objects have the label, want %d", kind, n, len(want))
		}
		got, err := s.List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(store.Document{}, "Revision")); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", kind, diff)
		}
		for _, d := range got {
			expect(t, s, d.Key, string(d.Data)+"!", write(t, s, d.Key, string(d.Data)+"!", d.Revision))
		}
		secrets, secretsError := api.Secrets(namespace).List(t.Context(), all)
		maps, mapsError := api.ConfigMaps(namespace).List(t.Context(), all)
		if err := errors.Join(secretsError, mapsError); err != nil || len(secrets.Items)+len(maps.Items) != len(want) {
			t.Errorf("%s: writing does not put the labels back (%v)", kind, err)
		}
	}
}

func TestADamagedDocumentIsOneOfMany(t *testing.T) {
	t.Parallel()
	storetest.Damaged(t, func(t *testing.T) (store.Store, func(store.Key)) {
		t.Helper()
		s, cluster, namespace := fresh(t)
		return s, func(key store.Key) {
			name := "gpupool." + strings.ReplaceAll(string(key.Kind), "_", "-") + "." + strings.ReplaceAll(key.Name, "/", ".")
			emptied := []byte(`{"data": null, "metadata": {"annotations": null}}`)
			api := cluster.Client().CoreV1()
			var err error
			if key.Kind.Secret() {
				_, err = api.Secrets(namespace).Patch(t.Context(), name, types.MergePatchType, emptied, metav1.PatchOptions{})
			} else {
				_, err = api.ConfigMaps(namespace).Patch(t.Context(), name, types.MergePatchType, emptied, metav1.PatchOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestDamagedDocuments(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	key := store.Key{Kind: store.Ledger, Name: "c0ffee/header"}
	write(t, s, key, strings.Repeat("a", 1<<20), "")
	api := cluster.Client().CoreV1().ConfigMaps(namespace)
	for name, damage := range map[string]func(o *corev1.ConfigMap){
		"cut short":  func(o *corev1.ConfigMap) { o.BinaryData["document.gz"] = o.BinaryData["document.gz"][:20] },
		"not gzip":   func(o *corev1.ConfigMap) { o.BinaryData["document.gz"] = []byte("hello") },
		"no content": func(o *corev1.ConfigMap) { o.BinaryData = nil },
	} {
		o, err := api.Get(t.Context(), "gpupool.ledger.c0ffee.header", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		damage(o)
		if _, err := api.Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = s.Read(t.Context(), key)
		if err == nil || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "gpupool.ledger.c0ffee.header is damaged") {
			t.Errorf("%s, read: got %v, want an error that names the object", name, err)
		}
		list, err := s.List(t.Context(), store.Ledger)
		if err != nil || len(list) != 1 || list[0].Key != key || list[0].Data != nil {
			t.Errorf("%s: listed %v (%v), want the document without data", name, list, err)
		}
		write(t, s, key, strings.Repeat("a", 1<<20), store.Revision(mustGet(t, cluster, namespace, o.Name).ResourceVersion))
	}
}

func mustGet(t *testing.T, cluster *kubetest.Cluster, namespace, name string) *corev1.ConfigMap {
	t.Helper()
	o, err := cluster.Client().CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAnObjectChangedByHandConflicts(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	key := store.Key{Kind: store.Statuses, Name: "budgets/team-a"}
	revision := write(t, s, key, "a", "")
	o := mustGet(t, cluster, namespace, "gpupool.statuses.budgets.team-a")
	o.Data["document"] = "by hand"
	if _, err := cluster.Client().CoreV1().ConfigMaps(namespace).Update(t.Context(), o, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), key, []byte("b"), revision); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want a conflict", err)
	}
	d, err := s.Read(t.Context(), key)
	if err != nil || !bytes.Equal(d.Data, []byte("by hand")) {
		t.Errorf("read %q (%v)", d.Data, err)
	}
}
