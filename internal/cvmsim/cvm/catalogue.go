package cvm

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type describeRegionsRequest struct{}

type describeRegionsResponse struct {
	TotalCount int          `json:"TotalCount"`
	RegionSet  []wireRegion `json:"RegionSet"`
}

type wireRegion struct {
	Region      string `json:"Region"`
	RegionName  string `json:"RegionName"`
	RegionState string `json:"RegionState"`
}

func describeRegions(*world.World, *api.Call, *describeRegionsRequest) (*describeRegionsResponse, *wire.Error) {
	answer := &describeRegionsResponse{TotalCount: len(world.Regions)}
	for _, r := range world.Regions {
		answer.RegionSet = append(answer.RegionSet, wireRegion{r.ID, r.Name, "AVAILABLE"})
	}
	return answer, nil
}

type describeZonesRequest struct{}

type describeZonesResponse struct {
	TotalCount int        `json:"TotalCount"`
	ZoneSet    []wireZone `json:"ZoneSet"`
}

type wireZone struct {
	Zone      string `json:"Zone"`
	ZoneName  string `json:"ZoneName"`
	ZoneID    string `json:"ZoneId"`
	ZoneState string `json:"ZoneState"`
}

func describeZones(_ *world.World, c *api.Call, _ *describeZonesRequest) (*describeZonesResponse, *wire.Error) {
	answer := &describeZonesResponse{TotalCount: len(world.RegionByID[c.Region].Zones)}
	for _, z := range world.RegionByID[c.Region].Zones {
		state := "AVAILABLE"
		if z.Retired {
			state = "UNAVAILABLE"
		}
		answer.ZoneSet = append(answer.ZoneSet, wireZone{z.ID, z.Name, z.Number, state})
	}
	return answer, nil
}

type describeInstanceTypeConfigsRequest struct {
	Filters []filterParams `json:"Filters,omitempty"`
}

type describeInstanceTypeConfigsResponse struct {
	InstanceTypeConfigSet []wireTypeConfig `json:"InstanceTypeConfigSet"`
}

type wireTypeConfig struct {
	Zone           string  `json:"Zone"`
	InstanceType   string  `json:"InstanceType"`
	InstanceFamily string  `json:"InstanceFamily"`
	GPU            int64   `json:"GPU"`
	CPU            int64   `json:"CPU"`
	Memory         int64   `json:"Memory"`
	FPGA           int64   `json:"FPGA"`
	GPUCount       float64 `json:"GpuCount"`
}

// describeInstanceTypeConfigs lists what a region's zones have; a filter may
// have one value (cvm models.go).
func describeInstanceTypeConfigs(w *world.World, c *api.Call, p *describeInstanceTypeConfigsRequest) (*describeInstanceTypeConfigsResponse, *wire.Error) {
	filters, failure := readFilters(p.Filters, 1, oneOf("zone", "instance-family", "instance-type"))
	if failure != nil {
		return nil, failure
	}
	if failure := checkZones(c.Region, valuesOf(filters, "zone")...); failure != nil {
		return nil, failure
	}
	answer := &describeInstanceTypeConfigsResponse{InstanceTypeConfigSet: []wireTypeConfig{}}
	for _, o := range w.OffersIn(c.Region) {
		t := world.TypeByName[o.SKU.Type]
		if o.SKU.Charge == world.ChargeHourly && passes(filters, "zone", o.SKU.Zone) &&
			passes(filters, "instance-family", t.Family()) && passes(filters, "instance-type", t.Name) {
			answer.InstanceTypeConfigSet = append(answer.InstanceTypeConfigSet, wireTypeConfig{
				Zone: o.SKU.Zone, InstanceType: t.Name, InstanceFamily: t.Family(), GPU: t.GPU, CPU: t.CPU, Memory: t.Memory,
				GPUCount: float64(t.GPU),
			})
		}
	}
	return answer, nil
}
