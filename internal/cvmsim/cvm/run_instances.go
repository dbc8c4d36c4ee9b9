package cvm

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type runInstancesRequest struct {
	launch.Params
	DryRun             *bool    `json:"DryRun,omitempty"`
	DedicatedClusterID *string  `json:"DedicatedClusterId,omitempty"`
	ChcIDs             []string `json:"ChcIds,omitempty"`
	EnableJumboFrame   *bool    `json:"EnableJumboFrame,omitempty"`
}

func (p *runInstancesRequest) About() api.Subject { return aboutLaunch(p.Params) }

func (p *runInstancesRequest) Token() string { return wire.Or(p.ClientToken, "") }

type runInstancesResponse struct {
	InstanceIDSet []string `json:"InstanceIdSet,omitempty"`
}

// runInstances launches all instances or none (cvm client.go, RunInstances).
func runInstances(w *world.World, c *api.Call, p *runInstancesRequest) (*runInstancesResponse, *wire.Error) {
	token := wire.Or(p.ClientToken, "")
	digest := launchDigest(c.Region, p)
	if memory := w.Tokens.Get(token); memory != nil && !wire.Or(p.DryRun, false) {
		if memory.Digest != digest {
			return nil, wire.Fail(w.Settings.TokenMismatchCode, "The ClientToken was used before with other parameters.")
		}
		c.Record.InstanceIDs = memory.InstanceIDs
		return &runInstancesResponse{InstanceIDSet: memory.InstanceIDs}, nil
	}
	if p.DedicatedClusterID != nil || len(p.ChcIDs) > 0 {
		return nil, wire.Fail("InvalidParameter.CdcNotSupported", "Dedicated clusters and CHC hosts are not sold here.")
	}
	spec, failure := readLaunch(c.Region, p.Params, c.Now)
	if failure != nil {
		return nil, failure
	}
	if failure := checkSale(w, spec); failure != nil {
		return nil, failure
	}
	if wire.Or(p.DryRun, false) {
		return &runInstancesResponse{}, nil
	}
	ids := w.Launch(spec.Launch, c.Now, c.RequestID, c.Fate)
	if token != "" {
		w.Tokens.Put(token, &world.LaunchMemory{Token: token, Digest: digest, InstanceIDs: ids})
	}
	c.TookEffect(ids...)
	return &runInstancesResponse{InstanceIDSet: ids}, nil
}

// launchDigest identifies the body of a launch, independent of the order of fields and the
// encoding.
func launchDigest(region string, p *runInstancesRequest) string {
	return wire.SHA256(append([]byte(region+"\n"), wire.MustJSON(p)...))
}

func aboutLaunch(p launch.Params) api.Subject {
	s := api.Subject{InstanceType: wire.Or(p.InstanceType, ""), Zone: wire.Or(wire.Or(p.Placement, launch.Placement{}).Zone, "")}
	for _, spec := range p.TagSpecification {
		for _, t := range spec.Tags {
			if wire.Or(t.Key, "") == world.PoolTag {
				s.Pool = wire.Or(t.Value, "")
			}
		}
	}
	return s
}
