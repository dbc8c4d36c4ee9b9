package reconcile_test

import (
	"context"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestAForecastSaysWhenItsBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	offers := []spotpool.Offer{{
		Market: spotpool.Market{AvailabilityZone: reconciletest.ZoneA, InstanceType: reconciletest.GPUType, ChargeType: spotpool.Spot}, GPUs: "4",
		GPUType: "T4",
	}}
	f, err := g.process().SpotPools().Forecast(context.Background(), g.pool, offers)
	if err != nil || f == nil || f.MilliGPUs != 8000 || f.ExhaustedAt == nil {
		t.Fatalf("two instances of four GPUs, and 4 GPU-hours in 45 minutes: %v, %+v", err, f)
	}
	if in := time.Until(*f.ExhaustedAt); in < 29*time.Minute || in > 31*time.Minute {
		t.Errorf("used up in %s, want half an hour", in)
	}
	offers[0].GPUs = "1"
	if f, err = g.process().SpotPools().Forecast(context.Background(), g.pool, offers); err != nil || f == nil || f.ExhaustedAt != nil {
		t.Errorf("two GPUs use 1.5 GPU-hours in 45 minutes: %v, %+v", err, f)
	}
	if f, err = g.process().SpotPools().Forecast(context.Background(), g.pool, nil); err != nil || f != nil {
		t.Errorf("without offers: %v, %+v", err, f)
	}
}
