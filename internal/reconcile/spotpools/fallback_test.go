package spotpools_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TestARefusalOfSpotLeadsToTheFallback refuses spot instances for the account or the region. That is no reason
// to launch nothing: on-demand instances take over.
func TestARefusalOfSpotLeadsToTheFallback(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"UnsupportedOperation.SpotUnsupportedRegion", "InvalidInstanceChargeType.OnlySupportedForSpot", "LimitExceeded.CvmInstanceQuota",
		"LimitExceeded.InstanceQuota", "InstancesQuotaLimitExceeded", "OverQuota",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := w.MustCreate(1, 2)
			d.OnDemandFallback = &spotpool.OnDemandFallback{After: spotpool.Duration(10 * time.Minute), Maximum: 1}
			d.Cooldown = spotpool.Duration(time.Hour)
			d, _ = w.mustApply(d, 0)
			w.fail(cvmsim.Fault{Kind: cvmsim.FaultError, Action: "RunInstances", Code: code, Count: len(d.Offerings)})
			w.Reclaim(1)
			for range 4 {
				w.Step(6 * time.Minute)
				if _, err := w.Process(nil).Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if own := w.Own(); len(own) != 1 || spotpool.ChargeType(own[0].ChargeType) != spotpool.OnDemand {
				t.Errorf("the pool has %+v", own)
			}
			status, err := w.Process(nil).Runner().Status(context.Background())
			if err != nil || !status.SpotPools[0].Mixed || status.SpotPools[0].Cooldowns[0].ChargeType != spotpool.Spot {
				t.Errorf("its status is %+v, %v", status.SpotPools, err)
			}
		})
	}
}
