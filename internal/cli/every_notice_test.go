package cli_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// createWithNodes creates a pool whose instances are nodes of a cluster, and returns its
// uid.
func (w *world) createWithNodes(cluster *kubecluster.Cluster, name string) string {
	w.tb.Helper()
	p := w.process()
	p.Cluster = func(context.Context) (reconcile.Cluster, error) { return cluster, nil }
	d := declaration(name, 1, 2)
	d.Nodes = &spotpool.Nodes{}
	state, err := p.SpotPools().Create(context.Background(), d.WithDefaults(), 20*time.Second)
	if err != nil {
		w.tb.Fatal(err)
	}
	return state.Declaration.UID
}

func adapter(t testing.TB, cluster *kubetest.Cluster) *kubecluster.Cluster {
	t.Helper()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	return kubecluster.New(client)
}

// reports are those that were printed so far.
func (p *started) reports(t *testing.T) (all []reconcile.Report) {
	t.Helper()
	for line := range strings.Lines(p.stdout()) {
		var report reconcile.Report
		if !strings.HasSuffix(line, "\n") {
			break
		}
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, report)
	}
	return all
}

// replaceNoticed gives an instance notice once a process watches its node and an agent the instance. It returns
// the earlier launches, and how long the replacement took.
func (w *world) replaceNoticed(t *testing.T, id string, p, agent *started) (launches int, took time.Duration) {
	t.Helper()
	eventually(t, "the watch", func() bool { return strings.Contains(p.stderr(), `action="watch nodes"`) })
	eventually(t, "the agent", func() bool { return strings.Contains(agent.stderr(), "watching for an interruption notice") })
	launches, given := w.calls("RunInstances"), time.Now()
	if _, err := w.sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{id}, Notice: cvmsim.Duration(node.NoticeAhead)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the launch", func() bool { return w.calls("RunInstances") > launches })
	return launches, time.Since(given)
}

// TestFromNoticeToLaunch: a service that runs seldom launches the replacement at most 15
// seconds after the notice, drains the node, and looks at no other pool.
func TestFromNoticeToLaunch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	server := kubetest.Start(t)
	cluster := adapter(t, server)
	w.createWithNodes(cluster, "train")
	id := w.sim.Server.Instances()[0].InstanceID
	w.create("other", 1, 2)
	n := kubetest.Create(t, server, kubetest.Node("taken-"+id, 8, func(n *corev1.Node) { n.Spec.ProviderID = "qcloud:///900002/" + id }))
	agent := w.start("notice-watch", "--node", n.Name, "--metadata-endpoint", w.sim.URL+"?instance_id="+id, "--kubeconfig", server.Kubeconfig(), "-v")
	p := w.start("reconcile", "--every", "10m", "-o", "json", "-vv", "--kubeconfig", server.Kubeconfig())
	launches, took := w.replaceNoticed(t, id, p, agent)
	if took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	eventually(t, "the run", func() bool { return len(p.reports(t)) >= 2 })
	for _, process := range []*started{p, agent} {
		process.signal(t, syscall.SIGTERM)
		if code := process.exitCode(t); code != 143 {
			t.Errorf("the exit code is %d\n%s", code, process.stderr())
		}
	}
	reports := p.reports(t)
	if len(reports) != 2 || len(reports[0].Names) != 0 || !slices.Equal(reports[1].Names, []string{region + "/train"}) {
		t.Fatalf("the runs are %+v", reports)
	}
	if pools := reports[1].SpotPools; len(pools) != 1 || pools[0].Name != "train" {
		t.Errorf("the second run is of %+v", pools)
	}
	if live, err := server.Client().CoreV1().Nodes().Get(t.Context(), n.Name, metav1.GetOptions{}); err != nil || !live.Spec.Unschedulable {
		t.Errorf("the node is not cordoned: %+v (%v)", live.Spec, err)
	}
	if w.calls("RunInstances") != launches+1 || w.calls("TerminateInstances") != 0 {
		t.Error("another instance was launched, or one was ended")
	}
}

// TestFromNoticeToLaunchByServe: a server launches the replacement at most 5 seconds after the notice;
// with the race detector on a busy machine, after 15.
func TestFromNoticeToLaunchByServe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	cluster := kubetest.Start(t)
	w.create("other", 1, 2) // so that the ID of the next instance is of no other test with a node in this cluster
	w.createWithNodes(adapter(t, cluster), "train")
	id := w.sim.Server.Instances()[1].InstanceID
	n := kubetest.Create(t, cluster, kubetest.Node("served-"+id, 8, func(n *corev1.Node) { n.Spec.ProviderID = "qcloud:///900002/" + id }))
	agent := w.start("notice-watch", "--node", n.Name, "--metadata-endpoint", w.sim.URL+"?instance_id="+id, "--kubeconfig", cluster.Kubeconfig(), "-v",
		"--interval", "1s")
	p := w.start("serve", "--listen", "127.0.0.1:0", "--every", "10m", "-vv", "--kubeconfig", cluster.Kubeconfig())
	_, took := w.replaceNoticed(t, id, p, agent)
	t.Logf("from the notice to RunInstances: %v", took)
	if limit := noticeLimit(); took > limit {
		t.Errorf("it took %v, and %v are allowed", took, limit)
	}
}

// TestEveryWithoutAWatch: one that is forbidden is a warning once, and the runs go on.
// Without a pool that has nodes, nothing is asked of a cluster.
func TestEveryWithoutAWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	server := kubetest.Start(t)
	powerless := server.ServiceAccountKubeconfig(t, server.Namespace(t), "powerless")
	w.create("plain", 1, 2)
	p := w.start("reconcile", "--every", "50ms", "-o", "json", "-vv", "--kubeconfig", powerless)
	eventually(t, "three runs", func() bool { return len(p.reports(t)) >= 3 })
	if strings.Contains(p.stderr(), "cluster call") {
		t.Errorf("a cluster is asked\n%s", p.stderr())
	}
	const trouble = "nodes cannot be watched"
	w.createWithNodes(adapter(t, server), "train")
	eventually(t, "the warning", func() bool { return strings.Contains(p.stderr(), trouble) })
	so := len(p.reports(t))
	eventually(t, "three more runs", func() bool { return len(p.reports(t)) >= so+3 })
	p.signal(t, syscall.SIGTERM)
	p.exitCode(t)
	if n := strings.Count(p.stderr(), trouble); n != 1 || !strings.Contains(p.stderr(), "needs the verb watch on nodes") {
		t.Errorf("it is printed %d times\n%s", n, p.stderr())
	}
}
