package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// forgeries are pods that hold nothing, despite their fields.
var forgeries = map[string]func(*tenancy) []kubetest.PodOption{
	"no-such-node": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.GPUs(9999), kubetest.BoundTo("no-such-node-" + s.namespace)}
	},
	"no-such-node-few": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.GPUs(8), kubetest.BoundTo("gone-" + s.namespace)}
	},
	"too-many": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.GPUs(9999), s.onNode(0)}
	},
	"absurdly-many": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.Resource("nvidia.com/gpu", "9223372036854775807"), s.onNode(0)}
	},
	"more-than-is-left": func(s *tenancy) []kubetest.PodOption { // the innocent one has the other
		return []kubetest.PodOption{kubetest.GPUs(2), s.onNode(0)}
	},
	"another-makers": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.Resource("amd.com/gpu", "9999"), s.onNode(0)}
	},
	"slices-of-none": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.Resource("nvidia.com/mig-7g.80gb", "500"), s.onNode(0)}
	},
	"shared-of-none": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.Resource("nvidia.com/gpu.shared", "9999"), s.onNode(1)}
	},
	"cores-of-none": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.Resource("tke.cloud.tencent.com/qgpu-core", "99900"), s.onNode(1)}
	},
	"fraction": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.Annotation("gpu-fraction", "1"), kubetest.Annotation("gpu-fraction-num-devices", "999"), s.onNode(1)}
	},
	"fraction-scheduled": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{
			kubetest.Annotation("gpu-fraction", "1"), kubetest.Annotation("gpu-fraction-num-devices", "999"), kubetest.OnNode(s.nodes[1].Name),
		}
	},
	"memory": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.Annotation("gpu-memory", "999999999"), kubetest.Annotation("gpu-fraction-num-devices", "999"), s.onNode(1)}
	},
	"claim": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.Claim("none"), s.onNode(1)}
	},
	"claim-template": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.ClaimTemplate("none"), s.onNode(1)}
	},
	"gated": func(*tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.GPUs(8), withGate("gate.example.com/never")}
	},
	"waits": func(s *tenancy) []kubetest.PodOption {
		return []kubetest.PodOption{kubetest.GPUs(9999), kubetest.OnNode(s.nodes[1].Name)}
	},
}

func withGate(name string) kubetest.PodOption {
	return func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
	}
}

// TestForgedHoursDoNotCount has a tenant label pods into the budget of others
// that hold nothing, of all the kinds that he can make.
func TestForgedHoursDoNotCount(t *testing.T) {
	t.Parallel()
	s := newCrowdedTenancy(t, 2)
	s.declareOthers()
	s.turn()
	for name, options := range forgeries {
		s.create(s.editor, "editor-"+name, append(options(s), s.team)...)
		s.create(s.creator, "creator-"+name, append(options(s), s.team)...)
	}
	time.Sleep(2 * time.Second) // what two seconds of 9999 GPUs would use up is the budget thirty times over
	var last turn
	for range 3 {
		last = s.turn()
		if len(s.budget(last, "others").Enforced) > 0 {
			t.Errorf("the others' budget is enforced:\n%s", last.text)
		}
		time.Sleep(time.Second)
	}
	s.wantUsage(last, "others", s.ofOthers)
	s.turn() // and again, now that it would have been

	charged := s.charged("others")
	for name := range forgeries {
		for _, user := range []string{"editor-", "creator-"} {
			if hours := charged[user+name]; hours != "" && hours != "0.000" {
				t.Errorf("%s%s: %s GPU-hours were counted", user, name, hours)
			}
		}
	}
}

// charged returns the GPU-hours of each pod by gpupool usage.
func (s *tenancy) charged(budget string) map[string]string {
	s.t.Helper()
	code, stdout, stderr := runCLI(s.environment(), "usage", budget, "-o", "json")
	var report struct {
		Pods []struct {
			Name     string
			GPUHours string `json:"gpu_hours"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); code != 0 || err != nil {
		s.t.Fatalf("gpupool usage ended with %d, %v\n%s%s", code, err, stdout, stderr)
	}
	hours := map[string]string{}
	for _, pod := range report.Pods {
		hours[pod.Name] = pod.GPUHours
	}
	return hours
}

func (s *tenancy) patch(as kubernetes.Interface, name, patch string) error {
	_, err := as.CoreV1().Pods(s.namespace).Patch(s.t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (s *tenancy) relabel(name, value string) {
	s.t.Helper()
	if err := s.patch(s.editor, name, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, teamKey, value)); err != nil {
		s.t.Fatal(err)
	}
}

// TestLabelsCountAsTheyWereAtBinding has a tenant give his pods other labels at
// each stage: what a pod uses belongs to the label that it was bound with.
func TestLabelsCountAsTheyWereAtBinding(t *testing.T) {
	t.Parallel()
	const gate = "gate.example.com/wait"
	s := newTenancy(t, 4)
	for _, stage := range []string{"born", "bound", "running", "ending"} {
		s.declare(stage, budget.Selector{Namespaces: []string{s.namespace}, MatchLabels: map[string]string{teamKey: stage}},
			`{"gpu_hours":"1000","enforcement":{"action":"alert_only"}}`)
	}
	s.declareOthers()
	born := kubetest.Labels(map[string]string{teamKey: "born"})
	// Of two alike, a run sees one while it waits, and the other not.
	s.create(s.editor, "seen", born, withGate(gate), kubetest.GPUs(1), kubetest.OnNode(s.nodes[1].Name), kubetest.StopsAfter(3*time.Second))
	s.turn()
	s.create(s.editor, "unseen", born, withGate(gate), kubetest.GPUs(1), kubetest.OnNode(s.nodes[1].Name), kubetest.StopsAfter(3*time.Second))
	for _, name := range []string{"seen", "unseen"} {
		s.relabel(name, "bound")
		if err := s.patch(s.editor, name, `{"spec":{"schedulingGates":null}}`); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"seen", "unseen"} {
		s.server.WaitRunning(t, s.pod(name))
		s.relabel(name, "running")
	}
	running := s.turn()
	for _, stage := range []string{"born", "bound", "running", "ending"} {
		s.wantUsage(running, stage, func(h *held) bool { return h.bound[teamKey] == stage })
	}

	for _, name := range []string{"seen", "unseen"} {
		if err := s.patch(s.editor, name,
			`{"metadata":{"annotations":{"gpu-fraction":"0.001","gpupool/protected":"true","gpu-fraction-num-devices":"1"}}}`); err != nil {
			t.Fatal(err)
		}
		if err := s.editor.CoreV1().Pods(s.namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		s.relabel(name, s.others) // into the others' budget, while it ends
	}
	ending := s.turn()
	for _, name := range []string{"seen", "unseen"} {
		kubetest.WaitFor(t, "the pod to be gone", func(context.Context) error {
			if s.pod(name) != nil {
				return fmt.Errorf("%s is still there", name)
			}
			return nil
		})
	}
	gone := s.turn()
	for _, r := range []turn{ending, gone} {
		for _, stage := range []string{"born", "bound", "running", "ending"} {
			s.wantUsage(r, stage, func(h *held) bool { return h.bound[teamKey] == stage })
		}
		s.wantUsage(r, "others", s.ofOthers)
	}
	if s.budget(gone, "bound").ConsumedMilliGPUSeconds < s.budget(running, "bound").ConsumedMilliGPUSeconds {
		t.Error("usage fell when the pods were deleted")
	}
}

// TestLabelsOfAPodThatIsBoundAndNotYetTaken: a run observes a pod bound to a node whose kubelet
// is away. The tenant relabels it before the kubelet starts it.
func TestLabelsOfAPodThatIsBoundAndNotYetTaken(t *testing.T) {
	t.Parallel()
	const served = "localkube.gpupool.dev/managed"
	s := newTenancy(t, 2)
	for _, stage := range []string{"bound", "running"} {
		s.declare(stage, budget.Selector{Namespaces: []string{s.namespace}, MatchLabels: map[string]string{teamKey: stage}},
			`{"gpu_hours":"1000","enforcement":{"action":"alert_only"}}`)
	}
	away := kubetest.Node(s.namespace+"-away", 2)
	away.Labels[served] = "false"
	kubetest.Create(t, s.server, away)
	s.turn()
	s.create(s.creator, "pod", kubetest.Labels(map[string]string{teamKey: "bound"}), kubetest.GPUs(2), kubetest.BoundTo(away.Name))
	s.turn()
	s.relabel("pod", "running")
	s.turn()
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, served)
	if _, err := s.server.Client().CoreV1().Nodes().Patch(t.Context(), away.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.server.WaitRunning(t, s.pod("pod"))
	time.Sleep(2 * time.Second)
	r := s.turn()
	for _, stage := range []string{"bound", "running"} {
		s.wantUsage(r, stage, func(h *held) bool { return h.bound[teamKey] == stage })
	}
}

// TestPodsBoundWithoutSchedulerCount has a tenant bind pods to a node himself:
// those that its kubelet takes on hold GPUs, and count.
func TestPodsBoundWithoutSchedulerCount(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 4)
	s.declareOwn(`{"gpu_hours":"1000","enforcement":{"action":"alert_only"}}`)
	s.declareOthers()
	for n, user := range []kubernetes.Interface{s.editor, s.creator} {
		name := fmt.Sprintf("pod-%d", n)
		s.create(user, name, kubetest.GPUs(2), s.onNode(1), s.team)
		s.server.WaitRunning(t, s.pod(name))
	}
	// The node is full: a third is rejected, and counts nothing.
	third := s.create(s.creator, "third", kubetest.GPUs(1), s.onNode(1), s.team)
	s.server.WaitFinished(t, third)
	time.Sleep(2 * time.Second)
	r := s.turn()
	s.wantUsage(r, "own", s.ofTenant)
	s.wantUsage(r, "others", s.ofOthers) // he really holds what he is charged for there
}
