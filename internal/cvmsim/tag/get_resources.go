package tag

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// Limits of GetResources (tag models.go).
const (
	defaultMaxResults = 50
	maxMaxResults     = 200
)

type getResourcesRequest struct {
	ResourceList    []string    `json:"ResourceList,omitempty"`
	TagFilters      []tagFilter `json:"TagFilters,omitempty"`
	PaginationToken *string     `json:"PaginationToken,omitempty"`
	MaxResults      *uint64     `json:"MaxResults,omitempty"`
}

type getResourcesResponse struct {
	PaginationToken        string           `json:"PaginationToken"`
	ResourceTagMappingList []wireTagMapping `json:"ResourceTagMappingList"`
}

type wireTagMapping struct {
	Resource string    `json:"Resource"`
	Tags     []wireTag `json:"Tags"`
}

// getResources lists tagged instances, page by page; an empty token ends the
// list.
func getResources(w *world.World, c *api.Call, p *getResourcesRequest) (*getResourcesResponse, *wire.Error) {
	size := wire.Or(p.MaxResults, defaultMaxResults)
	if size < 1 || size > maxMaxResults {
		return nil, wire.Fail("InvalidParameter", "`MaxResults` must be from 1 to %d, not %d.", maxMaxResults, size)
	}
	offset, failure := readPageToken(wire.Or(p.PaginationToken, ""))
	if failure != nil {
		return nil, failure
	}
	found, failure := resourcesOf(w, c, p)
	if failure != nil {
		return nil, failure
	}
	answer := &getResourcesResponse{ResourceTagMappingList: []wireTagMapping{}}
	for _, in := range slicePage(found, offset, size) {
		name := "qcs::cvm:" + in.Region + ":uin/" + c.Account.ID + ":instance/" + in.ID
		answer.ResourceTagMappingList = append(answer.ResourceTagMappingList, wireTagMapping{name, serviceTags(in)})
	}
	if next := offset + size; next < uint64(len(found)) {
		answer.PaginationToken = base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatUint(next, 10)))
	}
	return answer, nil
}

func readPageToken(token string) (uint64, *wire.Error) {
	if token == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	offset, numErr := strconv.ParseUint(string(raw), 10, 32)
	if err != nil || numErr != nil {
		return 0, wire.Fail("InvalidParameter.PaginationTokenInvalid", "The `PaginationToken` is not one of this API.")
	}
	return offset, nil
}

func resourcesOf(w *world.World, c *api.Call, p *getResourcesRequest) ([]*world.Instance, *wire.Error) {
	filters, failure := readTagFilters(p.TagFilters)
	if failure != nil {
		return nil, failure
	}
	if len(p.ResourceList) == 0 {
		tagged := taggedWith(w, "", filters)
		return slices.DeleteFunc(slices.Clone(tagged), func(in *world.Instance) bool { return len(in.Tags) == 0 }), nil
	}
	var found []*world.Instance
	for _, name := range p.ResourceList {
		in, failure := resource(w, c, name)
		if failure != nil {
			return nil, failure
		}
		if !slices.ContainsFunc(filters, func(f world.Filter) bool { return !f.Matches(in) }) {
			found = append(found, in)
		}
	}
	return found, nil
}
