package manifests_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// The places in which a right holds.
const (
	inCluster = "everywhere"
	inStore   = "in the store"
	inSystem  = "in kube-system"
	byName    = "by name"
)

func printings() map[string]manifests.Options {
	all := map[string]manifests.Options{"all": withAll(), "serve": withServer()}
	for _, action := range []budget.Action{budget.AlertOnly, budget.Freeze, budget.Pause, budget.Evict} {
		o := options()
		o.Enforcement = action
		all[string(action)] = o
		o.Stock = manifests.Stock{Pools: true, Namespaces: []string{"team-a"}}
		all[string(action)+", stock pools in a namespace"] = o
	}
	for name, nodes := range map[string]manifests.Nodes{
		"mark": {Mark: true}, "cordon": {Mark: true, Cordon: true}, "delete": {Mark: true, Delete: true}, "notice": {NoticeWatch: true},
	} {
		o := options()
		o.Nodes = nodes
		all[name+" nodes"] = o
	}
	o := options()
	o.BootstrapGroups = withAll().BootstrapGroups
	all["tokens"] = o
	return all
}

// attempt is one use of a right on an object that gpupool did not make. Nothing is changed
// by it: it is a dry run.
type attempt struct {
	abuse
	harmless string // why it is allowed; empty if it is refused
}

// TestEachRightHasItsRows: each right is tried on objects that gpupool did not make.
func TestEachRightHasItsRows(t *testing.T) {
	t.Parallel()
	table := foreignAttempts()
	rights := map[string][]string{}
	for name, o := range printings() {
		for right := range granted(t, o) {
			if len(table[right]) == 0 {
				t.Errorf("with %s: %s has no row", name, right)
			}
			rights[right] = nil
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(rights)), slices.Sorted(maps.Keys(table))); diff != "" {
		t.Errorf("the rows are not what is printed (-printed +rows)\n%s", diff)
	}
}

// rightsOnForeignObjects uses each right that is printed, as each account that has it, on objects that
// gpupool did not make.
func rightsOnForeignObjects(t *testing.T, cluster *kubetest.Cluster, work string) {
	table := foreignAttempts()
	makeForeign(t, cluster, work)
	run := manifests.RunNamespaceOf(manifests.DefaultNamespace)
	clients := map[string]kubernetes.Interface{}
	for _, account := range []string{manifests.ReconcileAccount, manifests.TerraformAccount, manifests.NoticeAccount} {
		clients[account] = signedIn(t, cluster, run, account)
		untilLimited(t, clients[account], account, work)
	}
	for right, accounts := range granted(t, withAll()) {
		for _, account := range accounts {
			for _, a := range table[right] {
				err := call(t.Context(), clients[account], a.abuse, work)
				switch {
				case a.harmless == "" && !apierrors.IsForbidden(err):
					t.Errorf("%s: %s, to %s: got %v, want it to be forbidden", account, right, a.what, err)
				case a.harmless != "" && err != nil && !apierrors.IsConflict(err) && account != manifests.NoticeAccount:
					t.Errorf("%s: %s, to %s: got %v, want it to be allowed: %s", account, right, a.what, err, a.harmless)
				}
			}
		}
	}
}

// makeForeign makes objects in the store that gpupool did not make, and an Event and a
// ReplicaSet of others.
func makeForeign(t *testing.T, cluster *kubetest.Cluster, work string) {
	t.Helper()
	about := metav1.ObjectMeta{Namespace: manifests.DefaultNamespace, Name: "foreign"}
	kubetest.Create(t, cluster, &corev1.Secret{ObjectMeta: about})
	kubetest.Create(t, cluster, &corev1.ConfigMap{ObjectMeta: about})
	kubetest.Create(t, cluster, lease(about))
	pods := kubetest.Deployment(work, "foreign", 0).Spec
	kubetest.Create(t, cluster, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: work, Name: "foreign"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: pods.Replicas, Selector: pods.Selector, Template: pods.Template},
	})
	for name, source := range map[string]string{"foreign": "kubelet", "reported": kubecluster.EventSource} {
		kubetest.Create(t, cluster, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: work, Name: name}, Source: corev1.EventSource{Component: source},
			InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: work, Name: "pod"},
		})
	}
}

// get, list and watch are attempts to read.
func get(path, why string) attempt {
	return attempt{abuse{what: "get " + path, verb: http.MethodGet, path: path}, why}
}

func list(path, why string) []attempt { return []attempt{get(path, why)} }

func watch(path, why string) []attempt {
	return []attempt{get(path+"?watch=true&timeoutSeconds=1", why)}
}

// refused is an attempt that an admission policy or RBAC refuses, and allowed is one that is
// harmless, or what the right is for.
func refused(what string, a abuse) attempt { return allowed(what, "", a) }

func allowed(what, why string, a abuse) attempt {
	a.what = what
	separator := "?"
	if strings.Contains(a.path, separator) {
		separator = "&"
	}
	a.path += separator + "dryRun=All"
	if a.verb == http.MethodDelete && a.body != "" { // the API server then reads no options from the path
		a.body = strings.TrimSuffix(a.body, "}") + `,"dryRun":["All"]}`
	}
	return attempt{a, why}
}

// untilLimited waits until the rights and the policies of an account are in force.
func untilLimited(t *testing.T, client kubernetes.Interface, account, work string) {
	t.Helper()
	can, cannot := ofNode("", "", "own", `{"metadata":{"annotations":{"gpupool/pool-uid":"a"}}}`),
		ofNode("", "", "own", `{"metadata":{"labels":{"while":"waiting"}}}`)
	can.path, cannot.path = can.path+"?dryRun=All", cannot.path+"?dryRun=All"
	if account == manifests.NoticeAccount { // which may change nothing without a pod's token
		can = abuse{verb: http.MethodGet, path: apiNodes + "own"}
	}
	untilAllowed(t, account, func(ctx context.Context) error { return call(ctx, client, can, work) })
	kubetest.WaitFor(t, "the limits of "+account+" to be in force", func(ctx context.Context) error {
		if err := call(ctx, client, cannot, work); !apierrors.IsForbidden(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}
