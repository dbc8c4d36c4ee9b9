package declaration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// stockAttributes are the attributes of the resource, as a state has them: what is not
// set is null.
const stockAttributes = `{
	"name": "pool-g1", "namespace": "ml", "uid": "aaaa1a52f0e94d3c8a6b0d1e2f3a4b5c", "generation": 2, "cluster_uid": "11111111-2222-3333-4444-555555555555",
	"deployment_uid": "22222222-2222-3333-4444-555555555555", "spec_name": "g1.1", "image": "runtime:1", "memory": "16Gi", "gpu": 1, "replicas": 2,
	"replicas_policy": "available", "maximum": 4, "cpu": null, "command": null, "args": ["--serve"], "env": {"A": "b"},
	"ports": [{"port": 80, "name": null, "protocol": "TCP"}],
	"labels": {"team": "a"}, "node_selector": null, "tolerations": [{"key": "gpu", "operator": "Exists", "value": null, "effect": null}],
	"gpu_resource": "nvidia.com/gpu", "runtime_class_name": null, "image_pull_secrets": null, "service_account_name": null, "pod_security_level": "restricted",
	"pod_disruption_budget": {"min_available": 1}, "allocated_selector": "session", "budget": "team-a", "on_destroy": "delete",
	"wait_for_rollout": true, "timeouts": null
}`

func TestStockPoolsFromState(t *testing.T) {
	t.Parallel()
	shown := `{"format_version":"1.0","values":{"root_module":{"resources":[{"address":"gpupool_stock_pool.g1","mode":"managed","type":"gpupool_stock_pool","name":"g1",
		"provider_name":"registry.terraform.io/gpupool/gpupool","schema_version":0,"values":` + stockAttributes + `}]}}}`
	state, err := declaration.FromState(strings.NewReader(shown))
	if err != nil {
		t.Fatal(err)
	}
	want := []declaration.StateStockPool{{Address: "gpupool_stock_pool.g1", Declaration: stockpool.Declaration{
		Name: "pool-g1", Namespace: "ml", UID: "aaaa1a52f0e94d3c8a6b0d1e2f3a4b5c", Generation: 2, ClusterUID: "11111111-2222-3333-4444-555555555555",
		DeploymentUID: "22222222-2222-3333-4444-555555555555", SpecName: "g1.1", Image: "runtime:1", Memory: "16Gi", GPU: 1, Replicas: 2,
		ReplicasPolicy: stockpool.ReplicasAvailable, Maximum: 4, Args: []string{"--serve"}, Env: map[string]string{"A": "b"},
		Ports:  []stockpool.Port{{Port: 80, Protocol: "TCP"}},
		Labels: map[string]string{"team": "a"}, Tolerations: []stockpool.Toleration{{Key: "gpu", Operator: "Exists"}}, GPUResource: "nvidia.com/gpu",
		PodSecurityLevel: stockpool.Restricted, PodDisruptionBudget: &stockpool.PodDisruptionBudget{MinAvailable: 1},
		AllocatedSelector: "session", Budget: "team-a",
		OnDestroy: stockpool.DestroyDelete,
	}}}
	if diff := cmp.Diff(want, state.StockPools); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	broken := strings.Replace(shown, `"gpu": 1`, `"gpu": "one"`, 1)
	if state, err = declaration.FromState(strings.NewReader(broken)); err != nil || len(state.StockPools) != 1 || state.StockPools[0].Unread == nil ||
		state.StockPools[0].Declaration.Key() != "ml/pool-g1" {
		t.Errorf("what can't be read is %+v: %v", state, err)
	}
}
