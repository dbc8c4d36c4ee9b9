package cvmsim

import (
	"encoding/base64"
	"slices"
	"strconv"
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
func getResources(w *world, c *call, p *getResourcesRequest) (*getResourcesResponse, *apiError) {
	size := or(p.MaxResults, defaultMaxResults)
	if size < 1 || size > maxMaxResults {
		return nil, fail("InvalidParameter", "`MaxResults` must be from 1 to %d, not %d.", maxMaxResults, size)
	}
	offset, failure := readPageToken(or(p.PaginationToken, ""))
	if failure != nil {
		return nil, failure
	}
	found, failure := resourcesOf(w, c, p)
	if failure != nil {
		return nil, failure
	}
	answer := &getResourcesResponse{ResourceTagMappingList: []wireTagMapping{}}
	for _, in := range slicePage(found, offset, size) {
		name := "qcs::cvm:" + in.Region + ":uin/" + c.account.ID + ":instance/" + in.ID
		answer.ResourceTagMappingList = append(answer.ResourceTagMappingList, wireTagMapping{name, serviceTags(in)})
	}
	if next := offset + size; next < uint64(len(found)) {
		answer.PaginationToken = base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatUint(next, 10)))
	}
	return answer, nil
}

func readPageToken(token string) (uint64, *apiError) {
	if token == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	offset, numErr := strconv.ParseUint(string(raw), 10, 32)
	if err != nil || numErr != nil {
		return 0, fail("InvalidParameter.PaginationTokenInvalid", "The `PaginationToken` is not one of this API.")
	}
	return offset, nil
}

func resourcesOf(w *world, c *call, p *getResourcesRequest) ([]*instance, *apiError) {
	filters, failure := readTagFilters(p.TagFilters)
	if failure != nil {
		return nil, failure
	}
	if len(p.ResourceList) == 0 {
		tagged := taggedWith(w, "", filters)
		return slices.DeleteFunc(slices.Clone(tagged), func(in *instance) bool { return len(in.Tags) == 0 }), nil
	}
	var found []*instance
	for _, name := range p.ResourceList {
		in, failure := resource(w, c, name)
		if failure != nil {
			return nil, failure
		}
		if !slices.ContainsFunc(filters, func(f filter) bool { return !f.matches(in) }) {
			found = append(found, in)
		}
	}
	return found, nil
}
