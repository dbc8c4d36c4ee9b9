package drift_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

func declared() stockpool.Declaration {
	return stockpool.Declaration{
		Name: "pool-g1", Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
	}.WithDefaults()
}

// TestNoSecretOfAChangeIsReported: of environment variables, arguments and commands it is
// reported that they changed, and no value.
func TestNoSecretOfAChangeIsReported(t *testing.T) {
	t.Parallel()
	d := declared()
	d.Env, d.Args, d.Command = map[string]string{"TOKEN": "hunter2"}, []string{"--key=hunter2"}, []string{"run", "hunter2"}
	was := d.Deployment("", 2)
	d.Env, d.Args, d.Command = map[string]string{"TOKEN": "hunter3"}, []string{"--key=hunter3"}, []string{"run", "hunter3"}
	changes := drift.Changes(was, d.Deployment("", 3))
	if len(changes) != 4 || strings.Contains(fmt.Sprint(changes), "hunter") {
		t.Errorf("it reports: %v", changes)
	}
	if first := changes[0].Reason().String(); first != "spec.replicas was 2 instead of 3" {
		t.Errorf("it reports: %s", first)
	}
}

func TestReplacementFollowsTheStrategy(t *testing.T) {
	t.Parallel()
	rolling := func(most intstr.IntOrString) func(*appsv1.Deployment) {
		return func(of *appsv1.Deployment) {
			of.Spec.Strategy = appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &most},
			}
		}
	}
	for says, change := range map[string]func(of *appsv1.Deployment){
		"a few at a time": rolling(intstr.FromString("25%")), "at once, since its Deployment has maxUnavailable 100%": rolling(intstr.FromString("100%")),
		"at once, since its Deployment has maxUnavailable 4": rolling(intstr.FromInt32(4)),
		"at once, since its Deployment has the strategy Recreate": func(of *appsv1.Deployment) {
			of.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		},
		"once the paused rollout of its Deployment is resumed": func(of *appsv1.Deployment) { of.Spec.Paused = true },
	} {
		of := declared().Deployment("", 4)
		change(of)
		if got := drift.Replacement(of).String(); got != says {
			t.Errorf("got %q, want %q", got, says)
		}
	}
}

// TestFieldWriters: the latest first, without what was written of the status.
func TestFieldWriters(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	entry := func(manager, subresource string, at time.Time, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: &metav1.Time{Time: at}, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	of := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry("gpupool-stock", "", noon, `{"f:metadata":{"f:labels":{"f:gpupool/stock-pool":{}}}}`),
		entry("kube-controller-manager", "status", noon.Add(time.Hour), `{"f:status":{"f:replicas":{}}}`),
		entry("kubectl", "scale", noon.Add(time.Minute), `{"f:spec":{"f:replicas":{}}}`),
		entry("kubectl-edit", "", noon, `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:image":{}}}}}}}`),
	}}}
	want := []drift.Writer{
		{Manager: "kubectl", Subresource: "scale", At: noon.Add(time.Minute), Fields: []string{"spec.replicas"}},
		{Manager: "gpupool-stock", At: noon, Fields: []string{"metadata.labels.gpupool/stock-pool"}},
		{Manager: "kubectl-edit", At: noon, Fields: []string{"spec.template.spec.containers"}},
	}
	if diff := cmp.Diff(want, drift.Writers(of)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list := drift.Writers(nil); len(list) != 0 {
		t.Errorf("of none: %+v", list)
	}
}

// TestForeignAdditionsAreRemoved: of what declarations have arguments for, and of
// nothing else.
func TestForeignAdditionsAreRemoved(t *testing.T) {
	t.Parallel()
	d := declared()
	for want, add := range map[string]func(*corev1.PodTemplateSpec){
		`f:spec f:template f:metadata f:labels f:team`: func(p *corev1.PodTemplateSpec) { p.Labels["team"] = "b" },
		`f:spec f:template f:spec f:nodeSelector`:      func(p *corev1.PodTemplateSpec) { p.Spec.NodeSelector = map[string]string{"gpu": "t4"} },
		`f:spec f:template f:spec f:imagePullSecrets k:{"name":"a"}`: func(p *corev1.PodTemplateSpec) {
			p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "a"}}
		},
		`f:spec f:template f:spec f:containers k:{"name":"runtime"} f:env k:{"name":"A"}`: func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "b"}}
		},
		`f:spec f:template f:spec f:containers k:{"name":"runtime"} f:ports k:{"containerPort":80,"protocol":"TCP"}`: func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}}
		},
		`f:spec f:template f:spec f:containers k:{"name":"runtime"} f:resources f:requests f:cpu`: func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
		},
		"": func(p *corev1.PodTemplateSpec) {
			p.Spec.TerminationGracePeriodSeconds, p.Annotations = new(int64(5)), map[string]string{"a": "b"}
		},
	} {
		was := d.Deployment("", 2)
		live := was.DeepCopy()
		add(&live.Spec.Template)
		var got []string
		extras := drift.Extras(live, was)
		for _, e := range extras {
			got = append(got, strings.Join(e, " "))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q is found as %q", want, got)
		}
		if changes := drift.Changes(drift.Without(live, extras), was); want != "" && len(changes) > 0 {
			t.Errorf("without %q there is %v", want, changes)
		}
	}
}

// TestClaimedFieldsAreNoOtherManagers, and what others have besides stays theirs.
func TestClaimedFieldsAreNoOtherManagers(t *testing.T) {
	t.Parallel()
	entry := func(manager string, as metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: as, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	field := drift.Extra{"f:spec", "f:env", `k:{"name":"A"}`}
	of := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry("kubectl", metav1.ManagedFieldsOperationUpdate, `{"f:spec":{"f:env":{"k:{\"name\":\"A\"}":{}},"f:replicas":{}}}`),
		entry("web", metav1.ManagedFieldsOperationUpdate, `{"f:spec":{"f:paused":{}}}`),
		entry(stockpool.FieldManager, metav1.ManagedFieldsOperationApply, `{"f:spec":{"f:template":{}}}`),
	}}}
	for n, changes := range []bool{true, false} {
		managed, changed, err := drift.Claim(of, []drift.Extra{field})
		if err != nil || changed != changes {
			t.Fatalf("time %d: changed %v, %v", n, changed, err)
		}
		of.ManagedFields = managed
	}
	var got []string
	for _, e := range of.ManagedFields {
		got = append(got, e.Manager+" "+string(e.FieldsV1.GetRawBytes()))
	}
	want := []string{
		`kubectl {"f:spec":{"f:replicas":{}}}`, `web {"f:spec":{"f:paused":{}}}`,
		stockpool.FieldManager + ` {"f:spec":{"f:env":{"k:{\"name\":\"A\"}":{".":{}}},"f:template":{}}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
