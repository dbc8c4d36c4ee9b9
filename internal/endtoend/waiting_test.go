package endtoend

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// TestABacklogDoesNotStartInWhatIsFreed has a node full, with as many pods again
// waiting for it since before the crossing: none of them starts as the first go.
func TestABacklogDoesNotStartInWhatIsFreed(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Evict))
	node := kubetest.Create(t, r.server, kubetest.Node("backlog", 8))
	var running, waiting []*corev1.Pod
	for n := range 2 {
		running = append(running, r.start(fmt.Sprint("runs-", n), kubetest.GPUs(4), kubetest.OnNode(node.Name)))
	}
	for n := range 3 {
		waiting = append(waiting, kubetest.Create(t, r.server,
			kubetest.Pod(r.namespace, fmt.Sprint("waits-", n), team, kubetest.GPUs(4), kubetest.OnNode(node.Name))))
	}
	job := kubetest.Create(t, r.server, kubetest.Job(r.namespace, "strict", 1, team, kubetest.GPUs(4), kubetest.OnNode(node.Name)))
	report := r.runUntil("evictions", has("done evict runs-1"))
	got := decided(report)
	if want := []string{"done evict waits-0", "done evict waits-1", "done evict waits-2"}; len(got) < 5 ||
		fmt.Sprint(got[len(got)-5:len(got)-2]) != fmt.Sprint(want) {
		t.Errorf("decisions %v", got)
	}
	if warnings := strings.Join(report.Budgets[0].Warnings.Texts(), "\n"); !strings.Contains(warnings, "4 pods wait for 16 GPUs") ||
		!strings.Contains(warnings, "(of the Job "+job.Name+")") {
		t.Errorf("warnings %v", warnings)
	}
	for _, pod := range append(waiting, running...) {
		r.server.WaitGone(t, pod)
	}
}

// TestAWaitingJobIsPausedBeforeItStarts reports a Job whose pod never ran.
func TestAWaitingJobIsPausedBeforeItStarts(t *testing.T) {
	t.Parallel()
	r := newRig(t, enforcing(budget.Pause))
	r.ineffective = true
	r.start("runs", kubetest.GPUs(4))
	kubetest.Create(t, r.server, kubetest.Job(r.namespace, "waits", 1, team, kubetest.GPUs(1), kubetest.OnNode("no-such-node")))
	told := r.runUntil("a pause", has("done suspend Job"))
	if !strings.Contains(strings.Join(told.Budgets[0].Warnings.Texts(), "\n"), "1 pod waits for 1 GPU:") {
		t.Errorf("warnings %v", told.Budgets[0].Warnings)
	}
	r.waitForPods(1)
	if again := r.run(reconcile.RunOptions{}); len(again.Decisions) > 0 {
		t.Errorf("the next run decided %v", decided(again))
	}
}
