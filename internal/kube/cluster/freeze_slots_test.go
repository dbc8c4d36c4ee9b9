package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// slotsOf are the names of the slots that are taken, by the budget's uid.
func slotsOf(t *testing.T, server *kubetest.Cluster) map[string]string {
	t.Helper()
	list, err := server.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(t.Context(),
		metav1.ListOptions{LabelSelector: kubecluster.LabelBudgetUID})
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]string{}
	for _, b := range list.Items {
		uid := b.Labels[kubecluster.LabelBudgetUID]
		if taken[uid] != "" {
			t.Errorf("the budget %s has the slots %s and %s", uid, taken[uid], b.Name)
		}
		taken[uid] = b.Name
	}
	return taken
}

// try asks whether a pod would be let in, and makes none.
func try(ctx context.Context, server *kubetest.Cluster, pod *corev1.Pod) error {
	_, err := server.Client().CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// whileTrying creates a pod again and again while do runs, and logs refusals by the freeze.
func whileTrying(t *testing.T, server *kubetest.Cluster, pod func() *corev1.Pod, do func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var tried, refused int
	var last error
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := try(ctx, server, pod()); apierrors.IsForbidden(err) {
				refused, last = refused+1, err
			} else if err == nil {
				tried++
			}
		}
	})
	do()
	cancel()
	wg.Wait()
	if refused > 0 || tried == 0 {
		t.Errorf("%d pods of no budget were let in, and %d refused: %v", tried, refused, last)
	}
}

// TestManyBudgetsAreFrozenAtOnce has two runs freeze forty budgets at the same
// time, and then more than there are slots.
func TestManyBudgetsAreFrozenAtOnce(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t, "--no-kubelet", "--no-scheduler")
	policy(t, server)
	ns, other := server.Namespace(t), server.Namespace(t)
	team := func(n int) string { return fmt.Sprintf("team-%d", n) }
	freeze := func(n int) budget.FreezeRule {
		return budget.FreezeRule{Budget: team(n), BudgetUID: fmt.Sprintf("uid-%d", n), Selector: budget.Selector{
			Namespaces: []string{ns}, MatchLabels: map[string]string{"team": team(n)},
		}}
	}
	pod := func(namespace string, n int) func() *corev1.Pod {
		return func() *corev1.Pod {
			return kubetest.Pod(namespace, "", kubetest.GPUs(1), kubetest.Labels(map[string]string{"team": team(n)}))
		}
	}
	runs := []*kubecluster.Cluster{connect(t, server.Kubeconfig()), connect(t, server.Kubeconfig())}
	// The manifests' slots select everything: no other pod may be refused when one is taken for the first
	// time.
	whileTrying(t, server, pod(other, 0), func() {
		var wg sync.WaitGroup
		for n := range 40 {
			wg.Go(func() {
				if err := runs[n%2].Freeze(t.Context(), freeze(n)); err != nil {
					t.Errorf("%s: %v", team(n), err)
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Second) // in which API servers learn of it
	})
	taken := slotsOf(t, server)
	if len(taken) != 40 {
		t.Fatalf("%d budgets have a slot: %v", len(taken), taken)
	}
	for n := range 40 {
		if message := refused(t, server, true, pod(ns, n)); !strings.Contains(message, "the budget "+team(n)+" are used up") {
			t.Errorf("%s: %s", team(n), message)
		}
	}
	refused(t, server, false, pod(ns, 40))

	for n := 40; n < 64; n++ {
		if err := runs[0].Freeze(t.Context(), freeze(n)); err != nil {
			t.Fatal(err)
		}
	}
	var none *kubecluster.NoFreezeSlotError
	if err := runs[1].Freeze(t.Context(), freeze(64)); !errors.As(err, &none) || !strings.Contains(err.Error(), "have taken all 64") {
		t.Errorf("got %v, want no slot to be free", err)
	}
	refused(t, server, false, pod(ns, 64))
	changed := freeze(7) // which has its slot
	changed.Selector.Namespaces = append(changed.Selector.Namespaces, other)
	if err := runs[1].Freeze(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	refused(t, server, true, pod(other, 7))
	if now := slotsOf(t, server); now["uid-7"] != taken["uid-7"] {
		t.Errorf("the budget moved from the slot %s to %s", taken["uid-7"], now["uid-7"])
	}
	if err := runs[0].Unfreeze(t.Context(), "uid-3"); err != nil {
		t.Fatal(err)
	}
	if err := runs[1].Freeze(t.Context(), freeze(64)); err != nil {
		t.Fatal(err)
	}
	refused(t, server, false, pod(ns, 3))
	refused(t, server, true, pod(ns, 64))
}

// TestFreezesOutliveTheAPIServer restarts the API server while a budget is frozen,
// lifts the only freeze that there is, and takes all of it away and back.
func TestFreezesOutliveTheAPIServer(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t, "--no-kubelet", "--no-scheduler")
	policy(t, server)
	ns, other := server.Namespace(t), server.Namespace(t)
	c := connect(t, server.Kubeconfig())
	f := budget.FreezeRule{Budget: "lasting", BudgetUID: "b7b7b7b7-aaaa", Selector: budget.Selector{Namespaces: []string{ns}}}
	in := func(namespace string) func() *corev1.Pod {
		return func() *corev1.Pod { return kubetest.Pod(namespace, "", kubetest.GPUs(1)) }
	}
	frozen := func(want bool) {
		t.Helper()
		do := func(ctx context.Context, f budget.FreezeRule) error { return c.Unfreeze(ctx, f.BudgetUID) }
		if want {
			do = c.Freeze
		}
		kubetest.WaitFor(t, "the API server to take it", func(ctx context.Context) error { return do(ctx, f) })
		refused(t, server, want, in(ns))
	}
	frozen(true)

	ctx, cancel := context.WithCancel(t.Context())
	let, kept := map[string]int{}, map[string]error{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			for name, pod := range map[string]*corev1.Pod{"frozen": in(ns)(), "free": in(other)(), "system": in(metav1.NamespaceSystem)()} {
				switch err := try(ctx, server, pod); {
				case err == nil:
					let[name]++
				case strings.Contains(err.Error(), kubecluster.FreezePolicyName):
					kept[name] = err
				}
			}
		}
	})
	server.Restart(t)
	time.Sleep(3 * time.Second) // in which it learns all that it goes by
	cancel()
	wg.Wait()
	if let["frozen"] > 0 || let["free"] == 0 || let["system"] == 0 || kept["free"] != nil || kept["system"] != nil {
		t.Errorf("let in while the API server began: %v; kept out: %v", let, kept)
	}
	refused(t, server, true, in(ns))

	for range 2 { // all are lifted, and one is frozen again
		frozen(false)
		frozen(true)
	}
	admission := server.Client().AdmissionregistrationV1()
	err := admission.ValidatingAdmissionPolicyBindings().DeleteCollection(t.Context(), metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=gpupool"})
	if err == nil {
		err = admission.ValidatingAdmissionPolicies().Delete(t.Context(), kubecluster.FreezePolicyName, metav1.DeleteOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	refused(t, server, false, in(ns))
	var missing *kubecluster.MissingPolicyError
	if err := c.Freeze(t.Context(), f); !errors.As(err, &missing) {
		t.Errorf("got %v, want the policy to be missing", err)
	}
	if _, err := admission.ValidatingAdmissionPolicies().Create(t.Context(), kubecluster.FreezePolicy(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var none *kubecluster.NoFreezeSlotError
	if err := c.Freeze(t.Context(), f); !errors.As(err, &none) || !strings.Contains(err.Error(), "gpupool manifests") {
		t.Errorf("got %v, want the slots to be missing", err)
	}
	policy(t, server)
	whileTrying(t, server, in(other), func() { frozen(true) })
}
