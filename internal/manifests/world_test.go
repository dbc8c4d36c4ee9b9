package manifests_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

type world struct {
	t       *testing.T
	cluster *kubetest.Cluster
	home    string // the store's namespace
	work    string // the workloads'
	admin   reconcile.World
	client  *kubeclient.Client // the account's
	calls   *callLog           // of the client
	account reconcile.World
	opened  error            // why the account could not open the store
	last    reconcile.Report // of its runs
}

func process(t *testing.T, client *kubeclient.Client, s store.Store) reconcile.World {
	t.Helper()
	cluster := kubecluster.New(client)
	return reconcile.World{
		Cloud:   spotpools.LazyCloud(func(context.Context) (spotpools.Cloud, error) { return nil, errors.New("no cloud here") }),
		Cluster: func(context.Context) (reconcile.Cluster, error) { return cluster, nil },
		Store:   s, Actor: "test", PollInterval: 20 * time.Millisecond,
	}
}

// newWorld creates a world, and in it an account with the rights of a part, less one.
func newWorld(t *testing.T, cluster *kubetest.Cluster, p part, less string) *world {
	t.Helper()
	w := &world{t: t, cluster: cluster, home: cluster.Namespace(t), work: cluster.Namespace(t), calls: &callLog{succeeded: map[string]int{}}}
	adminClient := connect(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()})
	s, err := kubernetes.Open(t.Context(), adminClient, w.home, kubernetes.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	w.admin = process(t, adminClient, s)
	if p.prepare != nil {
		p.prepare(w)
	}
	config := account(t, cluster, w.home, withoutRight(p.grants(t), less))
	config.Logger = slog.New(w.calls)
	w.client = connect(t, config)
	if p.account == manifests.NoticeAccount { // which has no store
		return w
	}
	limited, err := kubernetes.Open(t.Context(), w.client, w.home, kubernetes.Options{Command: "gpupool test"})
	w.account, w.opened = process(t, w.client, limited), err
	return w
}

func (w *world) declare(action budget.Action, hours string, changes ...func(*budget.Declaration)) budget.Declaration {
	w.t.Helper()
	d := budget.Declaration{
		Name: "team-a", GPUHours: hours, Window: "24h", Selector: budget.Selector{Namespaces: []string{w.work}},
		Enforce: budget.Enforcement{Action: action, GracePeriod: "0s"},
	}
	for _, change := range changes {
		change(&d)
	}
	state, err := w.admin.Budgets().Create(w.t.Context(), d.WithDefaults())
	if err != nil {
		w.t.Fatal(err)
	}
	return state.Declaration
}

func (w *world) change(edit func(d *budget.Declaration)) {
	w.t.Helper()
	d, err := w.admin.Budgets().Find(w.t.Context(), "team-a")
	if err == nil {
		edit(&d)
		_, err = w.admin.Budgets().Update(w.t.Context(), d)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func raise(d *budget.Declaration) { d.GPUHours = "100000" }

// exceed waits until what runs has used the budget up.
func (w *world) exceed() {
	w.t.Helper()
	kubetest.WaitFor(w.t, "the budget to be used up", func(ctx context.Context) error {
		report, err := w.admin.Runner().Run(ctx, reconcile.RunOptions{DryRun: true})
		if err == nil && (len(report.Budgets) != 1 || report.Budgets[0].UsageReport == nil || !*report.Budgets[0].Exceeded) {
			err = fmt.Errorf("%+v", report.Budgets)
		}
		return err
	})
}

// run is one run of the account. What it could not do, or warns of, is the error.
func (w *world) run() error {
	w.t.Helper()
	report, err := w.account.Runner().Run(w.t.Context(), reconcile.RunOptions{})
	w.last = report
	errs := []error{err}
	for _, b := range report.Budgets {
		if b.Error != nil {
			errs = append(errs, errors.New(b.Error.String()))
		}
	}
	for _, d := range report.Decisions {
		if d.Error != nil {
			errs = append(errs, errors.New(d.Error.String()))
		}
	}
	for _, text := range report.Warnings {
		// The other parts have stores and pods of their own, in the same cluster.
		foreign := strings.Contains(text.String(), "and the store "+w.account.Store.String()+" does not have that budget") ||
			(strings.HasPrefix(text.String(), "the pod ") || strings.HasPrefix(text.String(), "Pod ")) &&
				!strings.Contains(text.String(), w.work) && !strings.Contains(text.String(), "needs the verb")
		if !foreign {
			errs = append(errs, errors.New(text.String()))
		}
	}
	return errors.Join(errs...)
}
