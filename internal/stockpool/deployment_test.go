package stockpool_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

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
	d.Security, d.ServiceAccountName = stockpool.Baseline, "runtime"
	spec = d.Deployment("", 2).Spec.Template.Spec
	if !*spec.AutomountServiceAccountToken || spec.SecurityContext != nil || spec.Containers[0].SecurityContext != nil {
		t.Errorf("it gets what it does not ask for: %+v", spec)
	}
	if bare := d.Bare("token"); *bare.Spec.Replicas != 0 || bare.Annotations[stockpool.AnnotationOpened] != "token" {
		t.Errorf("a new one is %+v", bare)
	}
}

// TestNoSecretIsToldOfAChange: of environment variables, arguments and commands it is
// told that they changed, and no value.
func TestNoSecretIsToldOfAChange(t *testing.T) {
	t.Parallel()
	d := declared(func(d *stockpool.Declaration) {
		d.Env, d.Args, d.Command = map[string]string{"TOKEN": "hunter2"}, []string{"--key=hunter2"}, []string{"run", "hunter2"}
	})
	was := d.Deployment("", 2)
	d.Env, d.Args, d.Command = map[string]string{"TOKEN": "hunter3"}, []string{"--key=hunter3"}, []string{"run", "hunter3"}
	changes := stockpool.Changes(was, d.Deployment("", 3))
	if len(changes) != 4 || strings.Contains(fmt.Sprint(changes), "hunter") {
		t.Errorf("it is told: %v", changes)
	}
	if first := changes[0].String(); first != "spec.replicas was 2 instead of 3" {
		t.Errorf("it is told: %s", first)
	}
}

func TestAGuardIsOfItsDeployment(t *testing.T) {
	t.Parallel()
	d := declared(func(d *stockpool.Declaration) { d.PodDisruption = &stockpool.PodDisruption{MinimumAvailable: 1} })
	w := newWorld(d)
	for range 2 {
		w.do(w.decide(), alive)
	}
	p := w.decide()
	if len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindGuard {
		t.Fatalf("decided %v", p.Decisions)
	}
	seen := w.seen()
	seen.Guard = d.Guard(w.live)
	if p := stockpool.Decide(w.situation(seen)); len(p.Decisions) > 0 {
		t.Errorf("with its guard it decides %v", p.Decisions)
	}
	unlabelled := seen
	unlabelled.Guard = d.Guard(w.live)
	unlabelled.Guard.Labels = nil
	if p := stockpool.Decide(w.situation(unlabelled)); len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindGuard {
		t.Errorf("with a guard that no look finds it decides %v", p.Decisions)
	}
	w.declaration.PodDisruption = nil
	if p := stockpool.Decide(w.situation(seen)); len(p.Decisions) != 1 || p.Decisions[0].Kind != stockpool.KindUnguard {
		t.Errorf("without a declared one it decides %v", p.Decisions)
	}
	seen.Guard.OwnerReferences[0].UID = "another"
	w.declaration = d
	if p := stockpool.Decide(w.situation(seen)); len(p.Decisions) > 0 || len(p.Warnings) != 1 {
		t.Errorf("of somebody else's it decides %v, and warns %v", p.Decisions, p.Warnings)
	}
}
