package gpu_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// born is when the pods of these tests are created; now is two hours later.
var (
	born = time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	now  = born.Add(2 * time.Hour)
)

// at is some minutes after the pod was created.
func at(minutes float64) metav1.Time {
	return metav1.NewTime(born.Add(time.Duration(minutes * float64(time.Minute))))
}

func table(t testing.TB, weights ...string) *gpu.Table {
	t.Helper()
	rules := gpu.Rules{Weights: map[string]string{}}
	for _, w := range weights {
		name, weight, _ := strings.Cut(w, "=")
		rules.Weights[name] = weight
	}
	made, err := rules.Table()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// list parses "name=quantity name=quantity".
func list(text string) corev1.ResourceList {
	if text == "" {
		return nil
	}
	made := corev1.ResourceList{}
	for _, item := range strings.Fields(text) {
		name, quantity, _ := strings.Cut(item, "=")
		made[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return made
}

// asks is a container that requests and limits the same.
func asks(text string) corev1.Container {
	return corev1.Container{Name: "main", Resources: corev1.ResourceRequirements{Requests: list(text), Limits: list(text)}}
}

func sidecar(text string) corev1.Container {
	c, always := asks(text), corev1.ContainerRestartPolicyAlways
	c.Name, c.RestartPolicy = "sidecar", &always
	return c
}

// pod is bound one minute after its creation, when its kubelet accepted it.
func pod(containers ...corev1.Container) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train", UID: "uid-1", CreationTimestamp: at(0)},
		Spec:       corev1.PodSpec{NodeName: "node-1", Containers: containers},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, StartTime: ptr(at(1))},
	}
	transition(p, corev1.PodScheduled, corev1.ConditionTrue, at(1))
	return p
}

func transition(p *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, when metav1.Time) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: when})
}

func running(since metav1.Time) corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}}
}

func ran(from, to metav1.Time) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: from, FinishedAt: to}}
}

func with(states ...corev1.ContainerState) []corev1.ContainerStatus {
	var made []corev1.ContainerStatus
	for _, s := range states {
		made = append(made, corev1.ContainerStatus{Name: "main", State: s})
	}
	return made
}

// everything is what the pods of these tests request.
var everything = strings.Fields("nvidia.com/gpu nvidia.com/gpu.shared amd.com/gpu amd.com/gpu_pf amd.com/gpu_vf gpu.intel.com/i915 gpu.intel.com/xe " +
	"tke.cloud.tencent.com/qgpu-core tke.cloud.tencent.com/qgpu-memory tencent.com/vcuda-core volcano.sh/vgpu-number aliyun.com/gpu-mem " +
	"nvidia.com/mig-1g.5gb nvidia.com/mig-1g.5gb.shared nvidia.com/mig-1g.6gb nvidia.com/mig-1g.10gb.me nvidia.com/mig-1g.12gb nvidia.com/mig-1g.24gb " +
	"nvidia.com/mig-1c.3g.20gb nvidia.com/mig-2g.12gb nvidia.com/mig-2g.20gb.me.all nvidia.com/mig-3g.20gb nvidia.com/mig-7g.80gb " +
	"nvidia.com/mig-1g.16gb nvidia.com/mig-2g.32gb nvidia.com/mig-2g.48gb " +
	"amd.com/spx_nps1 amd.com/dpx_nps1 amd.com/tpx_nps1 amd.com/qpx_nps1 amd.com/cpx_nps1 amd.com/cpx_nps4 example.com/npu example.com/gpu x.io/y")

// plentiful is a node with these labels and plenty of everything.
func plentiful(labels map[string]string) gpu.Node {
	node := gpu.NodeOf(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: labels}})
	node.Capacity = map[string]*big.Rat{}
	for _, resource := range everything {
		node.Capacity[resource] = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 100))
	}
	return node
}

// world has one such node, on which every group of fractions is reserved.
func world(labels map[string]string) gpu.World {
	w := worldOf(plentiful(labels))
	w.Reserved = func(string, string) bool { return true }
	return w
}

func worldOf(nodes ...gpu.Node) gpu.World {
	return gpu.World{Now: now, Nodes: func(name string) (found []gpu.Node) {
		for _, n := range nodes {
			if n.Name == name {
				found = append(found, n)
			}
		}
		return found
	}}
}

func gpus(s gpu.Pod) string {
	sum := new(big.Rat)
	for _, share := range s.Shares {
		sum.Add(sum, new(big.Rat).Mul(share.Units, share.Weight))
	}
	return sum.RatString()
}

func undoubted(t *testing.T, s gpu.Pod) {
	t.Helper()
	if len(s.Problems) > 0 {
		t.Errorf("problems: %s", strings.Join(s.Problems.Texts(), "; "))
	}
}

func doubted(t *testing.T, s gpu.Pod, text string) {
	t.Helper()
	if !strings.Contains(strings.Join(s.Problems.Texts(), "\n"), text) {
		t.Errorf("no problem says %q: %q", text, s.Problems)
	}
}
