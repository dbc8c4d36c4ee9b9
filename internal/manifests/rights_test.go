package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// verbs are what rules grant, as "list pods", sorted.
func verbs(rules []rbacv1.PolicyRule) []string {
	var all []string
	for _, r := range rules {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				all = append(all, verb+" "+resource)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// without are the rules less one verb on one resource.
func without(rules []rbacv1.PolicyRule, right string) []rbacv1.PolicyRule {
	verb, resource, _ := strings.Cut(right, " ")
	var less []rbacv1.PolicyRule
	for _, r := range rules {
		if slices.Contains(r.Resources, resource) {
			r.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(v string) bool { return v == verb })
		}
		if len(r.Verbs) > 0 {
			less = append(less, r)
		}
	}
	return less
}

// account makes a service account with these rights in its namespace and in the
// whole cluster, and returns what it signs in with.
func account(t *testing.T, cluster *kubetest.Cluster, namespace, name string, inside, everywhere []rbacv1.PolicyRule) kubeclient.Config {
	t.Helper()
	config := kubeclient.Config{ConfigPath: cluster.ServiceAccountKubeconfig(t, namespace, name)}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
	kubetest.Create(t, cluster, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Rules: inside})
	kubetest.Create(t, cluster, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	})
	whole := metav1.ObjectMeta{Name: namespace + "-" + name}
	kubetest.Create(t, cluster, &rbacv1.ClusterRole{ObjectMeta: whole, Rules: everywhere})
	kubetest.Create(t, cluster, &rbacv1.ClusterRoleBinding{
		ObjectMeta: whole, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: whole.Name},
	})
	return config
}

func connect(t *testing.T, c kubeclient.Config) *kubeclient.Client {
	t.Helper()
	client, err := kubeclient.Open(c, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// untilAllowed waits until a client may make a call.
func untilAllowed(t *testing.T, what string, call func(ctx context.Context) error) {
	t.Helper()
	kubetest.WaitFor(t, "the rights of "+what+" to be in force", call)
}

// errLost is the loss of a lock that may not be renewed.
var errLost = errors.New("the lock was lost")

// useStore does with a store whatever is done with one: it returns the first
// thing that fails.
func useStore(ctx context.Context, client *kubeclient.Client, namespace, name string) error {
	s, err := kubernetes.Open(ctx, client, namespace, kubernetes.Options{LeaseDuration: 5 * time.Second, RenewEvery: 300 * time.Millisecond})
	if err != nil {
		return err
	}
	l, err := s.Lock(ctx, "budget/"+name, time.Minute)
	if err != nil {
		return err
	}
	for _, kind := range []store.Kind{store.Budgets, store.Statuses} {
		if err := useDocument(ctx, s, store.Key{Kind: kind, Name: name}); err != nil {
			return err
		}
	}
	select { // the lock is renewed in the background
	case <-l.Lost():
		return errLost
	case <-time.After(4 * time.Second):
	}
	if err := l.Release(); err != nil {
		return err
	}
	_, err = client.UID(ctx)
	return err
}

func useDocument(ctx context.Context, s store.Store, key store.Key) error {
	revision, err := s.Write(ctx, key, []byte("a"), "")
	if err != nil {
		return err
	}
	if revision, err = s.Write(ctx, key, []byte("b"), revision); err != nil {
		return err
	}
	if _, err := s.Read(ctx, key); err != nil {
		return err
	}
	if _, err := s.List(ctx, key.Kind); err != nil {
		return err
	}
	return s.Delete(ctx, key, revision)
}

// TestTerraformsRights uses the store under exactly the rights that are printed,
// and shows that each of them is needed.
func TestTerraformsRights(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	o := options()
	o.Namespace = namespace
	apply(t, cluster, objects(t, o))
	granted := append(manifests.StoreRules(), manifests.DeclareRules()...)

	t.Run("whole", func(t *testing.T) {
		t.Parallel()
		client := connect(t, kubeclient.Config{ConfigPath: cluster.ServiceAccountKubeconfig(t, manifests.RunNamespaceOf(namespace),
			manifests.TerraformAccount)})
		untilAllowed(t, manifests.TerraformAccount, func(ctx context.Context) error { _, err := client.UID(ctx); return err })
		if err := useStore(t.Context(), client, namespace, "whole"); err != nil {
			t.Error(err)
		}
		var used []string
		for call := range client.Calls() {
			used = append(used, call)
		}
		slices.Sort(used)
		if diff := cmp.Diff(verbs(granted), used); diff != "" {
			t.Errorf("what is granted is not what is used (-granted +used)\n%s", diff)
		}
	})
	for n, right := range verbs(granted) {
		t.Run("without "+right, func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("less-%d", n)
			config := account(t, cluster, namespace, name, without(manifests.StoreRules(), right), without(manifests.DeclareRules(), right))
			client := connect(t, config)
			untilAllowed(t, name, func(ctx context.Context) error {
				_, err := client.UID(ctx)
				if right == "get namespaces" || right == "get configmaps" {
					_, err = client.Kubernetes().CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
				}
				return err
			})
			err := useStore(t.Context(), client, namespace, name)
			verb, resource, _ := strings.Cut(right, " ")
			names := "the role needs the verb " + verb + " on " + resource
			if renews := right == "update leases"; err == nil || renews && !errors.Is(err, errLost) || !renews && !strings.Contains(err.Error(), names) {
				t.Errorf("got %v, want an error that says %q", err, names)
			}
		})
	}
}
