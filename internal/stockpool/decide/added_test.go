package decide_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// TestWhatOthersAddIsReported, where it contradicts what is declared; what a webhook usually
// adds does not.
func TestWhatOthersAddIsReported(t *testing.T) {
	t.Parallel()
	gpu := corev1.ResourceRequirements{Limits: corev1.ResourceList{stockpool.DefaultGPUResource: resource.MustParse("1")}}
	for want, add := range map[string]func(*corev1.PodSpec){
		"the container miner holds 1 nvidia.com/gpu beside the 1 that are declared": func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, corev1.Container{Name: "miner", Resources: gpu})
		},
		"the container miner is privileged": func(s *corev1.PodSpec) {
			s.InitContainers = append(s.InitContainers, corev1.Container{Name: "miner", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}})
		},
		"the container runtime adds capabilities": func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"SYS_ADMIN"}}}
		},
		"hostNetwork": func(s *corev1.PodSpec) { s.HostNetwork = true },
		"the volume root is a path of the node": func(s *corev1.PodSpec) {
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "root", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}})
		},
		"": func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, corev1.Container{Name: "proxy"})
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "token", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		},
	} {
		w := newWorld(declared())
		w.has(t, 2, decide.Ready)
		add(&w.live.Spec.Template.Spec)
		warnings := strings.Join(w.decide().Warnings, "\n")
		if reported := strings.Contains(warnings, "does not allow"); reported != (want != "") || !strings.Contains(warnings, want) {
			t.Errorf("%q is reported as %q", want, warnings)
		}
	}
}

// TestALabelForAllTakesNoPod: pods that are in use from the start would make the pool grow
// to its maximum, and none of them be available.
func TestALabelForAllTakesNoPod(t *testing.T) {
	t.Parallel()
	w := newWorld(declared(func(d *stockpool.Declaration) { d.Keep, d.Maximum = stockpool.KeepAvailable, 8 }))
	w.has(t, 2, decide.Ready)
	w.live.Spec.Template.Labels["session"] = "x"
	for n := range w.pods {
		w.pods[n].Labels["session"] = "x"
	}
	if p := w.decide(); p.Replicas != 2 || !strings.Contains(strings.Join(p.Warnings, "\n"), "each new pod counts as in use") {
		t.Errorf("it is to have %d pods, and warns %q", p.Replicas, p.Warnings)
	}
}

// TestAPausedRolloutIsReported: nothing that is applied reaches the pods.
func TestAPausedRolloutIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(declared())
	w.has(t, 2, decide.Ready)
	w.live.Spec.Paused = true
	if of := w.decide().Status.Of(decide.RolledOut); of.Reason != "Paused" ||
		!strings.Contains(of.Message, "kubectl rollout resume deployment/pool-g1 -n ml") {
		t.Errorf("of the rollout it says %+v", of)
	}
}
