package spotpools_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// away has every call of the cluster fail from now on.
func (w *world) away() {
	for _, call := range []string{"UID", "Nodes"} {
		w.Cluster.Failing[call] = errors.New("connection refused")
	}
}

func (w *world) mustRun(o reconcile.RunOptions) reconcile.Report {
	w.t.Helper()
	report, err := w.Runner(nil).Run(context.Background(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// TestLaunchesGoOnWithoutTheCluster: an unreachable cluster does not block launches, and
// nothing is drained, replaced or terminated.
func TestLaunchesGoOnWithoutTheCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(3, 3)
	w.Reclaim(1)
	w.away()
	d.Minimum, d.Maximum = 1, 2
	if _, err := w.Pools(nil).Update(context.Background(), d, 0); err != nil {
		t.Fatal(err)
	}
	d.Minimum, d.Maximum, d.Generation = 4, 4, d.Generation+1
	state, err := w.Pools(nil).Update(context.Background(), d, 0)
	if err != nil || !strings.Contains(strings.Join(state.AllWarnings().Texts(), "\n"), "connection refused") {
		t.Errorf("the update says %v, and warns of %q", err, state.Warnings)
	}
	report := w.mustRun(reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	if p := report.SpotPools[0]; p.Outcome != outcome.Failed || p.Error == nil || !strings.Contains(p.Error.Message, "connection refused") || p.Capacity != 4 {
		t.Errorf("the run reports %+v", p)
	}
	w.Verify(4)
	for _, c := range w.Sim.Server.Calls() {
		if c.Action == "TerminateInstances" {
			t.Errorf("%v ended unseen", c.InstanceIDs)
		}
	}
}

// TestDestroyNeedsTheClusterOrNoNodes: while its cluster is unreachable, a pool with nodes is
// not destroyed, and nothing begins; without nodes it is.
func TestDestroyNeedsTheClusterOrNoNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 2)
	w.away()
	_, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait)
	if err == nil || !strings.Contains(err.Error(), "remove nodes from the pool's configuration, apply, and destroy it then") {
		t.Fatalf("the destroy says %v", err)
	}
	w.Verify(2)
	if docs, err := w.Store().List(context.Background(), store.Tombstones); err != nil || len(docs) > 0 {
		t.Errorf("there are %d tombstones (%v)", len(docs), err)
	}
	d.Nodes = nil
	state, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
	if err != nil || state.Declaration.ClusterUID != "" {
		t.Fatalf("the update without nodes says %v, and the cluster is %q", err, state.Declaration.ClusterUID)
	}
	if _, err := w.Pools(nil).Delete(context.Background(), state.Declaration, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	w.gone(d)
}

// TestADestroyThatLostItsClusterCanGoOn: the cluster goes for good while a pool is
// destroyed; its nodes are given up, and the destroy comes to its end.
func TestADestroyThatLostItsClusterCanGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 2)
	for _, i := range w.Own() {
		w.Cluster.Blocked["work-"+i.InstanceID+"-0"] = true
	}
	if err := reconciletest.Until("pod", w.destroy(d)); err == nil || !strings.Contains(err.Error(), "pod") {
		t.Fatalf("the destroy says %v", err)
	}
	w.away()
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err == nil || !strings.Contains(err.Error(), "remove nodes") {
		t.Fatalf("the destroy without the cluster says %v", err)
	}
	w.Verify(2)
	d.Nodes = nil
	state, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
	if err != nil || !strings.Contains(strings.Join(state.AllWarnings().Texts(), "\n"), "was begun and not finished") {
		t.Fatalf("the update without nodes says %v, and warns of %q", err, state.Warnings)
	}
	w.Verify(2)
	if _, err := w.Pools(nil).Delete(context.Background(), state.Declaration, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	w.gone(d)
}

// TestAnotherClusterIsRefused: a pool's nodes are of one cluster, and nothing at all is
// done to it through another.
func TestAnotherClusterIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 2)
	w.Reclaim(1)
	own, calls := w.Cluster.ClusterUID, len(w.Sim.Server.Calls())
	w.Cluster.ClusterUID = "99999999-2222-3333-4444-555555555555"
	var other *record.ClusterError
	report := w.mustRun(reconcile.RunOptions{})
	if p := report.SpotPools[0]; p.Outcome != outcome.Failed || !strings.Contains(p.Error.Message, "Nothing was changed") {
		t.Errorf("the run reports %+v", p)
	}
	if _, err := w.Pools(nil).Update(context.Background(), d, 0); !errors.As(err, &other) {
		t.Errorf("the update says %v", err)
	}
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); !errors.As(err, &other) {
		t.Errorf("the destroy says %v", err)
	}
	for _, c := range w.Sim.Server.Calls()[calls:] {
		if !strings.HasPrefix(c.Action, "Describe") && c.Action != "GetCallerIdentity" {
			t.Errorf("%s was called", c.Action)
		}
	}
	w.Cluster.ClusterUID = own
	w.CleanRuns()
	w.Verify(2)
}

// TestGivenUpNodesAreUsableAgain: if nodes is removed from a pool during a drain, the pool's
// cordons are undone, and those of others stay.
func TestGivenUpNodesAreUsableAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 3)
	for n, i := range w.Own() {
		w.Cluster.Blocked["work-"+i.InstanceID+"-0"] = true
		if n == 0 {
			w.Cluster.Change("node-"+i.InstanceID, func(m *reconciletest.Machine) { m.Cordoned = true })
		}
	}
	d.Minimum, d.Maximum = 0, 0
	state, err := w.Pools(nil).Update(context.Background(), d, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	d = state.Declaration
	d.Minimum, d.Maximum, d.Nodes = 2, 3, nil
	if state, err = w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	cordoned := 0
	for _, i := range w.Own() {
		m := w.Cluster.Machine("node-" + i.InstanceID)
		if m.CordonedBy != "" {
			t.Errorf("%s is cordoned by the pool still", m.Name)
		}
		if m.Cordoned {
			cordoned++
		}
	}
	if cordoned != 1 {
		t.Errorf("%d nodes are cordoned, and somebody else cordoned one", cordoned)
	}
	w.Verify(2)
	w.mustRun(reconcile.RunOptions{}) // observes that no mark is left
	calls := w.Cluster.Calls()["Nodes"]
	w.CleanRuns()
	if again := w.Cluster.Calls()["Nodes"]; again != calls {
		t.Errorf("a pool without nodes looks at the cluster %d times", again-calls)
	}
	_ = state
}

// TestPodsWithoutController: a drain waits for them until the drain times out, or evicted where
// that is declared.
func TestPodsWithoutController(t *testing.T) {
	t.Parallel()
	for _, unmanaged := range []node.Unmanaged{node.Wait, node.Evict} {
		t.Run(string(unmanaged), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Joining(0)
			d := nodePool(1, 2)
			d.Nodes.Drain.UnmanagedPods = unmanaged
			d = w.MustCreateAs(d)
			w.CleanRuns()
			id := w.Own()[0].InstanceID
			w.Cluster.Change("node-"+id, func(m *reconciletest.Machine) {
				m.Pods = []node.Pod{
					{Namespace: "ml", Name: "alone", UID: "u1"}, {Namespace: "kube-system", Name: "agent", UID: "u2", Controller: "DaemonSet"},
					{Namespace: "ml", Name: "over", UID: "u3", Ended: true}, {Namespace: "kube-system", Name: "static", UID: "u4", Mirror: true},
				}
			})
			d.Minimum, d.Maximum = 0, 0
			w.Cluster.Impatient = true
			state, err := w.Pools(nil).Update(context.Background(), d, 300*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if there := len(w.Own()) > 0; there != (unmanaged == node.Wait) {
				t.Errorf("%t that the machine is there: %v", there, state.Warnings)
			}
			w.Step(11 * time.Minute)
			w.CleanRuns()
			w.Verify(0)
			want := map[node.Unmanaged]string{node.Wait: "", node.Evict: "alone"}[unmanaged]
			if got := strings.Join(w.Cluster.Evicted, " "); got != want {
				t.Errorf("evicted were %q, want %q", got, want)
			}
		})
	}
}

// TestADryRunDrainsNothing shows what a run would do, and does none of it.
func TestADryRunDrainsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 3)
	for _, i := range w.Own() {
		w.Cluster.Blocked["work-"+i.InstanceID+"-0"] = true
	}
	d.Minimum, d.Maximum = 0, 1
	if _, err := w.Pools(nil).Update(context.Background(), d, 0); err != nil {
		t.Fatal(err)
	}
	acts := len(w.Cluster.Acts)
	report := w.mustRun(reconcile.RunOptions{DryRun: true})
	kinds := ""
	for _, r := range report.Decisions {
		kinds += " " + string(r.Decision.(spotpool.Decision).Kind) + " " + string(r.Outcome)
	}
	if kinds != " drain planned" || len(w.Cluster.Acts) != acts {
		t.Errorf("the dry run plans %q, and did %v", kinds, w.Cluster.Acts[acts:])
	}
}

// TestAMachineThatNeverJoins is replaced; where two in a row never did, no more is, until
// one has worked for an hour.
func TestAMachineThatNeverJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Joining(1)
	w.Cluster.JoinNone(true)
	w.MustCreateAs(nodePool(1, 1))
	for range 4 {
		w.mustRun(reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
		for range 3 { // a pause counts for a few minutes at most
			w.Step(5*time.Minute + 20*time.Second)
			w.mustRun(reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
		}
	}
	report := w.mustRun(reconcile.RunOptions{})
	if n := w.Launched(); n != 3 || !strings.Contains(strings.Join(report.SpotPools[0].Warnings.Texts(), "\n"), "in a row failed before") {
		t.Errorf("%d were launched in all, and the run warns of %q", n, report.SpotPools[0].Warnings)
	}
	w.Cluster.JoinNone(false)
	for range 100 {
		if m := w.Cluster.Machine("node-" + w.Own()[0].InstanceID); m != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.CleanRuns()
	w.Step(node.ProvenAfter)
	if report = w.CleanRuns(); len(report.SpotPools[0].Warnings) > 0 {
		t.Errorf("once one has worked for an hour, it warns of %q", report.SpotPools[0].Warnings)
	}
	suspensions := map[history.Kind]int{}
	for _, e := range w.told() {
		suspensions[e.Kind]++
	}
	if suspensions[history.Suspend] != 1 || suspensions[history.Unsuspend] != 1 {
		t.Errorf("the history has %v", suspensions)
	}
	w.Verify(1)
}

// TestPoolsShareALookThatFails: a cluster that takes its time to fail is waited for once,
// not by each of many pools.
func TestPoolsShareALookThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mustJoin(1, 2)
	w.away()
	before := w.Cluster.Calls()["UID"]
	report := w.mustRun(reconcile.RunOptions{})
	if p := report.SpotPools[0]; p.Outcome != outcome.Failed || !strings.Contains(p.Error.Message, "connection refused") {
		t.Errorf("the run reports %+v", p)
	}
	if n := w.Cluster.Calls()["UID"] - before; n != 1 {
		t.Errorf("the cluster was asked %d times", n)
	}
}

// TestEndsDoNotWaitForACount: if the pods with GPUs cannot be counted, instances are terminated
// nevertheless, with a warning.
func TestEndsDoNotWaitForACount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(2, 2)
	w.Cluster.Failing["GPUPods"] = errors.New("pods is forbidden")
	d.Minimum, d.Maximum = 1, 1
	state, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
	if err != nil || !strings.Contains(strings.Join(state.AllWarnings().Texts(), "\n"), "pods is forbidden") {
		t.Errorf("the update says %v, and warns of %q", err, state.Warnings)
	}
	w.Verify(1)
}

// TestForbiddenEvictionsEndNothing: pods whose eviction could not be requested have not had
// their time, so their instance is not terminated.
func TestForbiddenEvictionsEndNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(1, 2)
	w.Cluster.Broken = map[string]error{}
	for _, i := range w.Own() {
		w.Cluster.Broken["work-"+i.InstanceID+"-0"] = errors.New("pods/eviction is forbidden")
	}
	d.Minimum, d.Maximum = 0, 0
	if _, err := w.Pools(nil).Update(context.Background(), d, 100*time.Millisecond); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("the update says %v", err)
	}
	for range 3 {
		w.Step(11 * time.Minute)
		w.mustRun(reconcile.RunOptions{})
	}
	w.Verify(1)
	clear(w.Cluster.Broken)
	w.CleanRuns()
	w.Verify(0)
}

// TestLettingGoWaitsForItsNodes: a pool whose machines are let go stays on record until
// the nodes that it cordoned take pods again.
func TestLettingGoWaitsForItsNodes(t *testing.T) {
	t.Parallel()
	for _, fails := range []string{"UncordonNode", "Nodes"} {
		t.Run(fails, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.mustJoin(2, 3)
			for _, i := range w.Own() {
				w.Cluster.Blocked["work-"+i.InstanceID+"-0"] = true
			}
			d.Minimum, d.Maximum, d.OnDestroy = 1, 1, spotpool.DestroyRetain
			state, err := w.Pools(nil).Update(context.Background(), d, 100*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			w.Cluster.Failing[fails] = errors.New("is forbidden")
			for range 2 {
				if err := reconciletest.Until("is forbidden", w.destroy(state.Declaration)); err == nil || !strings.Contains(err.Error(), "is forbidden") {
					t.Errorf("the destroy says %v", err)
				}
			}
			clear(w.Cluster.Failing)
			if _, err := w.Pools(nil).Delete(context.Background(), state.Declaration, reconciletest.LongWait); err != nil {
				t.Fatal(err)
			}
			for name := range w.Cluster.Machines {
				if m := w.Cluster.Machine(name); m.CordonedBy != "" {
					t.Errorf("%s is cordoned still", name)
				}
			}
		})
	}
}

// TestADeadNodeIsNotKept: a pool that keeps nodes whose drain timed out replaces one whose
// kubelet fell silent while its pods end, which nothing would ever confirm.
func TestADeadNodeIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(3, 4)
	d.Nodes.Drain.OnTimeout = node.Keep
	if _, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	dead := w.Own()[0].InstanceID
	w.failNode(dead)
	w.Cluster.Change("node-"+dead, func(m *reconciletest.Machine) {
		for n := range m.Pods {
			m.Pods[n].Ending = true
		}
	})
	for range 40 {
		w.mustRun(reconcile.RunOptions{})
		w.Step(time.Minute)
	}
	if ids := w.ownIDs(); len(ids) != 3 || slices.Contains(ids, dead) {
		t.Errorf("%v run, want 3 without %s", ids, dead)
	}
}

// TestNodesAreCordonedBeforeAnyIsEmptied: no pod moves from a node that is drained to one
// that is drained next.
func TestNodesAreCordonedBeforeAnyIsEmptied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoin(4, 4)
	w.Cluster.Acts = nil
	d.Minimum, d.Maximum = 1, 1
	if _, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	cordoned, evicted := 0, 0
	for _, act := range w.Cluster.Acts {
		switch name, _, _ := strings.Cut(act, " "); name {
		case "CordonNode":
			cordoned++
		case "Evict":
			if evicted++; cordoned < 3 {
				t.Errorf("a pod is evicted after %d of 3 nodes are cordoned: %q", cordoned, w.Cluster.Acts)
			}
		}
	}
	if evicted == 0 {
		t.Errorf("nothing is evicted: %q", w.Cluster.Acts)
	}
	w.Verify(1)
}

// TestANodeOfAnotherPoolKeepsNoInstanceFromBeingJudged: the node of an instance that the
// pool does not list reports the addresses of the pool's instances, too.
func TestANodeOfAnotherPoolKeepsNoInstanceFromBeingJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Joining(0)
	w.Cluster.JoinNone(true)
	d := w.MustCreateAs(nodePool(2, 2))
	var other string
	var addresses []string
	for _, i := range w.Sim.Server.Instances() {
		addresses = append(addresses, i.PrivateIP)
		if i.Pool == "other" {
			other = i.InstanceID
		}
	}
	w.Cluster.Join(other, func(m *reconciletest.Machine) { m.Addresses = addresses })
	w.Step(time.Minute)
	p := w.mustRun(reconcile.RunOptions{}).SpotPools[0]
	if p.Nodes == nil || p.Nodes.Unknown != 0 || p.Nodes.Joining != 2 {
		t.Errorf("the nodes are %+v", p.Nodes)
	}
	if got := strings.Join(p.Warnings.Texts(), "\n"); !strings.Contains(got, "node node-"+other+" is "+other) || strings.Contains(got, "drain") {
		t.Errorf("the warnings are %q", got)
	}
	w.Cluster.Change("node-"+other, func(m *reconciletest.Machine) { m.Addresses = []string{w.addressOf(d)} })
	if p := w.mustRun(reconcile.RunOptions{}).SpotPools[0]; p.Nodes.Unknown != 1 {
		t.Errorf("without its own address, the node leaves no instance in doubt: %+v", p.Nodes)
	}
}

// addressOf is the private address of one of a pool's instances.
func (w *world) addressOf(d spotpool.Declaration) string {
	for _, i := range w.Own() {
		if i.UID == d.UID {
			return i.PrivateIP
		}
	}
	return ""
}
