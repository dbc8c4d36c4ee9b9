package cluster_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// theirs is a foreign Deployment with all that a declaration has arguments for, and more.
func theirs(namespace string) *appsv1.Deployment {
	of := kubetest.Deployment(namespace, "pool-g1", 0)
	of.Labels = map[string]string{stockpool.LabelPool: "pool-g1"}
	spec := &of.Spec.Template.Spec
	of.Spec.Template.Labels["tier"] = "back"
	spec.NodeSelector, spec.ServiceAccountName, spec.RuntimeClassName = map[string]string{"zone": "a"}, "theirs", new("kata")
	spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "theirs"}}
	spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
	spec.TerminationGracePeriodSeconds = new(int64(7))
	spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), FSGroup: new(int64(5)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	main := &spec.Containers[0]
	main.Command, main.Args = []string{"theirs"}, []string{"a"}
	main.Env = []corev1.EnvVar{
		{Name: "A", Value: "theirs"}, {Name: "OWN", Value: "theirs"},
		{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
	}
	main.Ports = []corev1.ContainerPort{{ContainerPort: 8080, Name: "http"}, {ContainerPort: 53, Protocol: corev1.ProtocolUDP}}
	main.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	return of
}

// ours is the declaration that takes it over, of which nothing but the name is the same.
func ours(namespace string) stockpool.Declaration {
	return stockIn(namespace, func(d *stockpool.Declaration) {
		d.Labels = map[string]string{"app": "pool-g1"}
		d.Env, d.Ports, d.PodSecurityLevel, d.Replicas = map[string]string{"A": "1"}, []stockpool.Port{{Port: 8080, Protocol: "TCP"}}, stockpool.Baseline, 0
	})
}

// TestATakeOverRemovesWhatIsNotDeclared: what a plan shows as removed goes, and what a
// declaration has no argument for stays.
func TestATakeOverRemovesWhatIsNotDeclared(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	c := connect(t, server.Kubeconfig())
	d := ours(server.Namespace(t))
	live := kubetest.Create(t, server, theirs(d.Namespace))
	would, err := c.PreviewStock(t.Context(), live, d.Desired(live, "main", 0))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.ApplyStock(t.Context(), live, d.Desired(live, "main", 0))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(would.Spec.Template, answer.Spec.Template); diff != "" {
		t.Errorf("the dry run said another outcome (-dry run +done)\n%s", diff)
	}
	got, err := stockpool.Observation{Deployment: answer}.Declaration()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{
		d.Labels, d.Env, d.Ports, d.NodeSelector, d.Tolerations, d.ServiceAccountName, d.RuntimeClassName, d.ImagePullSecrets, d.Command, d.Args, d.CPU,
		d.PodSecurityLevel,
	},
		[]any{
			got.Labels, got.Env, got.Ports, got.NodeSelector, got.Tolerations, got.ServiceAccountName, got.RuntimeClassName, got.ImagePullSecrets, got.Command,
			got.Args, got.CPU, got.PodSecurityLevel,
		}); diff != "" {
		t.Errorf("it is not what is declared (-declared +is)\n%s", diff)
	}
	spec := answer.Spec.Template.Spec
	if *spec.TerminationGracePeriodSeconds != 7 || spec.SecurityContext == nil || spec.SecurityContext.FSGroup == nil ||
		!slices.ContainsFunc(spec.Containers[0].Env, func(e corev1.EnvVar) bool { return e.Name == "NODE" }) {
		t.Errorf("what no argument is for was changed: %+v", spec)
	}
	for _, entry := range answer.ManagedFields {
		if entry.Manager != stockpool.FieldManager && strings.Contains(string(entry.FieldsV1.GetRawBytes()), `"f:command"`) {
			t.Errorf("%s still has fields that were claimed: %s", entry.Manager, entry.FieldsV1)
		}
	}
}

// TestWhatOthersAddIsRemoved also if it would have each application refused, and if the
// label is gone.
func TestWhatOthersAddIsRemoved(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	c := connect(t, server.Kubeconfig())
	for field, patch := range map[string]string{
		"nodeSelector":       `{"spec":{"template":{"spec":{"nodeSelector":{"zone":"a"}}}}}`,
		"command":            `{"metadata":{"labels":null},"spec":{"template":{"spec":{"containers":[{"name":"runtime","command":["evil"]}]}}}}`,
		"env":                `{"spec":{"template":{"spec":{"containers":[{"name":"runtime","env":[{"name":"EVIL","value":"1"}]}]}}}}`,
		"serviceAccountName": `{"spec":{"template":{"spec":{"serviceAccountName":"admin"}}}}`,
		"labels":             `{"spec":{"template":{"metadata":{"labels":{"team2":"b"}}}}}`,
		"resources":          `{"spec":{"template":{"spec":{"resources":{"requests":{"memory":"1Gi"},"limits":{"memory":"1Gi"}}}}}}`,
		"os":                 `{"spec":{"template":{"spec":{"os":{"name":"windows"},"securityContext":{"seccompProfile":null},"containers":[{"name":"runtime","securityContext":null}]}}}}`,
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			d := stockIn(server.Namespace(t), func(d *stockpool.Declaration) { d.Replicas = 0; d.Memory = "2Gi" })
			made, err := c.CreateStock(t.Context(), d.InitialDeployment("token", 0))
			if err != nil {
				t.Fatal(err)
			}
			was, err := c.ApplyStock(t.Context(), made, d.Desired(made, "", 0))
			if err != nil {
				t.Fatal(err)
			}
			if field == "resources" { // which must be at least those of the containers at that moment
				patch = strings.Replace(patch, `"spec":{"resources"`,
					`"spec":{"containers":[{"name":"runtime","resources":{"requests":{"memory":"1Gi"},"limits":{"memory":"1Gi"}}}],"resources"`, 1)
			}
			somebody := server.Client().AppsV1().Deployments(d.Namespace)
			live, err := somebody.Patch(t.Context(), d.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-edit"})
			if err != nil {
				t.Fatal(err)
			}
			would, err := c.PreviewStock(t.Context(), live, d.Desired(live, "", 0))
			if would == nil {
				t.Fatal(err)
			}
			if changes := drift.Changes(live, would); !slices.ContainsFunc(changes,
				func(c stockpool.Change) bool { return strings.Contains(c.Field, field) }) {
				t.Errorf("a dry run reports %v (%v)", changes, err)
			}
			answer, err := c.ApplyStock(t.Context(), live, d.Desired(live, "", 0))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was.Spec.Template, answer.Spec.Template); diff != "" {
				t.Errorf("it is not as it was (-was +is)\n%s", diff)
			}
			seen, err := c.StockOf(context.Background(), d.Namespace, d.Name)
			if err != nil || (stockpool.Journal{}).RecordResponse(answer).Drifted(seen.Deployment) ||
				len(drift.Extras(seen.Deployment, d.Desired(seen.Deployment, "", 0))) > 0 {
				t.Errorf("it does not settle: %v", err)
			}
		})
	}
}
