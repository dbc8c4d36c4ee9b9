package stockpool

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute/attributetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	core "github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

func modelOf(d core.Declaration) model { return model{Record: kit.NewRecord()}.declared(d) }

func stockSchema(t *testing.T) schema.Schema {
	t.Helper()
	var resp resource.SchemaResponse
	NewResource().Schema(context.Background(), resource.SchemaRequest{}, &resp)
	if resp.Diagnostics.HasError() {
		t.Fatal(resp.Diagnostics)
	}
	return resp.Schema
}

// An attribute without its line in transfer would be accepted in a configuration, and do
// nothing.
func TestEveryAttributeIsCarried(t *testing.T) {
	t.Parallel()
	attributetest.Carried(t, attributetest.Resource[model, core.Declaration]{
		Schema: stockSchema(t),
		Into:   model.declaration,
		OutOf:  modelOf,
		Extra:  []string{"timeouts", "env_wo", "wait_for_rollout"},
	})
}

func TestDeclarationSurvivesTheModel(t *testing.T) {
	t.Parallel()
	d := core.Declaration{
		Name: "pool-g1", Namespace: "ml", UID: "u", Generation: 3, ClusterUID: "c", DeploymentUID: "d", SpecName: "g1.1", Image: "runtime:1", Memory: "16Gi",
		GPU: 1, Replicas: 2,
		ReplicasPolicy: core.ReplicasAvailable, Maximum: 4, CPU: "500m", Command: []string{"run"}, Args: []string{"-v"}, Env: map[string]string{"A": "b"},
		Ports: []core.Port{{Port: 80, Name: "http", Protocol: "TCP"}}, Labels: map[string]string{"team": "a"}, NodeSelector: map[string]string{"pool": "train"},
		Tolerations: []core.Toleration{{Key: "gpu", Operator: "Exists", Effect: "NoSchedule"}}, GPUResource: "nvidia.com/gpu", RuntimeClassName: "nvidia",
		ImagePullSecrets: []string{"registry"}, ServiceAccountName: "runtime", PodSecurityLevel: core.Baseline,
		PodDisruptionBudget: &core.PodDisruptionBudget{MinAvailable: 1},
		AllocatedSelector:   "session", Budget: "team-a", OnDestroy: core.DestroyRetain,
	}
	if diff := cmp.Diff(d, modelOf(d).declaration()); diff != "" {
		t.Errorf("the declaration changed on its way through the model:\n%s", diff)
	}
	least := core.Declaration{Name: "p", Namespace: "n", SpecName: "s", Image: "i", Memory: "1Gi", GPU: 0, Replicas: 0}.WithDefaults()
	if diff := cmp.Diff(least, modelOf(least).declaration()); diff != "" {
		t.Errorf("the least one changed on its way through the model:\n%s", diff)
	}
}
