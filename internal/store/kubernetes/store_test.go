package kubernetes_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

var train = store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"}

func connect(t *testing.T, c kube.Config) *kube.Client {
	t.Helper()
	client, err := kube.Open(c, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func open(t *testing.T, c kube.Config, namespace string, o kubernetes.Options) *kubernetes.Store {
	t.Helper()
	o.Create = true
	if o.Command == "" {
		o.Command = "gpupool test"
	}
	s, err := kubernetes.Open(t.Context(), connect(t, c), namespace, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fresh is a store of its own in the cluster that all tests share.
func fresh(t *testing.T) (*kubernetes.Store, *kubetest.Cluster, string) {
	t.Helper()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	return open(t, kube.Config{ConfigPath: cluster.Kubeconfig()}, namespace, kubernetes.Options{}), cluster, namespace
}

func write(t *testing.T, s store.Store, key store.Key, data string, revision store.Revision) store.Revision {
	t.Helper()
	next, err := s.Write(t.Context(), key, []byte(data), revision)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func expect(t *testing.T, s store.Store, key store.Key, data string, revision store.Revision) {
	t.Helper()
	got, err := s.Read(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Document{Key: key, Revision: revision, Data: []byte(data)}, got); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", key, diff)
	}
}

func noise(t *testing.T, size int) string {
	t.Helper()
	data := make([]byte, size)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { t.Helper(); s, _, _ := fresh(t); return s })
}

func TestConformanceWithFaultsToCome(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store {
		t.Helper()
		s, _, _ := fresh(t)
		return storetest.Wrap(s, &storetest.Faults{})
	})
}

func TestWhatMayHoldSecretsIsASecretAndTheRestIsReadable(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	for _, kind := range store.Kinds() {
		write(t, s, store.Key{Kind: kind, Name: "a/b_c"}, "{\"about\": \""+string(kind)+"\"}\n", "")
	}
	secrets, err := cluster.Client().CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	maps, err := cluster.Client().CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "gpupool/kind"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range secrets.Items {
		got["secret "+o.Name] = o.Annotations["gpupool/key"] + " " + string(o.Data["document"])
	}
	for _, o := range maps.Items {
		got["configmap "+o.Name] = o.Annotations["gpupool/key"] + " " + o.Data["document"]
	}
	want := map[string]string{
		"secret gpupool.spot-pools.a.b--c":    "spot_pools/a/b_c {\"about\": \"spot_pools\"}\n",
		"secret gpupool.journals.a.b--c":      "journals/a/b_c {\"about\": \"journals\"}\n",
		"secret gpupool.budgets.a.b--c":       "budgets/a/b_c {\"about\": \"budgets\"}\n",
		"configmap gpupool.ledger.a.b--c":     "ledger/a/b_c {\"about\": \"ledger\"}\n",
		"configmap gpupool.statuses.a.b--c":   "statuses/a/b_c {\"about\": \"statuses\"}\n",
		"configmap gpupool.tombstones.a.b--c": "tombstones/a/b_c {\"about\": \"tombstones\"}\n",
		"configmap gpupool.states.a.b--c":     "states/a/b_c {\"about\": \"states\"}\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestLargeDocuments(t *testing.T) {
	t.Parallel()
	p := newProxy(t, kubetest.Start(t))
	s := p.open(t, kubetest.Start(t).Namespace(t), kubernetes.Options{})
	shard := store.Key{Kind: store.Ledger, Name: "c0ffee/closed-20260101"}
	for _, key := range []store.Key{train, shard} {
		for name, data := range map[string]string{
			"text that compresses": strings.Repeat("0123456789abcdef\n", 500_000),
			"noise that just fits": noise(t, 1<<20),
			"bytes":                "\x00\xff",
			"nothing":              "",
		} {
			revision := write(t, s, key, data, "")
			got, err := s.Read(t.Context(), key)
			if err != nil || string(got.Data) != data || got.Revision != revision {
				t.Errorf("%s of %s: %d bytes came back of %d (%v)", key, name, len(got.Data), len(data), err)
			}
			if err := s.Delete(t.Context(), key, revision); err != nil {
				t.Fatal(err)
			}
		}
		p.clear()
		_, err := s.Write(t.Context(), key, []byte(noise(t, 1<<20+1)), "")
		if !errors.Is(err, store.ErrTooLarge) || !strings.Contains(err.Error(), key.String()) || !strings.Contains(err.Error(), "1048576") {
			t.Errorf("%s: got %v, want an error that names the document and the limit", key, err)
		}
		if calls := p.clear(); len(calls) > 0 {
			t.Errorf("%s: the API server was bothered with %q", key, calls)
		}
	}
}

func TestAListHasAsManyPagesAsItTakes(t *testing.T) {
	t.Parallel()
	p := newProxy(t, kubetest.Start(t))
	s := p.open(t, kubetest.Start(t).Namespace(t), kubernetes.Options{})
	var want []store.Document
	for n := range 130 {
		key := store.Key{Kind: store.Ledger, Name: fmt.Sprintf("c0ffee/closed-%03d", n)}
		want = append(want, store.Document{Key: key, Revision: write(t, s, key, key.Name, ""), Data: []byte(key.Name)})
	}
	p.clear()
	list := func() {
		t.Helper()
		got, err := s.List(t.Context(), store.Ledger)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	list()
	if calls := p.clear(); len(calls) != 3 {
		t.Errorf("130 documents took %q", calls)
	}
	met := 0
	p.set(func(call string) fault { // a page expires, and another's answer is lost
		if !strings.Contains(call, "continue=") {
			return none
		}
		met++
		return map[int]fault{1: expired, 2: cutAfter}[met]
	})
	list()
	p.set(func(call string) fault {
		if strings.Contains(call, "continue=") {
			return expired
		}
		return none
	})
	if got, err := s.List(t.Context(), store.Ledger); err == nil {
		t.Errorf("half a list of %d came without an error", len(got))
	}
}

func TestNamespacesAreApart(t *testing.T) {
	t.Parallel()
	a, cluster, _ := fresh(t)
	b := open(t, kube.Config{ConfigPath: cluster.Kubeconfig()}, cluster.Namespace(t), kubernetes.Options{})
	revision := write(t, a, train, "a", "")
	if _, err := b.Read(t.Context(), train); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the other namespace has it too: %v", err)
	}
	write(t, b, train, "b", "")
	expect(t, a, train, "a", revision)
	for _, s := range []store.Store{a, b} {
		l, err := s.Lock(t.Context(), "run", 0)
		if err != nil {
			t.Fatalf("one namespace's lock keeps the other's out: %v", err)
		}
		defer func() { _ = l.Release() }()
	}
}

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

// TestADocumentThatLostItsLabelIsStillThere has every label taken off, as a tool
// that puts its own in their place does; of one of the documents the key as well.
func TestADocumentThatLostItsLabelIsStillThere(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	api := cluster.Client().CoreV1()
	for _, kind := range store.Kinds() {
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

// TestNoRevisionIsZero has a revision by which the API server would let a write
// replace whatever there is.
func TestNoRevisionIsZero(t *testing.T) {
	t.Parallel()
	s, _, _ := fresh(t)
	for _, key := range []store.Key{train, {Kind: store.Statuses, Name: "budgets/team-a"}} {
		revision := write(t, s, key, "a", "")
		for _, zero := range []store.Revision{"0", "00"} {
			if _, err := s.Write(t.Context(), key, []byte("b"), zero); !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: a write over the revision %q: got %v, want a conflict", key, zero, err)
			}
			if err := s.Delete(t.Context(), key, zero); !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: a removal of the revision %q: got %v, want a conflict", key, zero, err)
			}
		}
		expect(t, s, key, "a", revision)
	}
}
