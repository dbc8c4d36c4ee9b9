package stockpool_test

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// TestAPoolOfTheAPIIsImported: an import and an apply take it over from the API, so that it no longer
// expires. The plan after that is empty.
func TestAPoolOfTheAPIIsImported(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ctx := context.Background()
	job, err := s.Process().Jobs().Submit(ctx, request.Request{StockPool: &request.StockPool{
		Name: "pool-g1", Namespace: s.namespace, SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "1Gi", GPU: 1, Replicas: 2,
		Labels: map[string]string{"team": "a"},
	}}, "ann", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Process().Runner().Run(ctx, reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if job, err = s.Process().Jobs().Job(ctx, job.ID); err != nil || job.State != request.Succeeded {
		t.Fatalf("the job: %+v, %v", job, err)
	}
	before := s.deployment()
	requested := func() bool {
		d, err := s.Process().StockPools().Find(ctx, s.namespace, "pool-g1")
		if err != nil {
			t.Fatal(err)
		}
		return d.Requested() || d.Owner != "" || !d.ExpiresAt.IsZero()
	}
	config := s.pool(attributes{"wait_for_rollout": "false"})
	run(t,
		resource.TestStep{
			Config: config, ResourceName: address, ImportState: true, ImportStateId: s.namespace + "/pool-g1", ImportStatePersist: true,
		},
		resource.TestStep{
			PreConfig: func() {
				if !requested() {
					t.Error("the import alone takes it over")
				}
			},
			Config: config, ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
		},
		resource.TestStep{
			PreConfig: func() {
				if requested() || s.deployment().UID != before.UID {
					t.Errorf("it is still of the API, or another Deployment: %+v", s.deployment())
				}
			},
			Config: config, ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
	)
}
