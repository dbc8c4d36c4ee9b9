package tencent

import (
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

// Tag sets tags on instances. Where some could not be tagged the rest still is,
// and the error names them. Setting the same again changes nothing.
func (c *Client) Tag(ctx context.Context, region string, ids []string, tags map[string]string) error {
	return c.eachBatch(ctx, region, ids, slices.Sorted(maps.Keys(tags)), func(resources, keys []string) (tchttp.Request, tagAnswer) {
		request, response := tag.NewTagResourcesRequest(), tag.NewTagResourcesResponse()
		request.ResourceList = pointers(resources)
		for _, key := range keys {
			request.Tags = append(request.Tags, &tag.Tag{TagKey: pointer(key), TagValue: pointer(tags[key])})
		}
		return request, tagAnswer{response, func() []*tag.FailedResource { return response.Response.FailedResources }}
	})
}

// Untag takes tags off instances, as Tag sets them.
func (c *Client) Untag(ctx context.Context, region string, ids, keys []string) error {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	return c.eachBatch(ctx, region, ids, keys, func(resources, keys []string) (tchttp.Request, tagAnswer) {
		request, response := tag.NewUnTagResourcesRequest(), tag.NewUnTagResourcesResponse()
		request.ResourceList = pointers(resources)
		request.TagKeys = pointers(keys)
		return request, tagAnswer{response, func() []*tag.FailedResource { return response.Response.FailedResources }}
	})
}

// tagAnswer is an answer of the tag service, and the resources that it refuses.
type tagAnswer struct {
	tchttp.Response
	failed func() []*tag.FailedResource
}

func (c *Client) eachBatch(ctx context.Context, region string, ids, keys []string, build func(resources, keys []string) (tchttp.Request, tagAnswer)) error {
	account, err := c.AccountID(ctx)
	if err != nil {
		return err
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var problems []error
	for some := range slices.Chunk(ids, tagBatch) {
		resources := make([]string, len(some))
		for n, id := range some {
			resources[n] = fmt.Sprintf("qcs::cvm:%s:uin/%s:instance/%s", region, account, id)
		}
		for part := range slices.Chunk(keys, tagBatch) {
			request, response := build(resources, part)
			got, err := c.api.call(ctx, c.keys, region, request, response.Response)
			if err != nil {
				return errors.Join(append(problems, err)...)
			}
			if err := refusedTags(request.GetAction(), got.requestID, response.failed()); err != nil {
				problems = append(problems, err)
			}
		}
	}
	return errors.Join(problems...)
}

// refusedTags is the error of a call that went through for some resources only.
func refusedTags(action, requestID string, failed []*tag.FailedResource) error {
	var list []string
	code := ""
	for _, f := range failed {
		if f == nil {
			continue
		}
		resource := value(f.Resource)
		orDefault(&code, value(f.Code))
		list = append(list, fmt.Sprintf("%s (%s: %s)", resource[strings.LastIndex(resource, "/")+1:], value(f.Code), shorten(value(f.Message))))
	}
	if len(list) == 0 {
		return nil
	}
	r := ruleOf(code)
	return &spotpool.CloudError{
		Class: r.class, Scope: r.scope, NothingLaunched: true, Action: action, Code: code, RequestID: requestID, Remedy: r.remedy,
		Message: "these instances were refused: " + strings.Join(list, ", ") + ".",
	}
}
