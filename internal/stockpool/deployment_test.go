package stockpool_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

const clusterUID = "11111111-2222-3333-4444-555555555555"

// declared is a stock pool of two pods, changed as asked.
func declared(changes ...func(*stockpool.Declaration)) stockpool.Declaration {
	d := stockpool.Declaration{
		Name: "pool-g1", Namespace: "ml", UID: "0123456789abcdef0123456789abcdef", Generation: 1, ClusterUID: clusterUID,
		SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
		Labels: map[string]string{"team": "a"}, AllocatedSelector: "session",
	}
	for _, change := range changes {
		change(&d)
	}
	return d.WithDefaults()
}

// TestPodsHoldWhatIsDeclared: GPUs and memory as request and limit, nothing that a
// restricted namespace forbids, and no token unless an account is named.
func TestPodsHoldWhatIsDeclared(t *testing.T) {
	t.Parallel()
	d := declared(func(d *stockpool.Declaration) { d.GPU, d.CPU = 2, "4" })
	spec := d.Deployment("", 2).Spec.Template.Spec
	main := spec.Containers[0]
	for name, of := range map[string]corev1.ResourceList{"requests": main.Resources.Requests, "limits": main.Resources.Limits} {
		gpus, memory := of["nvidia.com/gpu"], of[corev1.ResourceMemory]
		if gpus.Value() != 2 || memory.String() != "16Gi" {
			t.Errorf("its %s are %v", name, of)
		}
	}
	if _, limited := main.Resources.Limits[corev1.ResourceCPU]; limited || main.Resources.Requests.Cpu().Value() != 4 {
		t.Errorf("it asks for CPUs by %v", main.Resources)
	}
	if *spec.AutomountServiceAccountToken || !*spec.SecurityContext.RunAsNonRoot || *main.SecurityContext.AllowPrivilegeEscalation {
		t.Errorf("by default it may too much: %+v", spec)
	}
	d.PodSecurityLevel, d.ServiceAccountName = stockpool.Baseline, "runtime"
	spec = d.Deployment("", 2).Spec.Template.Spec
	if !*spec.AutomountServiceAccountToken || spec.SecurityContext != nil || spec.Containers[0].SecurityContext != nil {
		t.Errorf("it gets what it does not ask for: %+v", spec)
	}
	if bare := d.InitialDeployment("token", 0); *bare.Spec.Replicas != 0 || bare.Annotations[stockpool.AnnotationOpened] != "token" {
		t.Errorf("a new one is %+v", bare)
	}
}

func TestLabelsThatASelectorNeedsAreNamed(t *testing.T) {
	t.Parallel()
	d := declared()
	of := d.InitialDeployment("a", 0)
	if err := d.Selects(of); err != nil {
		t.Error(err)
	}
	of.Spec.Selector.MatchLabels = map[string]string{"app": "theirs", "tier": "back"}
	if err := d.Selects(of); err == nil || !strings.Contains(err.Error(), "app=theirs,tier=back") {
		t.Errorf("got %v", err)
	}
}
