package endtoend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// overAll selects only by a label, in all namespaces.
func overAll(hours, key string) func(*budget.Declaration) {
	return func(d *budget.Declaration) {
		d.GPUHours, d.Selector = hours, budget.Selector{MatchLabels: map[string]string{key: "yes"}}
		d.Enforce.Action = budget.Evict
	}
}

func labeled(key string) kubetest.PodOption { return kubetest.Labels(map[string]string{key: "yes"}) }

// spared fails where a report evicts, freezes or pauses.
func spared(t *testing.T, report reconcile.Report) {
	t.Helper()
	for _, d := range decided(report) {
		if !strings.Contains(d, " alert") {
			t.Errorf("it is decided: %v", decided(report))
			return
		}
	}
}

// TestForgedHoursEvictNoPod: a user who may create pods anywhere cannot cause evictions of
// other pods by forged fields.
func TestForgedHoursEvictNoPod(t *testing.T) {
	t.Parallel()
	const key = "forged-hours"
	r := newRig(t, overAll("1", key))
	innocent := r.start("innocent", labeled(key))
	elsewhere := r.server.Namespace(t)
	bare := kubetest.Create(t, r.server, kubetest.Node("bare-"+elsewhere, 0))
	kubetest.Create(t, r.server, kubetest.Pod(elsewhere, "ghost", labeled(key), kubetest.GPUs(9999), kubetest.BoundTo("no-such-node")))
	fraction := kubetest.Create(t, r.server, kubetest.Pod(elsewhere, "fraction", labeled(key), kubetest.BoundTo(bare.Name),
		kubetest.Annotation("gpu-fraction", "1"), kubetest.Annotation("gpu-fraction-num-devices", "999"),
		kubetest.Labels(map[string]string{"runai-gpu-group": "mine"})))
	none := kubetest.Create(t, r.server, kubetest.Pod(elsewhere, "none", labeled(key), kubetest.GPUs(9999), kubetest.BoundTo(bare.Name)))
	r.server.WaitRunning(t, fraction)
	r.server.WaitRunning(t, none)
	var last reconcile.Report
	var told []string // a doubt is reported when its changed pod is observed
	for range 3 {
		last = r.run(reconcile.RunOptions{})
		told = slices.Concat(told, last.Warnings.Texts(), last.Budgets[0].Warnings.Texts())
		spared(t, last)
		time.Sleep(2 * time.Second) // 9,999 GPUs use an hour up in less
	}
	used := last.Budgets[0]
	if most := time.Since(innocent.CreationTimestamp.Time).Milliseconds(); used.ConsumedMilliGPUSeconds <= 0 || used.ConsumedMilliGPUSeconds > most ||
		used.TrackedPods != 1 {
		t.Errorf("%d milli-GPU-seconds by %d pods, and one GPU was held for less than %d", used.ConsumedMilliGPUSeconds, used.TrackedPods, most)
	}
	if text := strings.Join(told, "\n"); !strings.Contains(text, elsewhere+"/fraction") || !strings.Contains(text, elsewhere+"/none") {
		t.Errorf("nothing says what does not count: %q", told)
	}
	r.stillThere(innocent)
}

// TestCopiesOfALabelHoldOneGPU: fractions of a reserved GPU count as requested. Once copies of
// their label ask for more, all of them count as that GPU.
func TestCopiesOfALabelHoldOneGPU(t *testing.T) {
	t.Parallel()
	const key = "forged-copies"
	r := newRig(t, overAll("100", key))
	elsewhere := r.server.Namespace(t)
	node := kubetest.Create(t, r.server, kubetest.Node("forged-copies", 2))
	from := r.server.Reserve(t, node.Name, r.namespace).CreationTimestamp.Time
	part := func(namespace, name, fraction string) *corev1.Pod {
		return kubetest.Create(t, r.server, kubetest.Pod(namespace, name, labeled(key), kubetest.Group(r.namespace),
			kubetest.BoundTo(node.Name), kubetest.Annotation("gpu-fraction", fraction)))
	}
	burns := func() (int64, int) {
		t.Helper()
		r.run(reconcile.RunOptions{})
		live, err := r.process().Budgets().Ask(t.Context(), budgets.Question{Budget: r.budget.Name})
		if err != nil {
			t.Fatal(err)
		}
		if most := time.Since(from).Milliseconds(); live.Usage.Consumed > most {
			t.Errorf("%d milli-GPU-seconds, and one GPU was held for less than %d", live.Usage.Consumed, most)
		}
		return live.Usage.BurnRate, live.Usage.ActivePods
	}
	r.server.WaitRunning(t, part(r.namespace, "half", "0.5"))
	r.server.WaitRunning(t, part(r.namespace, "quarter", "0.25"))
	if rate, pods := burns(); rate != 750 || pods != 2 {
		t.Errorf("%d pods use %d thousandths of a GPU", pods, rate)
	}
	var copies []*corev1.Pod
	for n := range 50 {
		copies = append(copies, part(elsewhere, fmt.Sprint("copy-", n), "1"))
	}
	for _, pod := range copies {
		r.server.WaitRunning(t, pod)
	}
	time.Sleep(2 * time.Second)
	if rate, pods := burns(); rate != 1000 || pods != 52 {
		t.Errorf("with copies %d pods use %d thousandths of a GPU", pods, rate)
	}
}

// TestANodeThatIsGoneIsAnEstimate if no run observed its end, and not otherwise.
func TestANodeThatIsGoneIsAnEstimate(t *testing.T) {
	t.Parallel()
	const key = "node-gone"
	seen := newRig(t, overAll("0.001", key), enforcing(budget.AlertOnly))
	late := newRig(t, overAll("0.001", key))
	usage := func(r *rig) budgets.LiveUsage {
		t.Helper()
		live, err := r.process().Budgets().Ask(t.Context(), budgets.Question{Budget: r.budget.Name})
		if err != nil {
			t.Fatal(err)
		}
		return live
	}
	node := kubetest.Create(t, seen.server, kubetest.Node("forged-gone", 8))
	seen.start("train", labeled(key), kubetest.GPUs(8), kubetest.BoundTo(node.Name), kubetest.StopsAfter(time.Hour))
	seen.run(reconcile.RunOptions{})
	if err := seen.server.Client().CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // more than the limit, by eight GPUs
	if u := usage(seen).Usage; u.Unconfirmed != 0 || !u.Exceeded() {
		t.Errorf("a run saw its node: %+v", u)
	}
	report := late.run(reconcile.RunOptions{})
	spared(t, report)
	live := usage(late)
	if u := live.Usage; u.Unconfirmed <= u.Limit || u.Consumed != 0 || u.Estimated != 0 || u.Exceeded() {
		t.Errorf("its node was not observed: %+v", u)
	}
	if text := strings.Join(report.Budgets[0].Warnings.Texts(), "\n"); !strings.Contains(text, "nodes that were never observed") {
		t.Errorf("it is not told: %q", text)
	}
}

// TestLabelsThatComeLaterWeighEarlierPods: the discovery of GPUs labels a node after
// its first pods, and no run in between freezes what was guessed.
func TestLabelsThatComeLaterWeighEarlierPods(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	node := kubetest.Create(t, r.server, kubetest.Node("forged-labels", 4, func(n *corev1.Node) {
		for label := range n.Labels {
			if strings.HasPrefix(label, "nvidia.com/") {
				delete(n.Labels, label)
			}
		}
	}))
	r.start("early", kubetest.BoundTo(node.Name))
	gpus := func() []string {
		t.Helper()
		r.run(reconcile.RunOptions{})
		live, err := r.process().Budgets().Ask(t.Context(), budgets.Question{Budget: r.budget.Name})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, pod := range live.Pods {
			list = append(list, pod.Record.Name+" "+pod.GPUs.RatString())
		}
		return list
	}
	if got := gpus(); !slices.Equal(got, []string{"early 1"}) {
		t.Fatalf("before: %v", got)
	}
	time.Sleep(1100 * time.Millisecond) // into another second, which distinguishes observations
	patch := []byte(
		`{"metadata":{"labels":{"nvidia.com/gpu.replicas":"4","nvidia.com/gpu.sharing-strategy":"time-slicing","nvidia.com/gpu.product":"Tesla-T4-SHARED"}}}`,
	)
	if _, err := r.server.Client().CoreV1().Nodes().Patch(t.Context(), node.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r.start("later", kubetest.BoundTo(node.Name))
	if got := gpus(); !slices.Equal(got, []string{"early 1/4", "later 1/4"}) {
		t.Errorf("after: %v", got)
	}
}

// TestANodeBetweenTwoRunsIsKnown: it came and went, and its pod with it.
func TestANodeBetweenTwoRunsIsKnown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(reconcile.RunOptions{})
	node := kubetest.Create(t, r.server, kubetest.Node("forged-brief", 8, func(n *corev1.Node) {
		n.Labels["nvidia.com/gpu.replicas"], n.Labels["nvidia.com/gpu.sharing-strategy"] = "4", "time-slicing"
	}))
	pod := r.start("brief", kubetest.BoundTo(node.Name), kubetest.GPUs(4))
	if err := r.server.Client().CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.server.WaitGone(t, pod)
	if err := r.server.Client().CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	kubetest.WaitFor(t, "the node to be gone", func(ctx context.Context) error {
		if _, err := r.server.Client().CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{}); err == nil {
			return fmt.Errorf("it is there")
		}
		return nil
	})
	r.run(reconcile.RunOptions{})
	live, err := r.process().Budgets().Ask(t.Context(), budgets.Question{Budget: r.budget.Name})
	if err != nil || len(live.Pods) != 1 {
		t.Fatalf("pods %v (%v)", live.Pods, err)
	}
	if used := live.Pods[0]; used.GPUs.RatString() != "1" || used.Record.Allocation.Shown == 0 || used.Estimated != 0 {
		t.Errorf("it held %s GPUs, shown by %d, %d estimated", used.GPUs.RatString(), used.Record.Allocation.Shown, used.Estimated)
	}
}
