package cvm

import (
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type describeInstancesRequest struct {
	named
	paged
	Filters []filterParams `json:"Filters,omitempty"`
}

type describeInstancesResponse struct {
	TotalCount  int            `json:"TotalCount"`
	InstanceSet []wireInstance `json:"InstanceSet"`
}

// describeInstances lists by IDs or by filters; it omits IDs that do not exist (cvm models.go,
// DescribeInstancesRequest).
func describeInstances(w *world.World, c *api.Call, p *describeInstancesRequest) (*describeInstancesResponse, *wire.Error) {
	found, failure := findInstances(w, c.Region, p)
	if failure != nil {
		return nil, failure
	}
	set, failure := page(p.paged, found, renderInstance)
	return &describeInstancesResponse{TotalCount: len(found), InstanceSet: set}, failure
}

func findInstances(w *world.World, region string, p *describeInstancesRequest) ([]*world.Instance, *wire.Error) {
	if len(p.InstanceIDs) > 0 && len(p.Filters) > 0 {
		return nil, wire.Fail("InvalidParameter", "`InstanceIds` and `Filters` exclude each other.")
	}
	if len(p.InstanceIDs) > 0 {
		return byIDs(w, region, p.named)
	}
	filters, failure := readFilters(p.Filters, 5, world.KnownFilter)
	if failure != nil {
		return nil, failure
	}
	for _, f := range filters {
		if failure := checkInstanceFilter(w, region, f); failure != nil {
			return nil, failure
		}
	}
	return w.Instances.Query(region, filters), nil
}

func byIDs(w *world.World, region string, p named) ([]*world.Instance, *wire.Error) {
	if failure := p.check(); failure != nil {
		return nil, failure
	}
	var found []*world.Instance
	for _, id := range p.InstanceIDs {
		if in := w.Instances.Visible(region, id); in != nil && !slices.Contains(found, in) {
			found = append(found, in)
		}
	}
	return found, nil
}

var filterForms = map[string]wire.Form{
	"instance-id": wire.InstanceID, "vpc-id": wire.VpcID, "subnet-id": wire.SubnetID, "security-group-id": wire.SecurityGroupID,
}

func checkInstanceFilter(w *world.World, region string, f world.Filter) *wire.Error {
	if form, ok := filterForms[f.Name]; ok {
		return form.Check(f.Values...)
	}
	switch f.Name {
	case "zone":
		return checkZones(region, f.Values...)
	case "creation-start-time", "creation-end-time":
		for _, v := range f.Values {
			if _, err := time.Parse(world.FilterTime, v); err != nil {
				return wire.Fail("InvalidParameterValue.InvalidTimeFormat", "`%s` must look like 2023-06-01 00:00:00.", f.Name)
			}
		}
	}
	if key, isTag := strings.CutPrefix(f.Name, world.TagPrefix); isTag && w.Settings.TagKeyNotFound && !w.Tags.HasKey(key) {
		return wire.Fail("InvalidParameterValue.TagKeyNotFound", "The tag key `%s` does not exist.", wire.Printable(key))
	}
	return nil
}

type describeInstancesStatusRequest struct {
	named
	paged
}

type describeInstancesStatusResponse struct {
	TotalCount        int          `json:"TotalCount"`
	InstanceStatusSet []wireStatus `json:"InstanceStatusSet"`
}

type wireStatus struct {
	InstanceID    string `json:"InstanceId"`
	InstanceState string `json:"InstanceState"`
}

// describeInstancesStatus lists states; it has no filters.
func describeInstancesStatus(w *world.World, c *api.Call, p *describeInstancesStatusRequest) (*describeInstancesStatusResponse, *wire.Error) {
	found, failure := findInstances(w, c.Region, &describeInstancesRequest{named: p.named})
	if failure != nil {
		return nil, failure
	}
	set, failure := page(p.paged, found, func(in *world.Instance) wireStatus { return wireStatus{in.ID, in.State} })
	return &describeInstancesStatusResponse{TotalCount: len(found), InstanceStatusSet: set}, failure
}
