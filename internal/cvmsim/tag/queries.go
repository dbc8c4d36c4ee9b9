package tag

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Limits of the tag API's queries (tag models.go).
const (
	defaultTagLimit    = 15
	maxTagLimit        = 1000
	maxTagFilters      = 10
	maxTagResourceIDs  = 50
	instancePrefix     = "instance"
	serviceOfInstances = "cvm"
)

type tagFilter struct {
	TagKey   *string  `json:"TagKey,omitempty"`
	TagValue []string `json:"TagValue,omitempty"`
}

type describeResourcesByTagsRequest struct {
	TagFilters     []tagFilter `json:"TagFilters,omitempty"`
	CreateUin      *uint64     `json:"CreateUin,omitempty"`
	Offset         *uint64     `json:"Offset,omitempty"`
	Limit          *uint64     `json:"Limit,omitempty"`
	ResourcePrefix *string     `json:"ResourcePrefix,omitempty"`
	ResourceID     *string     `json:"ResourceId,omitempty"`
	ResourceRegion *string     `json:"ResourceRegion,omitempty"`
	ServiceType    *string     `json:"ServiceType,omitempty"`
}

type describeResourcesByTagsResponse struct {
	TotalCount int               `json:"TotalCount"`
	Offset     uint64            `json:"Offset"`
	Limit      uint64            `json:"Limit"`
	Rows       []wireResourceTag `json:"Rows"`
}

type wireResourceTag struct {
	ResourceRegion string    `json:"ResourceRegion"`
	ServiceType    string    `json:"ServiceType"`
	ResourcePrefix string    `json:"ResourcePrefix"`
	ResourceID     string    `json:"ResourceId"`
	Tags           []wireTag `json:"Tags"`
}

type wireTag struct {
	TagKey   string `json:"TagKey"`
	TagValue string `json:"TagValue"`
}

// describeResourcesByTags lists the instances that have all the tags.
func describeResourcesByTags(w *world.World, _ *api.Call, p *describeResourcesByTagsRequest) (*describeResourcesByTagsResponse, *wire.Error) {
	filters, failure := readTagFilters(p.TagFilters)
	if failure != nil {
		return nil, failure
	}
	if len(filters) == 0 {
		return nil, wire.Missing("TagFilters")
	}
	var found []*world.Instance
	for _, in := range taggedWith(w, wire.Or(p.ResourceRegion, ""), filters) {
		if api.Fits(wire.Or(p.ResourceID, ""), in.ID) && api.Fits(wire.Or(p.ResourcePrefix, ""), instancePrefix) && api.Fits(wire.Or(p.ServiceType, ""), serviceOfInstances) {
			found = append(found, in)
		}
	}
	offset, limit, failure := tagPage(p.Offset, p.Limit)
	if failure != nil {
		return nil, failure
	}
	answer := &describeResourcesByTagsResponse{TotalCount: len(found), Offset: offset, Limit: limit, Rows: []wireResourceTag{}}
	for _, in := range slicePage(found, offset, limit) {
		answer.Rows = append(answer.Rows, wireResourceTag{in.Region, serviceOfInstances, instancePrefix, in.ID, serviceTags(in)})
	}
	return answer, nil
}

func readTagFilters(params []tagFilter) ([]world.Filter, *wire.Error) {
	if len(params) > maxTagFilters {
		return nil, wire.Fail("InvalidParameterValue.TagFiltersLengthExceeded", "There may be at most %d tag filters, not %d.", maxTagFilters, len(params))
	}
	var filters []world.Filter
	for _, p := range params {
		if wire.Or(p.TagKey, "") == "" {
			return nil, wire.Fail("InvalidParameterValue.TagFilters", "A tag filter has no `TagKey`.")
		}
		if len(p.TagValue) > 10 {
			return nil, wire.Fail("InvalidParameterValue.TagFiltersLengthExceeded", "A tag filter may have at most 10 values.")
		}
		f := world.Filter{Name: world.TagPrefix + *p.TagKey, Values: p.TagValue}
		if len(f.Values) == 0 {
			f = world.Filter{Name: "tag-key", Values: []string{*p.TagKey}}
		}
		filters = append(filters, f)
	}
	return filters, nil
}

// taggedWith lists the instances of a region, or of all, that pass filters.
func taggedWith(w *world.World, region string, filters []world.Filter) []*world.Instance {
	var found []*world.Instance
	for _, r := range world.Regions {
		if api.Fits(region, r.ID) {
			found = append(found, w.Query(r.ID, filters)...)
		}
	}
	return found
}

// tagPage checks the bounds of a page: Offset must be a multiple of Limit.
func tagPage(offset, limit *uint64) (uint64, uint64, *wire.Error) {
	size, start := wire.Or(limit, defaultTagLimit), wire.Or(offset, 0)
	if size < 1 || size > maxTagLimit {
		return 0, 0, wire.Fail("InvalidParameter", "`Limit` must be from 1 to %d, not %d.", maxTagLimit, size)
	}
	if start%size != 0 {
		return 0, 0, wire.Fail("InvalidParameterValue.OffsetInvalid", "`Offset` must be a multiple of `Limit`.")
	}
	return start, size, nil
}

func slicePage[T any](items []T, offset, limit uint64) []T {
	from := min(offset, uint64(len(items)))
	return items[from:min(from+limit, uint64(len(items)))]
}

func serviceTags(in *world.Instance) []wireTag {
	tags := []wireTag{}
	for _, t := range in.Tags {
		tags = append(tags, wireTag{t.Key, t.Value})
	}
	return tags
}

type describeResourceTagsByResourceIDsRequest struct {
	ServiceType    *string  `json:"ServiceType,omitempty"`
	ResourcePrefix *string  `json:"ResourcePrefix,omitempty"`
	ResourceIDs    []string `json:"ResourceIds,omitempty"`
	ResourceRegion *string  `json:"ResourceRegion,omitempty"`
	Offset         *uint64  `json:"Offset,omitempty"`
	Limit          *uint64  `json:"Limit,omitempty"`
	Category       *string  `json:"Category,omitempty"`
}

type describeResourceTagsByResourceIDsResponse struct {
	TotalCount int           `json:"TotalCount"`
	Offset     uint64        `json:"Offset"`
	Limit      uint64        `json:"Limit"`
	Tags       []wireTagLink `json:"Tags"`
}

type wireTagLink struct {
	TagKey      string `json:"TagKey"`
	TagValue    string `json:"TagValue"`
	ResourceID  string `json:"ResourceId"`
	ServiceType string `json:"ServiceType"`
}

// describeResourceTagsByResourceIDs lists the tags of instances, one row a tag.
func describeResourceTagsByResourceIDs(w *world.World, _ *api.Call, p *describeResourceTagsByResourceIDsRequest) (*describeResourceTagsByResourceIDsResponse, *wire.Error) {
	switch {
	case wire.Or(p.ServiceType, "") != serviceOfInstances:
		return nil, wire.Fail("InvalidParameterValue.ServiceTypeInvalid", "`ServiceType` must be cvm.")
	case wire.Or(p.ResourcePrefix, "") != instancePrefix:
		return nil, wire.Fail("InvalidParameterValue.ResourcePrefixInvalid", "`ResourcePrefix` must be instance.")
	case world.RegionByID[wire.Or(p.ResourceRegion, "")] == nil:
		return nil, wire.Fail("InvalidParameterValue.RegionInvalid", "`ResourceRegion` must be a region.")
	case len(p.ResourceIDs) == 0 || len(p.ResourceIDs) > maxTagResourceIDs:
		return nil, wire.Fail("InvalidParameterValue.ResourceIdInvalid", "There must be 1 to %d `ResourceIds`, not %d.", maxTagResourceIDs, len(p.ResourceIDs))
	}
	offset, limit, failure := tagPage(p.Offset, p.Limit)
	if failure != nil {
		return nil, failure
	}
	links := []wireTagLink{}
	for _, id := range p.ResourceIDs {
		if in := w.Visible(id); in != nil && in.Region == *p.ResourceRegion {
			for _, t := range in.Tags {
				links = append(links, wireTagLink{t.Key, t.Value, id, serviceOfInstances})
			}
		}
	}
	return &describeResourceTagsByResourceIDsResponse{
		TotalCount: len(links), Offset: offset, Limit: limit, Tags: slicePage(links, offset, limit),
	}, nil
}
