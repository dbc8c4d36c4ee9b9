package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
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

// account creates a service account with these grants, those of the store in its own namespace, and
// returns its configuration once they are in force.
func account(t *testing.T, cluster *kubetest.Cluster, home string, grants []grant) kubeclient.Config {
	t.Helper()
	const name = "limited"
	config := kubeclient.Config{ConfigPath: cluster.ServiceAccountKubeconfig(t, home, name)}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, g := range grants {
		if g.namespace == manifests.DefaultNamespace {
			g.namespace = home
		}
		rules[g.namespace] = append(rules[g.namespace], rbacv1.PolicyRule{
			APIGroups: []string{g.group}, Resources: []string{g.resource}, Verbs: []string{g.verb}, ResourceNames: g.names,
		})
	}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: name}}
	for namespace, list := range rules {
		about, role := metav1.ObjectMeta{Namespace: namespace, Name: home + "-" + name}, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Name: home + "-" + name}
		if namespace == "" {
			role.Kind = "ClusterRole"
			kubetest.Create(t, cluster, &rbacv1.ClusterRole{ObjectMeta: about, Rules: list})
			kubetest.Create(t, cluster, &rbacv1.ClusterRoleBinding{ObjectMeta: about, Subjects: subjects, RoleRef: role})
		} else {
			role.Kind = "Role"
			kubetest.Create(t, cluster, &rbacv1.Role{ObjectMeta: about, Rules: list})
			kubetest.Create(t, cluster, &rbacv1.RoleBinding{ObjectMeta: about, Subjects: subjects, RoleRef: role})
		}
		untilGranted(t, cluster, "system:serviceaccount:"+home+":"+name, namespace, list[0])
	}
	return config
}

// untilGranted waits until the API server's authorizer has read a rule.
func untilGranted(t *testing.T, cluster *kubetest.Cluster, user, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	of := &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0]}
	of.Resource, of.Subresource, _ = strings.Cut(rule.Resources[0], "/")
	if len(rule.ResourceNames) > 0 {
		of.Name = rule.ResourceNames[0]
	}
	untilAllowed(t, user, func(ctx context.Context) error {
		review, err := cluster.Client().AuthorizationV1().SubjectAccessReviews().Create(ctx,
			&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: of}}, metav1.CreateOptions{})
		if err == nil && !review.Status.Allowed {
			err = fmt.Errorf("it may not %s %s: %s", of.Verb, of.Resource, review.Status.Reason)
		}
		return err
	})
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

// useStore does with a store whatever is done with one: it returns the first thing that fails.
func useStore(w *world) error {
	ctx := w.t.Context()
	s, err := kubernetes.Open(ctx, w.client, w.home, kubernetes.Options{LeaseDuration: 5 * time.Second, RenewEvery: 300 * time.Millisecond})
	if err != nil {
		return err
	}
	l, err := s.Lock(ctx, "budget/used", time.Minute)
	if err != nil {
		return err
	}
	for _, kind := range []store.Kind{store.Budgets, store.Statuses} {
		if err := useDocument(ctx, s, store.Key{Kind: kind, Name: "used"}); err != nil {
			return err
		}
	}
	lost := false
	kubetest.WaitFor(w.t, "the lock to be renewed, which is done in the background, or lost", func(context.Context) error {
		select {
		case <-l.Lost():
			lost = true
		default:
			if w.calls.times("update leases") == 0 {
				return errors.New("neither")
			}
		}
		return nil
	})
	if lost {
		return errLost
	}
	if err := l.Release(); err != nil {
		return err
	}
	_, err = w.client.UID(ctx)
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
