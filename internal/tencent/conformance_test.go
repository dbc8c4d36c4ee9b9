package tencent

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools/cloudtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TestClientIsACloud checks the adapter against the local CVM.
func TestClientIsACloud(t *testing.T) {
	t.Parallel()
	cloudtest.Run(t, func(t *testing.T) cloudtest.Cloud {
		t.Helper()
		sim, client := startSim(t, func(c *Config) { c.MaxAttempts = 2 })
		return cloudtest.Cloud{Cloud: client, Stage: &simStage{t, sim}, Request: testRequest()}
	})
}

// simStage changes the local CVM by its control surface.
type simStage struct {
	t   *testing.T
	sim *cvmsim.Server
}

func (s *simStage) Step(d time.Duration) { s.t.Helper(); step(s.t, s.sim, d) }

func (s *simStage) DelayTags(d time.Duration) {
	s.t.Helper()
	late := cvmsim.Duration(d)
	if err := s.sim.Configure(cvmsim.Settings{TagDelay: &late}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *simStage) SellOut(m spotpool.Market) {
	s.t.Helper()
	none := int64(0)
	r := cvmsim.StockRequest{AvailabilityZone: m.AvailabilityZone, InstanceType: m.InstanceType, ChargeType: string(m.ChargeType), Stock: &none}
	if err := s.sim.SetStock(r); err != nil {
		s.t.Fatal(err)
	}
}

func (s *simStage) LoseResponse() {
	s.t.Helper()
	addFault(s.t, s.sim, cvmsim.Fault{Kind: cvmsim.FaultResetAfter, Action: "RunInstances", Count: 2})
}

func (s *simStage) Protect(id string) {
	s.t.Helper()
	yes := true
	setState(s.t, s.sim, cvmsim.StateRequest{InstanceIDs: []string{id}, Protected: &yes})
}

func (s *simStage) Reclaim(id string) {
	s.t.Helper()
	setState(s.t, s.sim, cvmsim.StateRequest{InstanceIDs: []string{id}, State: "GONE"})
}

func (s *simStage) Deny() {
	s.t.Helper()
	addFault(s.t, s.sim, cvmsim.Fault{Kind: cvmsim.FaultError, Code: "UnauthorizedOperation", Count: -1})
}
