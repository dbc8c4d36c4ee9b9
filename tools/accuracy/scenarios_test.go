package accuracy

import (
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// scenario is one way in which GPU-hours could be lost or counted twice.
type scenario struct {
	name string
	from budget.CountFrom
	// reported means that ends were not observed, and the error must stay within the bound that
	// the program reports. Otherwise it is within a second per pod.
	reported bool
	quick    bool // played by make test, too
	alone    bool // restarts the API server, so it needs one of its own
	// inCluster keeps the store in the cluster, not in a directory.
	inCluster bool
	// selects is whom the budget covers; nil is all pods of the namespace.
	selects func(namespace string) budget.Selector
	// byNode lets the nodes' labels, not the budget, define the weight of a GPU: a tenth.
	byNode bool
	play   func(p *play)
}

// shared labels a node as GPU feature discovery does where each GPU is shared by ten.
func (p *play) shared(node string) {
	p.Helper()
	patch := []byte(
		`{"metadata":{"labels":{"nvidia.com/gpu.replicas":"10","nvidia.com/gpu.sharing-strategy":"time-slicing","nvidia.com/gpu.product":"Tesla-T4-SHARED"}}}`,
	)
	if _, err := p.cluster.Client().CoreV1().Nodes().Patch(p.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
}

// ofZone selects by what the binding to a node of this zone adds to a pod.
func ofZone(zone string) budget.Selector {
	return budget.Selector{MatchLabels: map[string]string{corev1.LabelTopologyZone: zone}}
}

func ofNamespace(name string) budget.Selector {
	return budget.Selector{NamespaceLabels: map[string]string{corev1.LabelMetadataName: name}}
}

var scenarios = []scenario{
	{name: "50 pods at 10 a second, 30 s each", from: budget.FromRunning, quick: true, play: func(p *play) {
		n := p.pods(50)
		p.start(n, kubetest.RunFor(p.seconds(30)))
		p.reconcile()
		p.untilOver(n)
	}},
	{name: "the same, a run killed in the middle and run again", from: budget.FromRunning, play: func(p *play) {
		n := p.pods(50)
		p.start(n, kubetest.RunFor(p.seconds(30)))
		for _, milliseconds := range []int{20, 60, 150, 400, 1500} {
			p.killed(time.Duration(milliseconds) * time.Millisecond)
		}
		p.reconcile()
		p.untilOver(n)
		for _, milliseconds := range []int{30, 90, 200, 600, 9000} {
			p.killed(time.Duration(milliseconds) * time.Millisecond)
		}
	}},
	{name: "pods deleted while they run", from: budget.FromScheduled, play: func(p *play) {
		n := p.pods(20)
		pods := p.start(n)
		p.reconcile()
		time.Sleep(p.seconds(60))
		p.remove(pods)
		p.untilOver(n)
	}},
	{name: "pods born and deleted between two runs", from: budget.FromScheduled, quick: true, play: func(p *play) {
		n := p.pods(20)
		pods := p.start(n)
		time.Sleep(p.seconds(60))
		p.remove(pods)
		p.untilOver(n)
	}},
	{name: "a budget by zone, a label of the binding", from: budget.FromScheduled, selects: ofZone, play: func(p *play) {
		name := p.namespace
		kubetest.Create(p.T, p.cluster, kubetest.Node(name, 16, func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = name }))
		pods := p.start(10, kubetest.OnNode(name))
		time.Sleep(p.seconds(30))
		p.remove(pods[:5])
		p.untilOver(5)
		p.reconcile()
		time.Sleep(p.seconds(30))
		p.remove(pods[5:])
		p.untilOver(10)
	}},
	{name: "a budget by namespace labels, and the namespace gone", from: budget.FromScheduled, selects: ofNamespace, play: func(p *play) {
		n := p.pods(10)
		pods := p.start(n)
		time.Sleep(p.seconds(60))
		p.remove(pods)
		p.untilOver(n)
		p.cluster.EndNamespace(p.T, p.namespace)
	}},
	{name: "GPUs shared by ten, as their node's labels say after the first run", from: budget.FromScheduled, byNode: true, play: func(p *play) {
		name := p.namespace
		kubetest.Create(p.T, p.cluster, kubetest.Node(name, 16, func(n *corev1.Node) {
			maps.DeleteFunc(n.Labels, func(key, _ string) bool { return strings.HasPrefix(key, "nvidia.com/") })
		}))
		pods := p.start(10, kubetest.OnNode(name))
		p.reconcile()
		time.Sleep(1100 * time.Millisecond) // observations are distinguished by seconds
		p.shared(name)
		p.reconcile()
		time.Sleep(p.seconds(60))
		p.remove(pods)
		p.untilOver(10)
	}},
	{name: "containers restarted three times", from: budget.FromRunning, play: func(p *play) {
		n := p.pods(10)
		pods := p.start(n, kubetest.Restarts(3, p.seconds(12)), kubetest.RestartAfter(2*time.Second))
		for range 4 {
			p.reconcile()
			time.Sleep(p.seconds(12))
		}
		p.remove(pods)
		p.untilOver(n)
	}},
	{name: "nodes removed", from: budget.FromScheduled, play: func(p *play) {
		name := p.namespace
		kubetest.Create(p.T, p.cluster, kubetest.Node(name, 16))
		pods := p.start(10, kubetest.OnNode(name))
		time.Sleep(p.seconds(60))
		p.reconcile()
		if err := p.cluster.Client().CoreV1().Nodes().Delete(p.Context(), name, metav1.DeleteOptions{}); err != nil {
			p.Fatal(err)
		}
		p.untilOver(len(pods))
	}},
	{name: "four of five runs missed", from: budget.FromScheduled, play: func(p *play) {
		n := p.pods(20)
		pods := p.start(n)
		p.reconcile()
		time.Sleep(p.seconds(30))
		p.remove(pods[:n/2])
		time.Sleep(p.seconds(30))
		p.remove(pods[n/2:])
		p.untilOver(n)
	}},
	{name: "two runs at once", from: budget.FromScheduled, play: func(p *play) {
		n := p.pods(20)
		pods := p.start(n)
		p.twice()
		time.Sleep(p.seconds(60))
		p.remove(pods)
		p.untilOver(n)
		p.twice()
	}},
	{name: "the ledger written by another process meanwhile", from: budget.FromScheduled, inCluster: true, play: func(p *play) {
		n := p.pods(20)
		pods := p.start(n)
		done := p.meddle()
		p.reconcile()
		time.Sleep(p.seconds(60))
		p.remove(pods)
		p.untilOver(n)
		p.reconcile()
		done()
	}},
	{name: "the API server forgot, pods vanished", from: budget.FromScheduled, reported: true, alone: true, play: func(p *play) {
		n := p.pods(20)
		pods := p.start(n)
		p.reconcile()
		time.Sleep(p.seconds(60))
		p.remove(pods)
		p.untilOver(n)
		p.cluster.Restart(p.T)
	}},
	{name: "the API server forgot, pods seen on their way out", from: budget.FromScheduled, reported: true, alone: true, play: func(p *play) {
		n := p.pods(20)
		pods := p.start(n, kubetest.StopsAfter(p.seconds(20)))
		p.remove(pods)
		p.reconcile()
		p.untilOver(n)
		time.Sleep(p.seconds(120))
		p.cluster.Restart(p.T)
	}},
	{name: "the API server forgot, pods born and gone", from: budget.FromScheduled, reported: true, alone: true, play: func(p *play) {
		n := p.pods(10)
		pods := p.start(n)
		p.remove(pods)
		p.untilOver(n)
		p.cluster.Restart(p.T)
	}},
}

// meddle annotates the ledger's objects in the cluster over and over: each time
// their resourceVersion changes under a run that has read them. It returns what
// ends it, and fails where nothing was meddled with.
func (p *play) meddle() func() {
	stop, done, times := make(chan struct{}), make(chan struct{}), 0
	objects := p.cluster.Client().CoreV1().ConfigMaps(p.namespace)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
			}
			list, err := objects.List(p.Context(), metav1.ListOptions{LabelSelector: "gpupool/kind=ledger"})
			if err != nil {
				continue
			}
			for i := range list.Items {
				patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/meddled":"%d"}}}`, times)
				if _, err := objects.Patch(p.Context(), list.Items[i].Name, types.MergePatchType, patch, metav1.PatchOptions{}); err == nil {
					times++
				}
			}
		}
	}()
	return func() {
		p.Helper()
		close(stop)
		<-done
		if times == 0 {
			p.Fatal("no object of the ledger was found in the store's namespace")
		}
	}
}
