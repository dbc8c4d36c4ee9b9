package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// asAdministrator is a store in the namespace of the manifests, and a run in it.
func asAdministrator(t *testing.T, cluster *kubetest.Cluster) reconcile.World {
	t.Helper()
	client := connect(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()})
	s, err := kubernetes.Open(t.Context(), client, manifests.DefaultNamespace, kubernetes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return process(t, client, s)
}

func usedUp(t *testing.T, cluster *kubetest.Cluster, p reconcile.World, name string, action budget.Action) (namespace string) {
	t.Helper()
	namespace = cluster.Namespace(t)
	_, err := p.Budgets().Create(t.Context(), budget.Declaration{
		Name: name, GPUHours: "0.001", Window: "24h", Selector: budget.Selector{Namespaces: []string{namespace}},
		Enforce: budget.Enforcement{Action: action, GracePeriod: "0s"},
	}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	cluster.WaitRunning(t, kubetest.Create(t, cluster, kubetest.Pod(namespace, "pod", kubetest.GPUs(4))))
	kubetest.WaitFor(t, name+" to be used up", func(ctx context.Context) error {
		report, err := p.Runner().Run(ctx, reconcile.RunOptions{DryRun: true})
		for _, b := range report.Budgets {
			if b.Name == name && b.UsageReport != nil && b.Exceeded != nil && *b.Exceeded {
				return nil
			}
		}
		return errors.Join(err, fmt.Errorf("%+v", report.Budgets))
	})
	return namespace
}

// nextRunRecovers deletes all that freezes are made of while a budget is frozen, and applies it again.
// Then it has more budgets be exceeded than there are slots: nothing is done to those without one.
func nextRunRecovers(t *testing.T, cluster *kubetest.Cluster) {
	all := objects(t, options())
	apply(t, cluster, all)
	e := asAdministrator(t, cluster)
	ns := usedUp(t, cluster, e, "team-a", budget.Freeze)
	run := func() reconcile.Report {
		t.Helper()
		report, err := e.Runner().Run(t.Context(), reconcile.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	run()
	kubetest.WaitFor(t, "the freeze", func(ctx context.Context) error { return wantRefused(ctx, cluster, ns) })
	client := cluster.Client().AdmissionregistrationV1()
	for _, o := range all {
		var err error
		switch o := o.Object.(type) {
		case *admissionv1.ValidatingAdmissionPolicy:
			err = client.ValidatingAdmissionPolicies().Delete(t.Context(), o.Name, metav1.DeleteOptions{})
		case *admissionv1.ValidatingAdmissionPolicyBinding:
			err = client.ValidatingAdmissionPolicyBindings().Delete(t.Context(), o.Name, metav1.DeleteOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	report := run()
	if failed, _ := report.Failures(); failed != 1 || !strings.Contains(report.Budgets[0].Error.Remedy, "gpupool manifests") {
		t.Errorf("%d failed; the budget: %+v", failed, report.Budgets[0])
	}
	apply(t, cluster, all)
	if failed, _ := run().Failures(); failed != 0 {
		t.Errorf("%d failed", failed)
	}
	kubetest.WaitFor(t, "the freeze to be back", func(ctx context.Context) error { return wantRefused(ctx, cluster, ns) })

	taken, err := client.ValidatingAdmissionPolicyBindings().List(t.Context(), metav1.ListOptions{LabelSelector: kubecluster.LabelBudgetUID})
	if err != nil || len(taken.Items) != 1 {
		t.Fatalf("%d slots are taken (%v)", len(taken.Items), err)
	}
	for _, name := range kubecluster.FreezeSlotNames()[:manifests.DefaultFreezeSlots] {
		if name == taken.Items[0].Name {
			continue
		}
		if err := client.ValidatingAdmissionPolicyBindings().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	second := usedUp(t, cluster, e, "second", budget.Evict)
	report = run()
	failed, _ := report.Failures()
	for _, b := range report.Budgets {
		if failing := b.Name == "second"; failed != 1 || (b.Error != nil) != failing ||
			failing && !strings.Contains(b.Error.Message, "no free slot for a freeze") {
			t.Errorf("of %d that failed, one is %s: %+v", failed, b.Name, b.Error)
		}
	}
	if err := wantRefused(t.Context(), cluster, ns); err != nil {
		t.Error(err)
	}
	if err := wantRefused(t.Context(), cluster, second); err == nil {
		t.Error("the second budget is frozen")
	}
	if pod, err := cluster.Client().CoreV1().Pods(second).Get(t.Context(), "pod", metav1.GetOptions{}); err != nil || pod.DeletionTimestamp != nil {
		t.Errorf("the second one's pod is to stay: %v, %v", pod.DeletionTimestamp, err)
	}
}
