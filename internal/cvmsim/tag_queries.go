package cvmsim

import "slices"

// Limits of the tag API's queries (tag models.go).
const (
	defaultTagLimit    = 15
	maxTagLimit        = 1000
	maxTagFilters      = 10
	maxTagResourceIDs  = 50
	instancePrefix     = "instance"
	serviceOfInstances = "cvm"
)

type modifyResourceTagsRequest struct {
	Resource    *string      `json:"Resource,omitempty"`
	ReplaceTags []serviceTag `json:"ReplaceTags,omitempty"`
	DeleteTags  []serviceKey `json:"DeleteTags,omitempty"`
}

type serviceKey struct {
	TagKey *string `json:"TagKey,omitempty"`
}

// modifyResourceTags sets and deletes tags of one resource; a key may not be
// in both lists.
func modifyResourceTags(w *world, c *call, p *modifyResourceTagsRequest) (*emptyResponse, *apiError) {
	if or(p.Resource, "") == "" {
		return nil, missing("Resource")
	}
	if len(p.ReplaceTags)+len(p.DeleteTags) == 0 {
		return nil, missing("ReplaceTags")
	}
	var set []Tag
	var remove []string
	var failure *apiError
	if len(p.ReplaceTags) > 0 {
		if set, failure = readServiceTags("ReplaceTags", p.ReplaceTags); failure != nil {
			return nil, failure
		}
	}
	for _, k := range p.DeleteTags {
		remove = append(remove, or(k.TagKey, ""))
	}
	if len(remove) > 0 {
		if failure := checkTagKeys("DeleteTags", remove); failure != nil {
			return nil, failure
		}
	}
	for _, t := range set {
		if slices.Contains(remove, t.Key) {
			return nil, fail("InvalidParameterValue.DeleteTagsParamError", "The tag key `%s` is to be set and deleted.", printable(t.Key))
		}
	}
	if failure := checkTagValues(w, set); failure != nil {
		return nil, failure
	}
	if failure := changeResource(w, c, *p.Resource, set, remove); failure != nil {
		return nil, failure
	}
	return &emptyResponse{}, nil
}

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
func describeResourcesByTags(w *world, _ *call, p *describeResourcesByTagsRequest) (*describeResourcesByTagsResponse, *apiError) {
	filters, failure := readTagFilters(p.TagFilters)
	if failure != nil {
		return nil, failure
	}
	if len(filters) == 0 {
		return nil, missing("TagFilters")
	}
	var found []*instance
	for _, in := range taggedWith(w, or(p.ResourceRegion, ""), filters) {
		if fits(or(p.ResourceID, ""), in.ID) && fits(or(p.ResourcePrefix, ""), instancePrefix) && fits(or(p.ServiceType, ""), serviceOfInstances) {
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

func readTagFilters(params []tagFilter) ([]filter, *apiError) {
	if len(params) > maxTagFilters {
		return nil, fail("InvalidParameterValue.TagFiltersLengthExceeded", "There may be at most %d tag filters, not %d.", maxTagFilters, len(params))
	}
	var filters []filter
	for _, p := range params {
		if or(p.TagKey, "") == "" {
			return nil, fail("InvalidParameterValue.TagFilters", "A tag filter has no `TagKey`.")
		}
		if len(p.TagValue) > 10 {
			return nil, fail("InvalidParameterValue.TagFiltersLengthExceeded", "A tag filter may have at most 10 values.")
		}
		f := filter{name: tagPrefix + *p.TagKey, values: p.TagValue}
		if len(f.values) == 0 {
			f = filter{name: "tag-key", values: []string{*p.TagKey}}
		}
		filters = append(filters, f)
	}
	return filters, nil
}

// taggedWith lists the instances of a region, or of all, that pass filters.
func taggedWith(w *world, region string, filters []filter) []*instance {
	var found []*instance
	for _, r := range regionTable {
		if fits(region, r.ID) {
			found = append(found, w.query(r.ID, filters)...)
		}
	}
	return found
}

// tagPage checks the bounds of a page: Offset must be a multiple of Limit.
func tagPage(offset, limit *uint64) (uint64, uint64, *apiError) {
	size, start := or(limit, defaultTagLimit), or(offset, 0)
	if size < 1 || size > maxTagLimit {
		return 0, 0, fail("InvalidParameter", "`Limit` must be from 1 to %d, not %d.", maxTagLimit, size)
	}
	if start%size != 0 {
		return 0, 0, fail("InvalidParameterValue.OffsetInvalid", "`Offset` must be a multiple of `Limit`.")
	}
	return start, size, nil
}

func slicePage[T any](items []T, offset, limit uint64) []T {
	from := min(offset, uint64(len(items)))
	return items[from:min(from+limit, uint64(len(items)))]
}

func serviceTags(in *instance) []wireTag {
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
func describeResourceTagsByResourceIDs(w *world, _ *call, p *describeResourceTagsByResourceIDsRequest) (*describeResourceTagsByResourceIDsResponse, *apiError) {
	switch {
	case or(p.ServiceType, "") != serviceOfInstances:
		return nil, fail("InvalidParameterValue.ServiceTypeInvalid", "`ServiceType` must be cvm.")
	case or(p.ResourcePrefix, "") != instancePrefix:
		return nil, fail("InvalidParameterValue.ResourcePrefixInvalid", "`ResourcePrefix` must be instance.")
	case regions[or(p.ResourceRegion, "")] == nil:
		return nil, fail("InvalidParameterValue.RegionInvalid", "`ResourceRegion` must be a region.")
	case len(p.ResourceIDs) == 0 || len(p.ResourceIDs) > maxTagResourceIDs:
		return nil, fail("InvalidParameterValue.ResourceIdInvalid", "There must be 1 to %d `ResourceIds`, not %d.", maxTagResourceIDs, len(p.ResourceIDs))
	}
	offset, limit, failure := tagPage(p.Offset, p.Limit)
	if failure != nil {
		return nil, failure
	}
	links := []wireTagLink{}
	for _, id := range p.ResourceIDs {
		if in := w.visible(id); in != nil && in.Region == *p.ResourceRegion {
			for _, t := range in.Tags {
				links = append(links, wireTagLink{t.Key, t.Value, id, serviceOfInstances})
			}
		}
	}
	return &describeResourceTagsByResourceIDsResponse{
		TotalCount: len(links), Offset: offset, Limit: limit, Tags: slicePage(links, offset, limit),
	}, nil
}
