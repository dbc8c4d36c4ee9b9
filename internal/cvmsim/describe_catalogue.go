package cvmsim

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

func describeRegions(*world, *call, *describeRegionsRequest) (*describeRegionsResponse, *apiError) {
	answer := &describeRegionsResponse{TotalCount: len(regionTable)}
	for _, r := range regionTable {
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

func describeZones(_ *world, c *call, _ *describeZonesRequest) (*describeZonesResponse, *apiError) {
	answer := &describeZonesResponse{TotalCount: len(regions[c.Region].Zones)}
	for _, z := range regions[c.Region].Zones {
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
func describeInstanceTypeConfigs(w *world, c *call, p *describeInstanceTypeConfigsRequest) (*describeInstanceTypeConfigsResponse, *apiError) {
	filters, failure := readFilters(p.Filters, 1, oneOf("zone", "instance-family", "instance-type"))
	if failure != nil {
		return nil, failure
	}
	if failure := checkZoneFilter(c.Region, filters); failure != nil {
		return nil, failure
	}
	answer := &describeInstanceTypeConfigsResponse{InstanceTypeConfigSet: []wireTypeConfig{}}
	for _, o := range w.offersIn(c.Region) {
		t := instanceTypes[o.SKU.Type]
		if o.SKU.Charge == chargeHourly && passes(filters, "zone", o.SKU.Zone) &&
			passes(filters, "instance-family", t.family()) && passes(filters, "instance-type", t.Name) {
			answer.InstanceTypeConfigSet = append(answer.InstanceTypeConfigSet, wireTypeConfig{
				Zone: o.SKU.Zone, InstanceType: t.Name, InstanceFamily: t.family(), GPU: t.GPU, CPU: t.CPU, Memory: t.Memory,
				GPUCount: float64(t.GPU),
			})
		}
	}
	return answer, nil
}
