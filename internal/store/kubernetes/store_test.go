package kubernetes_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

var train = store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"}

func connect(t *testing.T, c kubeclient.Config) *kubeclient.Client {
	t.Helper()
	client, err := kubeclient.Open(c, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func open(t *testing.T, c kubeclient.Config, namespace string, o kubernetes.Options) *kubernetes.Store {
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

func fresh(t *testing.T) (*kubernetes.Store, *kubetest.Cluster, string) {
	t.Helper()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	return open(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, kubernetes.Options{}), cluster, namespace
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

func TestOnlySecretKindsAreSecrets(t *testing.T) {
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
		"secret gpupool.spot-pools.a.b--c":        "spot_pools/a/b_c {\"about\": \"spot_pools\"}\n",
		"secret gpupool.journals.a.b--c":          "journals/a/b_c {\"about\": \"journals\"}\n",
		"secret gpupool.budgets.a.b--c":           "budgets/a/b_c {\"about\": \"budgets\"}\n",
		"secret gpupool.stock-pools.a.b--c":       "stock_pools/a/b_c {\"about\": \"stock_pools\"}\n",
		"configmap gpupool.stock-journals.a.b--c": "stock_journals/a/b_c {\"about\": \"stock_journals\"}\n",
		"configmap gpupool.ledger.a.b--c":         "ledger/a/b_c {\"about\": \"ledger\"}\n",
		"configmap gpupool.history.a.b--c":        "history/a/b_c {\"about\": \"history\"}\n",
		"configmap gpupool.pauses.a.b--c":         "pauses/a/b_c {\"about\": \"pauses\"}\n",
		"configmap gpupool.grants.a.b--c":         "grants/a/b_c {\"about\": \"grants\"}\n",
		"configmap gpupool.holds.a.b--c":          "holds/a/b_c {\"about\": \"holds\"}\n",
		"configmap gpupool.statuses.a.b--c":       "statuses/a/b_c {\"about\": \"statuses\"}\n",
		"configmap gpupool.tombstones.a.b--c":     "tombstones/a/b_c {\"about\": \"tombstones\"}\n",
		"secret gpupool.jobs.a.b--c":              "jobs/a/b_c {\"about\": \"jobs\"}\n",
		"configmap gpupool.states.a.b--c":         "states/a/b_c {\"about\": \"states\"}\n",
		"secret gpupool.notifications.a.b--c":     "notifications/a/b_c {\"about\": \"notifications\"}\n",
		"configmap gpupool.deliveries.a.b--c":     "deliveries/a/b_c {\"about\": \"deliveries\"}\n",
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
	for n := range 200 {
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
		t.Errorf("200 documents took %q", calls)
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
	b := open(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, cluster.Namespace(t), kubernetes.Options{})
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

func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t) + "-absent"
	client, api := connect(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}), cluster.Client()
	t.Cleanup(func() {
		_ = api.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{})
	})
	storetest.Looking(t, storetest.Place{
		Open: func(create bool) (store.Store, error) {
			return kubernetes.Open(t.Context(), client, namespace, kubernetes.Options{Create: create})
		},
		Contents: func() any { return ours(t, cluster, namespace) },
	})
}

// ours is what there is of gpupool's in a namespace, with its version.
func ours(t *testing.T, cluster *kubetest.Cluster, namespace string) map[string]string {
	t.Helper()
	api, all := cluster.Client(), map[string]string{}
	_, namespaceError := api.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	all["namespace"] = fmt.Sprint(namespaceError)
	secrets, secretsError := api.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{})
	maps, mapsError := api.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	leases, leasesError := api.CoordinationV1().Leases(namespace).List(t.Context(), metav1.ListOptions{})
	if err := errors.Join(secretsError, mapsError, leasesError); err != nil {
		t.Fatal(err)
	}
	for _, o := range secrets.Items {
		all["secret "+o.Name] = o.ResourceVersion
	}
	for _, o := range maps.Items {
		if o.Name != "kube-root-ca.crt" { // which the cluster adds when it gets to it
			all["configmap "+o.Name] = o.ResourceVersion
		}
	}
	for _, o := range leases.Items {
		all["lease "+o.Name] = o.ResourceVersion
	}
	return all
}
