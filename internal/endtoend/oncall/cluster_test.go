package oncall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// day is a scene of now, on a real cluster, with a budget for the pods of a namespace.
type day struct {
	*scene
	server    *kubetest.Cluster
	client    *kubeclient.Client
	namespace string
	budget    budget.Declaration
}

// newDay declares a budget of 36 GPU-seconds a day, which eight GPUs use up in five.
func newDay(t *testing.T, template string, changes ...func(*budget.Declaration)) *day {
	t.Helper()
	d := &day{scene: newScene(t, template), server: kubetest.Start(t)}
	made := kubetest.Create(t, d.server, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ml-"}})
	d.namespace = made.Name
	kubetest.WaitFor(t, "the service account of "+d.namespace, func(ctx context.Context) error {
		_, err := d.server.Client().CoreV1().ServiceAccounts(d.namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	d.installFreezes()
	d.env["KUBECONFIG"] = d.server.Kubeconfig()
	// It is noon somewhere: no day ends while the test runs.
	d.env["TZ"] = fmt.Sprintf("Etc/GMT%+d", d.now().UTC().Hour()-12)
	var err error
	if d.client, err = kubeclient.Open(kubeclient.Config{ConfigPath: d.server.Kubeconfig()}, "gpupool/test"); err != nil {
		t.Fatal(err)
	}
	d.budget = budget.Declaration{
		Name: "team-a", GPUHours: "0.010", Window: "24h", Selector: budget.Selector{Namespaces: []string{d.namespace}}, BreakdownLabels: []string{"app"},
		Enforce: budget.Enforcement{Action: budget.AlertOnly, GracePeriod: "0s"},
	}
	for _, change := range changes {
		change(&d.budget)
	}
	return d
}

// declare declares the budget, in the cluster or in one that calls itself otherwise.
func (d *day) declare(in func(reconcile.Cluster) reconcile.Cluster) {
	d.t.Helper()
	p, err := newProcess(filepath.Join(d.dir, ".gpupool"), d.sim.URL, d.now)
	if err != nil {
		d.t.Fatal(err)
	}
	p.Cluster = func(context.Context) (reconcile.Cluster, error) { return in(kubecluster.New(d.client)), nil }
	if _, err := p.Budgets().Create(d.t.Context(), d.budget.WithDefaults()); err != nil {
		d.t.Fatal(err)
	}
}

func there(c reconcile.Cluster) reconcile.Cluster { return c }

// elsewhere is a cluster as it would be under another uid.
type elsewhere struct{ reconcile.Cluster }

func (elsewhere) UID(context.Context) (string, error) {
	return "99999999-2222-3333-4444-555555555555", nil
}

func (d *day) installFreezes() {
	d.t.Helper()
	kubetest.Ensure(d.t, d.server, kubecluster.FreezePolicy())
	kubetest.Ensure(d.t, d.server, kubecluster.FreezeSlots(len(kubecluster.FreezeSlotNames()))...)
}

// catchUp brings the scene's clock up to that of the API server.
func (d *day) catchUp() {
	d.t.Helper()
	d.pass(max(0, time.Since(d.now())))
}

// start creates a pod in the namespace run, with its name as a label.
func (d *day) start(name string, gpus int, options ...kubetest.PodOption) *corev1.Pod {
	d.t.Helper()
	options = append(options, kubetest.GPUs(gpus), kubetest.Labels(map[string]string{"app": name}))
	return d.server.WaitRunning(d.t, kubetest.Create(d.t, d.server, kubetest.Pod(d.namespace, name, options...)))
}

// usesUp has a pod run until it has used the budget up.
func (d *day) usesUp() *corev1.Pod {
	d.t.Helper()
	pod := d.start("notebook-0", 8)
	time.Sleep(time.Until(pod.CreationTimestamp.Add(8 * time.Second)))
	return pod
}

func enforcing(a budget.Action) func(*budget.Declaration) {
	return func(d *budget.Declaration) { d.Enforce.Action = a }
}

func gated(d *spotpool.Declaration) { d.Budget = "team-a" }

func budgetExceeded(t *testing.T, template string) *scene {
	d := newDay(t, template)
	d.declare(there)
	d.runs(1, 0)
	d.train(gated)
	d.start("serve-0", 1)
	d.usesUp()
	d.runs(1, 0)
	d.reclaim()
	d.runs(1, 0)
	return d.scene
}

func freezeThatLasts(t *testing.T, template string) *scene {
	d := newDay(t, template, enforcing(budget.Freeze))
	d.declare(there)
	d.usesUp()
	d.runs(3, 0)
	return d.scene
}

// ledgerLost leaves a frozen budget whose usage is lost.
func ledgerLost(t *testing.T, template string) *scene {
	d := newDay(t, template, enforcing(budget.Freeze))
	d.declare(there)
	d.runs(1, 0)
	d.train(gated)
	pod := d.usesUp()
	d.runs(1, 0)
	if err := d.server.Client().CoreV1().Pods(d.namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	d.server.WaitGone(t, pod)
	if err := os.RemoveAll(filepath.Join(d.dir, ".gpupool", "ledger")); err != nil {
		t.Fatal(err)
	}
	d.reclaim()
	d.runs(2, 3)
	return d.scene
}

func statusTooOld(t *testing.T, template string) *scene {
	d := newDay(t, template)
	d.declare(there)
	d.runs(1, 0)
	d.train(gated)
	d.catchUp()
	d.runs(1, 0)
	d.env["KUBECONFIG"] = filepath.Join(d.dir, "kubeconfig")
	const gone = "apiVersion: v1\nkind: Config\nclusters: [{name: gpu, cluster: {server: \"http://127.0.0.1:1\"}}]\ncontexts: [{name: gpu, context: " +
		"{cluster: gpu, user: gpu}}]\nusers: [{name: gpu, user: {token: none}}]\ncurrent-context: gpu\n"
	if err := os.WriteFile(d.env["KUBECONFIG"], []byte(gone), 0o600); err != nil {
		t.Fatal(err)
	}
	d.runs(1, 3)
	d.pass(time.Hour)
	d.reclaim()
	d.runs(2, 3)
	return d.scene
}

func evictionAtNight(t *testing.T, template string) *scene {
	d := newDay(t, template, enforcing(budget.Evict))
	d.declare(there)
	d.runs(1, 0)
	d.start("serve-0", 1, kubetest.Annotation("gpupool/protected", "true"))
	pod := d.usesUp()
	for there := true; there; there = d.running(pod) {
		d.run(0)
	}
	d.runs(1, 0)
	return d.scene
}

// running reports whether a pod runs and is not being deleted.
func (d *day) running(pod *corev1.Pod) bool {
	d.t.Helper()
	now, err := d.server.Client().CoreV1().Pods(pod.Namespace).Get(d.t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		d.t.Fatal(err)
	}
	return err == nil && now.DeletionTimestamp == nil
}

func wrongCluster(t *testing.T, template string) *scene {
	d := newDay(t, template)
	d.declare(func(c reconcile.Cluster) reconcile.Cluster { return elsewhere{c} })
	d.runs(3, 3)
	return d.scene
}

// lockLeft has the node of a run go away, with a store in the cluster.
func lockLeft(t *testing.T, template string) *scene {
	d := newDay(t, template)
	d.moveStore()
	d.run(0)
	d.soldOut(zoneA)
	if _, err := d.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "infer-07"}); err != nil {
		t.Fatal(err)
	}
	d.kill("gpupool", "reconcile")
	d.catchUp()
	leases := d.server.Client().CoordinationV1().Leases(d.namespace)
	list, err := leases.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, lease := range list.Items {
		asOfAPod(&lease, d.now().Add(-30*time.Second))
		if _, err := leases.Update(t.Context(), &lease, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return d.scene
}

// asOfAPod changes a lease to that of a pod on an unreachable node, which was last heard of at
// a time. It lasts longer than a slow machine needs to show it.
func asOfAPod(lease *coordinationv1.Lease, heard time.Time) {
	renewed, seconds := metav1.NewMicroTime(heard), int32(600)
	lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &renewed, &seconds
	parts := strings.Split(*lease.Spec.HolderIdentity, "/")
	parts[1], parts[2] = "gpupool-29384640-x7k2p", "1"
	holder := strings.Join(parts, "/")
	lease.Spec.HolderIdentity = &holder
	for name := range lease.Annotations {
		if !strings.HasSuffix(name, "/key") {
			delete(lease.Annotations, name)
		}
	}
}

func (d *day) moveStore() {
	d.t.Helper()
	ctx := d.t.Context()
	from, err := directory.Open(filepath.Join(d.dir, ".gpupool"), directory.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	to, err := kubernetes.Open(ctx, d.client, d.namespace, kubernetes.Options{Create: true, Command: "terraform"})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, kind := range store.Kinds() {
		documents, err := from.List(ctx, kind)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.t.Fatal(err)
		}
		for _, document := range documents {
			if _, err := to.Write(ctx, document.Key, document.Data, ""); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	d.env["GPUPOOL_STORE"] = "kubernetes:" + d.namespace
}
