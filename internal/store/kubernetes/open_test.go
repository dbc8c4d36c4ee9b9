package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

func tryOpen(t *testing.T, c kubeclient.Config, namespace string, create bool) error {
	t.Helper()
	s, err := kubernetes.Open(t.Context(), connect(t, c), namespace, kubernetes.Options{Create: create})
	if (s == nil) == (err == nil) {
		t.Fatalf("got the store %v and the error %v", s, err)
	}
	return err
}

func expectSays(t *testing.T, err, is error, says ...string) {
	t.Helper()
	if err == nil || is != nil && !errors.Is(err, is) {
		t.Errorf("got the error %v, want %v", err, is)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q does not say %q", err, text)
		}
	}
}

func TestOpenWithoutAStore(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	admin := kubeclient.Config{ConfigPath: cluster.Kubeconfig()}
	empty := cluster.Namespace(t)
	absent := empty + "-absent"
	t.Cleanup(func() {
		_ = cluster.Client().CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), absent, metav1.DeleteOptions{})
	})
	for _, namespace := range []string{empty, absent} {
		expectSays(t, tryOpen(t, admin, namespace, false), store.ErrNoStore, namespace, "gpupool manifests", "--store", cluster.Config().Host)
		if err := tryOpen(t, admin, namespace, true); err != nil {
			t.Errorf("%s could not be made: %v", namespace, err)
		}
		if err := tryOpen(t, admin, namespace, false); err != nil {
			t.Errorf("%s is not there after it was made: %v", namespace, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	for name, c := range map[string]struct {
		data map[string]string
		is   error
		says string
	}{
		"newer":             {map[string]string{"store.json": `{"kind":"gpupool store","version":2}`}, store.ErrNewerStore, "upgrade gpupool"},
		"not a description": {map[string]string{"store.json": `{"kind":"gpupool store"`}, store.ErrDamagedStore, "gpupool.store"},
		"of something else": {map[string]string{"store.json": `{"kind":"grocery store","version":1}`}, store.ErrDamagedStore, "gpupool.store"},
		"empty":             {nil, store.ErrDamagedStore, "gpupool.store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			layout := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "gpupool.store"}, Data: c.data}
			if _, err := cluster.Client().CoreV1().ConfigMaps(namespace).Create(t.Context(), layout, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, create := range []bool{false, true} {
				expectSays(t, tryOpen(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, create), c.is, c.says, namespace)
			}
			if got := mustGet(t, cluster, namespace, "gpupool.store"); got.Data["store.json"] != c.data["store.json"] {
				t.Errorf("the description was changed to %v", got.Data)
			}
		})
	}
}

func TestManyCreateOneStore(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := tryOpen(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestARemovedStoreStaysRemoved(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	revision := write(t, s, train, "a", "")
	// Something keeps the namespace from going at once.
	maps := cluster.Client().CoreV1().ConfigMaps(namespace)
	stays := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stays", Finalizers: []string{"example.com/stays"}}}
	if _, err := maps.Create(t.Context(), stays, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client().CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	kubetest.WaitFor(t, "the store to be gone", func(ctx context.Context) error {
		if _, err := s.Read(ctx, train); !errors.Is(err, store.ErrNoStore) {
			return fmt.Errorf("it is still there: %w", err)
		}
		return nil
	})
	staysRemoved(t, s, revision)
	expectSays(t, tryOpen(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, true), store.ErrNoStore, namespace, "is being deleted")
	if _, err := maps.Patch(t.Context(), "stays", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	kubetest.WaitFor(t, "the namespace to be gone", func(ctx context.Context) error {
		_, err := cluster.Client().CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if err == nil {
			return errors.New("it is still there")
		}
		return nil
	})
	staysRemoved(t, s, revision)
}

func staysRemoved(t *testing.T, s store.Store, revision store.Revision) {
	t.Helper()
	_, readError := s.Read(t.Context(), train)
	_, listError := s.List(t.Context(), store.SpotPools)
	_, writeError := s.Write(t.Context(), train, []byte("b"), revision)
	_, createError := s.Write(t.Context(), train, []byte("b"), "")
	_, lockError := s.Lock(t.Context(), "run", 0)
	for doing, err := range map[string]error{
		"read": readError, "list": listError, "write": writeError, "create": createError, "lock": lockError, "delete": s.Delete(t.Context(), train, revision),
	} {
		if !errors.Is(err, store.ErrNoStore) {
			t.Errorf("%s: got %v, want ErrNoStore", doing, err)
		}
	}
}

func TestForbiddenVerbs(t *testing.T) {
	t.Parallel()
	s, cluster, namespace := fresh(t)
	secret, plain := write(t, s, train, "a", ""), write(t, s, status, "a", "")
	account := kubeclient.Config{ConfigPath: cluster.ServiceAccountKubeconfig(t, namespace, "powerless")}
	expectSays(t, tryOpen(t, account, namespace, false), nil, "get", "configmap", "gpupool.store", "powerless", "gpupool manifests")
	expectSays(t, tryOpen(t, account, namespace+"-absent", true), nil, "get", "configmap", "gpupool.store", "powerless")

	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "opener"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}, ResourceNames: []string{"gpupool.store"}},
	}}
	kubetest.Create(t, cluster, withNamespace(role, namespace))
	kubetest.Create(t, cluster, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "opener"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "opener"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "powerless"}},
	})
	var limited *kubernetes.Store
	kubetest.WaitFor(t, "the role to be in force", func(ctx context.Context) (err error) {
		limited, err = kubernetes.Open(ctx, connect(t, account), namespace, kubernetes.Options{})
		return err
	})
	_, err := limited.Read(t.Context(), train)
	expectSays(t, err, nil, "get", "secrets", train.String(), "powerless")
	_, err = limited.List(t.Context(), store.Statuses)
	expectSays(t, err, nil, "list", "configmaps")
	_, err = limited.List(t.Context(), store.Budgets)
	expectSays(t, err, nil, "list", "secrets")
	_, err = limited.Write(t.Context(), status, []byte("b"), "")
	expectSays(t, err, nil, "create", "configmaps", status.String())
	_, err = limited.Write(t.Context(), train, []byte("b"), secret)
	expectSays(t, err, nil, "update", "secrets", train.String())
	expectSays(t, limited.Delete(t.Context(), status, plain), nil, "delete", "configmaps", status.String())
	_, err = limited.Lock(t.Context(), "run", 0)
	expectSays(t, err, nil, "get", "leases", `"run"`)
	expect(t, s, train, "a", secret)
	expect(t, s, status, "a", plain)
}

func withNamespace(role *rbacv1.Role, namespace string) *rbacv1.Role {
	role.Namespace = namespace
	return role
}

func TestUnusableClusters(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	expectSays(t, tryOpen(t, kubeclient.Config{Host: refused}, "gpupool-system", true), nil, "kubernetes:gpupool-system", refused, "Check the address")
	wrong := kubeclient.Config{Host: cluster.Config().Host, ClusterCACertificate: string(cluster.Config().CAData), Token: "long-expired"}
	err = tryOpen(t, wrong, "gpupool-system", true)
	expectSays(t, err, nil, "kubernetes:gpupool-system", "credentials")
	if strings.Contains(err.Error(), "long-expired") {
		t.Errorf("the token is in the error %q", err)
	}
	expectSays(t, tryOpen(t, kubeclient.Config{Host: refused}, "Not A Namespace", true), nil, "cannot be a Kubernetes namespace")
}
