package endtoend

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// remembering is a budget that evicts one pod a run, and pools on a local CVM, in one
// store in the cluster. Its clock can be put forward; the API server's can't.
type remembering struct {
	*rig
	sim       *cvmsimtest.Sim
	truth     *truth
	place     string // the store's namespace
	passed    time.Duration
	reclaimed []string
}

func offerings() []spotpool.Offering {
	return []spotpool.Offering{
		{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4"},
		{AvailabilityZone: "ap-singapore-3", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-e5f6a7b8"},
	}
}

func newRemembering(t *testing.T, pods int) *remembering {
	t.Helper()
	server := kubetest.Start(t)
	installFreezes(t, server)
	s := &remembering{rig: &rig{t: t, server: server, namespace: server.Namespace(t)}, sim: cvmsimtest.Start(t), place: server.Namespace(t)}
	s.truth = watchPods(t, server, s.namespace)
	node := kubetest.Create(t, server, kubetest.Node(s.namespace, pods))
	for n := range pods {
		kubetest.Create(t, server, kubetest.Pod(s.namespace, fmt.Sprintf("runs-%02d", n), team, kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	}
	s.waitForPods(pods)
	declared, err := s.process(nil).Budgets().Create(t.Context(), budget.Declaration{
		Name: "team-a", GPUHours: "0.001", Window: "24h", Thresholds: []int{100},
		Selector: budget.Selector{Namespaces: []string{s.namespace}, MatchLabels: map[string]string{"team": "a"}},
		Enforce:  budget.Enforcement{Action: budget.Evict, GracePeriod: "0s", MaxEvictionsPerRun: 1},
	}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	s.budget = declared.Declaration
	t.Cleanup(func() { _, _ = s.process(nil).Budgets().Delete(context.Background(), s.budget) })
	for _, zone := range offerings() {
		if err := s.sim.Server.SetStock(cvmsim.StockRequest{
			AvailabilityZone: zone.AvailabilityZone, InstanceType: zone.InstanceType, Stock: new(int64(100)), VCPUQuota: new(int64(1000)),
		}); err != nil {
			t.Fatal(err)
		}
	}
	for name, minimum := range map[string]int{"train": 3, "infer": 1} {
		if _, err := s.process(nil).SpotPools().Create(t.Context(), spotpool.Declaration{
			Name: name, Region: "ap-singapore", Minimum: minimum, Maximum: minimum + 1, Offerings: offerings(), Cooldown: spotpool.Duration(time.Second),
			Configuration: spotpool.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4"},
		}.WithDefaults(), 20*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *remembering) now() time.Time { return time.Now().Add(s.passed) }

func (s *remembering) store() store.Store {
	s.t.Helper()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: s.server.Kubeconfig()}, "gpupool/test")
	if err != nil {
		s.t.Fatal(err)
	}
	place, err := kubernetes.Open(context.Background(), client, s.place, kubernetes.Options{Create: true, Command: "gpupool test"})
	if err != nil {
		s.t.Fatal(err)
	}
	return place
}

// process is a new process; nil is one that meets no fault.
func (s *remembering) process(m *faults.Process) reconcile.World {
	s.t.Helper()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: s.server.Kubeconfig()}, "gpupool/test")
	if err != nil {
		s.t.Fatal(err)
	}
	cloud, err := tencent.New(context.Background(), tencent.Config{
		Region: "ap-singapore", Endpoint: s.sim.URL, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	cluster := kubecluster.New(client)
	p := reconcile.World{
		Store: s.store(), Cloud: cloud, Actor: "test", LockTimeout: 5 * time.Second, PollInterval: 5 * time.Millisecond, FreezeLag: time.Millisecond,
		Cluster: func(context.Context) (reconcile.Cluster, error) { return cluster, nil }, Clock: s.now,
	}
	if m != nil {
		p = reconciletest.Possess(p, m)
		p.Cluster = func(context.Context) (reconcile.Cluster, error) { return killable{cluster, m.Hook}, nil }
	}
	return p
}

// pass advances the time, here and in the local CVM.
func (s *remembering) pass(d time.Duration) {
	s.t.Helper()
	if _, err := s.sim.Server.StepClock(d); err != nil {
		s.t.Fatal(err)
	}
	s.passed += d
}

// reclaim interrupts instances of a pool, the oldest ones.
func (s *remembering) reclaim(pool string, count int) {
	s.t.Helper()
	ids, err := s.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: pool, Count: count})
	if err != nil || len(ids) != count {
		s.t.Fatalf("of %s %v are reclaimed: %v", pool, ids, err)
	}
	s.reclaimed = append(s.reclaimed, ids...)
	s.pass(2 * time.Minute)
}

// killable is a real cluster as a process changes it, for budgets that evict.
type killable struct {
	reconcile.Cluster
	hook faults.Hook
}

func (c killable) Alert(ctx context.Context, a budget.Event) error {
	return c.hook(ctx, faults.Call{Name: "Alert"}, func() error { return c.Cluster.Alert(ctx, a) })
}

func (c killable) Freeze(ctx context.Context, f budget.FreezeRule) error {
	return c.hook(ctx, faults.Call{Name: "Freeze"}, func() error { return c.Cluster.Freeze(ctx, f) })
}

func (c killable) Evict(ctx context.Context, e budget.Eviction) error {
	return c.hook(ctx, faults.Call{Name: "Evict"}, func() error { return c.Cluster.Evict(ctx, e) })
}

func (s *remembering) run() reconcile.Report {
	s.t.Helper()
	report, err := s.process(nil).Runner().Run(s.t.Context(), reconcile.RunOptions{Wait: true, WaitTimeout: 20 * time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	if failed := outcome.Count(report.Declarations(), outcome.Failed); failed > 0 {
		s.t.Fatalf("%d failed: %+v", failed, report)
	}
	return report
}

// killed runs, and is killed right before or after its first effect of a name.
func (s *remembering) killed(effect string, after bool) {
	s.t.Helper()
	m := faults.Killed(effect, after)
	report, _ := s.process(m).Runner().Run(s.t.Context(), reconcile.RunOptions{})
	if !m.Dead() {
		s.t.Fatalf("the run never came to %q, but to %v: %+v, %+v", effect, m.Trace(), report.SpotPools, report.Decisions)
	}
}

// doubled has two runs at once, the second of which waits for the first, or doesn't.
func (s *remembering) doubled(wait time.Duration) {
	s.t.Helper()
	processes := []reconcile.World{s.process(nil), s.process(nil)}
	var both sync.WaitGroup
	for _, e := range processes {
		both.Go(func() {
			_, err := e.Runner().Run(s.t.Context(), reconcile.RunOptions{RunLockTimeout: wait})
			var locked *reconcile.RunLockedError
			if err != nil && !errors.As(err, &locked) {
				s.t.Error(err)
			}
		})
	}
	both.Wait()
}

// drop deletes a pod that is left, as a user does.
func (s *remembering) drop() {
	s.t.Helper()
	left, err := s.pods(s.t.Context())
	if err != nil || len(left) == 0 {
		s.t.Fatalf("%d pods are left: %v", len(left), err)
	}
	if err := s.server.Client().CoreV1().Pods(s.namespace).Delete(s.t.Context(), left[len(left)-1].Name, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// evicted returns the pods that the API server evicted, and how many others are gone.
func (w *truth) evicted() (uids []string, others int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for uid, h := range w.pods {
		byAPI := slices.ContainsFunc(h.last.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.DisruptionTarget && c.Reason == "EvictionByEvictionAPI"
		})
		if byAPI {
			uids = append(uids, string(uid))
		} else {
			others++
		}
	}
	slices.Sort(uids)
	return uids, others
}

// had returns the instances of effective calls of an action.
func (s *remembering) had(action string) []string {
	ids := map[string]bool{}
	for _, c := range s.sim.Server.Calls() {
		if c.Action == action && c.TookEffect {
			for _, id := range c.InstanceIDs {
				ids[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// told returns the events of each kind in the history, in order, with duplicates.
func (s *remembering) told() map[history.Kind][]string {
	s.t.Helper()
	answer, err := (&eventlog.Log{Store: s.store(), Now: s.now}).Ask(s.t.Context(), history.Query{})
	if err != nil || len(answer.Lost) > 0 {
		s.t.Fatalf("the history: %v, lost %v", err, answer.Lost)
	}
	told := map[history.Kind][]string{}
	for _, e := range answer.Events {
		of := e.InstanceIDs
		for _, pod := range e.Pods {
			of = append(of, pod.UID)
		}
		if len(of) == 0 {
			of = []string{e.Object}
		}
		told[e.Kind] = append(told[e.Kind], of...)
		slices.Sort(told[e.Kind])
	}
	return told
}

// TestHistoryMatchesEvents interrupts instances, evicts pods by a budget, and deletes some
// by users. Meanwhile, runs are killed, doubled and missed for hours. In the end the history
// has each launch, end, interruption and eviction once. It agrees with the records of the local
// CVM and of the API server.
func TestHistoryMatchesEvents(t *testing.T) {
	t.Parallel()
	kills := []struct {
		effect string
		after  bool
	}{
		{"Evict", true}, {"Evict", false}, {"Launch", true}, {"Launch", false}, {"Write journals", true}, {"Write journals", false},
		{"Write statuses", true}, {"Write history", true}, {"Write history", false}, {"Write ledger", true},
	}
	s := newRemembering(t, 24)
	kubetest.WaitFor(t, "the budget to be used up", func(context.Context) error {
		report, err := s.process(nil).Runner().Run(t.Context(), reconcile.RunOptions{DryRun: true})
		evicts := func(d outcome.Result) bool { return d.Kind() == string(budget.KindEvict) }
		if err == nil && !slices.ContainsFunc(report.Decisions, evicts) {
			err = fmt.Errorf("it decided %+v", report.Decisions)
		}
		return err
	})
	s.killed("Freeze", true)
	for n, kill := range kills {
		s.reclaim("train", 1)
		s.killed(kill.effect, kill.after)
		if kill.effect == "Launch" || n%2 == 1 { // while some are left to be reclaimed
			s.run()
		}
	}
	s.run()
	for _, wait := range []time.Duration{0, 5 * time.Second} {
		s.reclaim("train", 1)
		s.doubled(wait)
	}
	s.run()

	s.pass(5 * time.Hour) // in which no run takes place
	s.reclaim("train", 2)
	s.reclaim("infer", 1)
	s.drop()
	s.drop()
	s.run()
	kubetest.WaitFor(t, "all pods to be gone", func(ctx context.Context) error {
		s.run()
		if pods, err := s.server.Client().CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{}); err != nil || len(pods.Items) > 0 {
			return fmt.Errorf("%d are left (%w)", len(pods.Items), err)
		}
		return nil
	})
	s.end()

	told := s.told()
	evicted, others := s.truth.evicted()
	if others != 2 {
		t.Errorf("the API server says that %d pods went otherwise than by eviction", others)
	}
	slices.Sort(s.reclaimed)
	for kind, want := range map[history.Kind][]string{
		history.Launch: s.had("RunInstances"), history.Begin: s.had("RunInstances"), history.End: s.had("TerminateInstances"),
		history.Lost: s.reclaimed, history.Evict: evicted, history.Freeze: {"budget/team-a"}, history.Exceeded: {"budget/team-a"},
		history.Create:  {"budget/team-a", "spot_pool/ap-singapore/infer", "spot_pool/ap-singapore/train"},
		history.Destroy: {"spot_pool/ap-singapore/infer"}, history.Update: {"spot_pool/ap-singapore/train"},
	} {
		if len(want) == 0 || !slices.Equal(told[kind], want) {
			t.Errorf("the events of %s are %v, want %v", kind, told[kind], want)
		}
	}
}

// end makes one pool smaller, and destroys the other.
func (s *remembering) end() {
	s.t.Helper()
	d, _, err := s.process(nil).SpotPools().Recorded(s.t.Context(), "ap-singapore", "train")
	if err != nil {
		s.t.Fatal(err)
	}
	smaller := d.Declaration
	smaller.Minimum, smaller.Maximum = 1, 1
	if _, err := s.process(nil).SpotPools().Update(s.t.Context(), smaller, 20*time.Second); err != nil {
		s.t.Fatal(err)
	}
	if d, _, err = s.process(nil).SpotPools().Recorded(s.t.Context(), "ap-singapore", "infer"); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.process(nil).SpotPools().Delete(s.t.Context(), d.Declaration, 20*time.Second); err != nil {
		s.t.Fatal(err)
	}
	for range 2 {
		s.pass(2 * time.Minute)
		s.run()
	}
}
