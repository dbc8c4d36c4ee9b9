package tag

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// maxTagFilters is a limit of the tag API's queries (tag models.go).
const maxTagFilters = 10

type tagFilter struct {
	TagKey   *string  `json:"TagKey,omitempty"`
	TagValue []string `json:"TagValue,omitempty"`
}

type wireTag struct {
	TagKey   string `json:"TagKey"`
	TagValue string `json:"TagValue"`
}

// readTagFilters converts the filters of GetResources to those of the world.
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

func taggedWith(w *world.World, region string, filters []world.Filter) []*world.Instance {
	var found []*world.Instance
	for _, r := range world.Regions {
		if api.Fits(region, r.ID) {
			found = append(found, w.Instances.Query(r.ID, filters)...)
		}
	}
	return found
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
