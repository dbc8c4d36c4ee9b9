package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kube"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// world is a store and a namespace with workloads in a cluster.
type world struct {
	t       *testing.T
	cluster *kubetest.Cluster
	home    string // the store's namespace
	work    string // the workloads'
	admin   *reconcile.Engine
	client  *kube.Client // the account's
	account *reconcile.Engine
}

func engine(t *testing.T, client *kube.Client, s store.Store) *reconcile.Engine {
	t.Helper()
	cluster := kube.NewCluster(client)
	return &reconcile.Engine{
		Cloud:   reconcile.LazyCloud(func(context.Context) (reconcile.Cloud, error) { return nil, errors.New("no cloud here") }),
		Cluster: func(context.Context) (reconcile.Cluster, error) { return cluster, nil },
		Store:   s, Actor: "test",
	}
}

// newWorld makes a world, and in it an account that may do what the manifests of
// a part's account say, less one right.
func newWorld(t *testing.T, cluster *kubetest.Cluster, p part, less string) *world {
	t.Helper()
	w := &world{t: t, cluster: cluster, home: cluster.Namespace(t), work: cluster.Namespace(t)}
	adminClient := connect(t, kube.Config{ConfigPath: cluster.Kubeconfig()})
	s, err := kubernetes.Open(t.Context(), adminClient, w.home, kubernetes.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	w.admin = engine(t, adminClient, s)
	if p.prepare != nil {
		p.prepare(w)
	}
	config := account(t, cluster, w.home, "limited", manifests.StoreRules(), without(p.rights(), less))
	w.client = connect(t, config)
	inForce(t, "limited", func(ctx context.Context) error {
		_, err := kubernetes.Open(ctx, w.client, w.home, kubernetes.Options{})
		if _, uidError := w.client.UID(ctx); less != "get namespaces" {
			err = errors.Join(err, uidError)
		}
		return err
	})
	w.client = connect(t, config) // which counts from zero
	limited, err := kubernetes.Open(t.Context(), w.client, w.home, kubernetes.Options{Command: "gpupool test"})
	if err != nil {
		t.Fatal(err)
	}
	w.account = engine(t, w.client, limited)
	return w
}

func (w *world) declare(action budget.Action, hours string) budget.Declaration {
	w.t.Helper()
	state, err := w.admin.CreateBudget(w.t.Context(), budget.Declaration{
		Name: "team-a", GPUHours: hours, Window: "24h", Selector: budget.Selector{Namespaces: []string{w.work}},
		Enforce: budget.Enforcement{Action: action, GracePeriod: "0s"},
	}.WithDefaults())
	if err != nil {
		w.t.Fatal(err)
	}
	return state.Declaration
}

func (w *world) change(edit func(d *budget.Declaration)) {
	w.t.Helper()
	d, err := w.admin.FindBudget(w.t.Context(), "team-a")
	if err == nil {
		edit(&d)
		_, err = w.admin.UpdateBudget(w.t.Context(), d)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// raise has the budget be far from exceeded.
func raise(d *budget.Declaration) { d.GPUHours = "100000" }

// exceed waits until what runs has used the budget up.
func (w *world) exceed() {
	w.t.Helper()
	kubetest.WaitFor(w.t, "the budget to be used up", func(ctx context.Context) error {
		report, err := w.admin.Run(ctx, reconcile.RunOptions{DryRun: true})
		if err == nil && (len(report.Budgets) != 1 || report.Budgets[0].UsageReport == nil || !*report.Budgets[0].Exceeded) {
			err = fmt.Errorf("%+v", report.Budgets)
		}
		return err
	})
}

// run is one run of the account. What it could not do, or warns of, is the error.
func (w *world) run() error {
	w.t.Helper()
	report, err := w.account.Run(w.t.Context(), reconcile.RunOptions{})
	errs := []error{err}
	for _, b := range report.Budgets {
		if b.Error != nil {
			errs = append(errs, errors.New(b.Error.Message))
		}
	}
	for _, d := range report.Decisions {
		if d.Error != nil {
			errs = append(errs, errors.New(d.Error.Message))
		}
	}
	for _, text := range report.Warnings {
		// The other runs of these tests have stores of their own, and the same cluster.
		if !strings.Contains(text, "which the store "+w.account.Store.String()+" does not know") {
			errs = append(errs, errors.New(text))
		}
	}
	return errors.Join(errs...)
}

// part is a piece of what runs do, after which every right that it needs has been
// used. do returns what went wrong.
type part struct {
	name    string
	rights  func() []rbacv1.PolicyRule
	prepare func(w *world)
	do      func(w *world) error
}

func reconciling() []rbacv1.PolicyRule {
	return slices.Concat(manifests.ObserveRules(), manifests.LiftRules(options()), manifests.EnforceRules(options()))
}

func declaring() []rbacv1.PolicyRule {
	return slices.Concat(manifests.DeclareRules(), manifests.LiftRules(options()))
}

var parts = []part{
	{"counts", reconciling, prepareClaims, counts},
	{"asks Events", reconciling, prepareVanished, func(w *world) error { return w.run() }},
	{"alerts", reconciling, prepareUsed(budget.AlertOnly), alerts},
	{"freezes", reconciling, prepareUsed(budget.Freeze), freezes},
	{"pauses", reconciling, prepareWorkloads, pauses},
	{"evicts", reconciling, prepareUsed(budget.Evict), evicts},
	{"destroys", declaring, prepareEnforced, destroys},
}

// TestRunsUnderExactlyTheRightsThatArePrinted does all that runs do with the
// rights that are printed, shows that all of them are used, and takes them away
// one by one: then something goes wrong that says which right is missing.
func TestRunsUnderExactlyTheRightsThatArePrinted(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	o := options()
	o.Namespace = cluster.Namespace(t)
	apply(t, cluster, objects(t, o)) // the freeze policy, above all
	var mu sync.Mutex
	usedBy := map[string][]string{} // by the account's rights, and the right
	t.Run("with all", func(t *testing.T) {
		for _, p := range parts {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, cluster, p, "")
				if err := p.do(w); err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for call := range w.client.Calls() {
					usedBy[call] = append(usedBy[call], p.name)
				}
			})
		}
	})
	granted := verbs(slices.Concat(reconciling(), declaring()))
	store := verbs(manifests.StoreRules())
	used := slices.Sorted(maps.Keys(usedBy))
	used = slices.DeleteFunc(used, func(right string) bool { return slices.Contains(store, right) })
	if diff := cmp.Diff(granted, used); diff != "" {
		t.Fatalf("what is granted is not what is used (-granted +used)\n%s", diff)
	}
	for _, right := range granted {
		// From the last on: what only counts or alerts does without the right to see
		// what is in force.
		for _, p := range slices.Backward(parts) {
			if !slices.Contains(usedBy[right], p.name) {
				continue
			}
			t.Run("without "+right, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, cluster, p, right)
				verb, resource, _ := strings.Cut(right, " ")
				err := p.do(w)
				if err == nil || !strings.Contains(err.Error(), "needs the verb "+verb+" on "+resource) {
					t.Errorf("got %v, want a failure or warning that says that the role needs %s", err, right)
				}
			})
			break
		}
	}
}

func (w *world) pod(options ...kubetest.PodOption) {
	w.t.Helper()
	pod := kubetest.Create(w.t, w.cluster, kubetest.Pod(w.work, "", options...))
	w.cluster.WaitRunning(w.t, pod)
}

// prepareUsed declares a budget that a pod has used up.
func prepareUsed(action budget.Action) func(w *world) {
	return func(w *world) {
		w.t.Helper()
		w.declare(action, "0.001")
		w.pod(kubetest.GPUs(4))
		w.exceed()
	}
}

// prepareClaims has a pod hold devices by claim.
func prepareClaims(w *world) {
	w.t.Helper()
	const driver = "gpu.nvidia.com"
	class := kubetest.Create(w.t, w.cluster, kubetest.DeviceClass(w.work, driver))
	node := kubetest.Create(w.t, w.cluster, kubetest.Node(w.work, 0))
	kubetest.Create(w.t, w.cluster, kubetest.ResourceSlice(node.Name, driver, 2, "16Gi"))
	kubetest.Create(w.t, w.cluster, kubetest.ResourceClaim(w.work, "gpu", class.Name, 1))
	w.declare(budget.AlertOnly, "1000")
}

// counts makes two runs, with a pod that came in between for the second to find
// in the replay of the watch.
func counts(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	w.pod(kubetest.Claim("gpu"), kubetest.OnNode(w.work))
	return w.run()
}

// prepareVanished lets a pod that a run saw be gone without a word: the ledger's
// place in the watch is one that the API server doesn't have, as after it was
// restored from a backup.
func prepareVanished(w *world) {
	w.t.Helper()
	w.declare(budget.AlertOnly, "1000")
	pod := kubetest.Create(w.t, w.cluster, kubetest.Pod(w.work, "", kubetest.GPUs(1)))
	w.cluster.WaitRunning(w.t, pod)
	ctx := w.t.Context()
	if _, err := w.admin.Run(ctx, reconcile.RunOptions{}); err != nil {
		w.t.Fatal(err)
	}
	now := int64(0)
	if err := w.cluster.Client().CoreV1().Pods(w.work).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		w.t.Fatal(err)
	}
	w.cluster.WaitGone(w.t, pod)
	docs, err := w.admin.Store.List(ctx, store.Ledger)
	if err != nil {
		w.t.Fatal(err)
	}
	contents, revisions, uid := map[string][]byte{}, map[string]store.Revision{}, ""
	for _, d := range docs {
		cluster, name, _ := strings.Cut(d.Key.Name, "/")
		contents[name], revisions[name], uid = d.Data, d.Revision, cluster
	}
	l, _, err := ledger.Load(uid, contents, ledger.Time(time.Now().UnixMilli()))
	if err != nil {
		w.t.Fatal(err)
	}
	l.Header.ResourceVersion = "9000000000000"
	changes, err := l.Changes()
	if err != nil || len(changes.Write) == 0 {
		w.t.Fatal(changes, err)
	}
	for _, d := range changes.Write {
		if _, err := w.admin.Store.Write(ctx, store.Key{Kind: store.Ledger, Name: uid + "/" + d.Name}, d.Data, revisions[d.Name]); err != nil {
			w.t.Fatal(err)
		}
	}
}

// alerts tells of a threshold, and tells of it again after what was told of is
// forgotten.
func alerts(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	key := store.Key{Kind: store.Statuses, Name: "budgets/team-a"}
	d, err := w.admin.Store.Read(w.t.Context(), key)
	if err == nil {
		err = w.admin.Store.Delete(w.t.Context(), key, d.Revision)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return w.run()
}

// freezes freezes, changes the freeze with its budget, and lifts it.
func freezes(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	w.change(func(d *budget.Declaration) { d.Selector.Namespaces = append(d.Selector.Namespaces, w.home) })
	if err := w.run(); err != nil {
		return err
	}
	w.change(raise)
	return w.run()
}

// prepareWorkloads lets each kind of workload that can be paused use the budget up.
func prepareWorkloads(w *world) {
	w.t.Helper()
	w.declare(budget.Pause, "0.001")
	kubetest.Create(w.t, w.cluster, kubetest.Deployment(w.work, "deployment", 1, kubetest.GPUs(1)))
	kubetest.Create(w.t, w.cluster, kubetest.StatefulSet(w.work, "statefulset", 1, kubetest.GPUs(1)))
	kubetest.Create(w.t, w.cluster, kubetest.Job(w.work, "job", 1, kubetest.GPUs(1)))
	kubetest.WaitFor(w.t, "the pods to be bound", func(ctx context.Context) error {
		list, err := w.cluster.Client().CoreV1().Pods(w.work).List(ctx, metav1.ListOptions{})
		bound := 0
		for _, p := range list.Items {
			if p.Spec.NodeName != "" {
				bound++
			}
		}
		if err == nil && bound != 3 {
			err = fmt.Errorf("%d are", bound)
		}
		return err
	})
	w.exceed()
}

func pauses(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	w.change(raise)
	return w.run()
}

// evicts evicts, and asks for the eviction of a pod that is another one by now.
func evicts(w *world) error {
	if err := w.run(); err != nil {
		return err
	}
	pod := kubetest.Create(w.t, w.cluster, kubetest.Pod(w.home, "another"))
	return kube.NewCluster(w.client).Evict(w.t.Context(), reconcile.PodRef{Namespace: pod.Namespace, Name: pod.Name, UID: "0f7d3f5c-77c9-4c4f-9d57-3a1b2c4d5e6f"})
}

// prepareEnforced has a budget be frozen, and its workloads be paused.
func prepareEnforced(w *world) {
	w.t.Helper()
	prepareWorkloads(w)
	ctx := w.t.Context()
	report, err := w.admin.Run(ctx, reconcile.RunOptions{})
	if failed, _ := report.Failures(); err != nil || failed > 0 {
		w.t.Fatalf("%+v %v", report.Budgets, err)
	}
	d, err := w.admin.FindBudget(ctx, "team-a")
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := w.admin.Cluster(ctx)
	if err == nil {
		err = c.Freeze(ctx, reconcile.Freeze{Budget: d.Name, BudgetUID: d.UID, Selector: d.Selector})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// destroys does what terraform does in a budget's life.
func destroys(w *world) error {
	ctx := w.t.Context()
	d, err := w.account.FindBudget(ctx, "team-a")
	if err != nil {
		return err
	}
	d.Thresholds = []int{100}
	state, err := w.account.UpdateBudget(ctx, d)
	if err != nil {
		return err
	}
	notices, err := w.account.DeleteBudget(ctx, state.Declaration)
	if len(notices) > 0 {
		err = errors.Join(err, errors.New(strings.Join(notices, "; ")))
	}
	return err
}
