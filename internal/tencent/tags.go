package tencent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	tchttp "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/http"
	tag "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/tag/v20180813"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// tagBatch is the most resources, and the most tags, of one call of the tag
// service ("N 0~9" in TagResources and UnTagResources).
const tagBatch = 10

// Tag sets tags on instances. Where some could not be tagged, the others still are,
// and the error names those. Setting the same again changes nothing.
func (c *Client) Tag(ctx context.Context, region string, ids []string, tags map[string]string) error {
	_, err := c.eachBatch(ctx, region, ids, slices.Sorted(maps.Keys(tags)), func(resources, keys []string) (tchttp.Request, tagAnswer) {
		request, response := tag.NewTagResourcesRequest(), tag.NewTagResourcesResponse()
		request.ResourceList = pointers(resources)
		for _, key := range keys {
			request.Tags = append(request.Tags, &tag.Tag{TagKey: pointer(key), TagValue: pointer(tags[key])})
		}
		return request, tagAnswer{response, func() []*tag.FailedResource { return response.Response.FailedResources }}
	})
	return err
}

// Untag takes tags off instances, likewise. An instance that is gone has none any
// more.
func (c *Client) Untag(ctx context.Context, region string, ids, keys []string) error {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	refused, err := c.eachBatch(ctx, region, ids, keys, func(resources, keys []string) (tchttp.Request, tagAnswer) {
		request, response := tag.NewUnTagResourcesRequest(), tag.NewUnTagResourcesResponse()
		request.ResourceList = pointers(resources)
		request.TagKeys = pointers(keys)
		return request, tagAnswer{response, func() []*tag.FailedResource { return response.Response.FailedResources }}
	})
	if err == nil || len(refused) == 0 {
		return err
	}
	there, _, lookErr := c.ObserveInstances(ctx, region, refused)
	if lookErr != nil || len(there) > 0 {
		return err
	}
	return nil
}

// tagAnswer is an answer of the tag service, and the resources that it refuses.
type tagAnswer struct {
	tchttp.Response
	failed func() []*tag.FailedResource
}

// eachBatch makes the calls for all ids and keys. It returns the ids that were
// refused one by one, and none where a whole call failed.
func (c *Client) eachBatch(ctx context.Context, region string, ids, keys []string, build func(resources, keys []string) (tchttp.Request, tagAnswer)) ([]string,
	error) {
	account, err := c.AccountID(ctx)
	if err != nil {
		return nil, err
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var problems []error
	var refused []string
	for some := range slices.Chunk(ids, tagBatch) {
		resources := make([]string, len(some))
		for n, id := range some {
			resources[n] = fmt.Sprintf("qcs::cvm:%s:uin/%s:instance/%s", region, account, id)
		}
		for part := range slices.Chunk(keys, tagBatch) {
			request, response := build(resources, part)
			got, err := c.api.call(ctx, c.keys, region, request, response.Response)
			if err != nil {
				return nil, errors.Join(append(problems, err)...)
			}
			failed, err := refusedTags(request.GetAction(), got.requestID, response.failed())
			if err != nil {
				problems = append(problems, err)
				refused = append(refused, failed...)
			}
		}
	}
	return refused, errors.Join(problems...)
}

// refusedTags is the error of a call that succeeded for some resources only.
func refusedTags(action, requestID string, failed []*tag.FailedResource) ([]string, error) {
	var ids, list []string
	code := ""
	for _, f := range failed {
		if f == nil {
			continue
		}
		resource := value(f.Resource)
		code = cmp.Or(code, value(f.Code))
		id := resource[strings.LastIndex(resource, "/")+1:]
		ids = append(ids, id)
		list = append(list, fmt.Sprintf("%s (%s: %s)", id, value(f.Code), shorten(value(f.Message))))
	}
	if len(list) == 0 {
		return nil, nil
	}
	r := ruleOf(code)
	return ids, &spotpool.CloudError{
		Class: r.class, Scope: r.scope, NothingLaunched: true, Action: action, Code: code, RequestID: requestID, Remedy: r.remedy,
		Message: "these instances were refused: " + strings.Join(list, ", ") + ".",
	}
}
