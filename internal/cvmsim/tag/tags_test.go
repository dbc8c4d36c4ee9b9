package tag_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

type object = map[string]any

func TestTagResources(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	id := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Pool: "train", Tags: map[string]string{"team": "a"}})[0]
	named := "qcs::cvm:ap-singapore:uin/" + cvmsim.DemoAccountID + ":instance/" + id
	a.OK("tag", "TagResources", object{"ResourceList": []string{named}, "Tags": cvmsimtest.ServiceTags("team", "b", "owner", "x")})
	a.OK("tag", "UnTagResources", object{"ResourceList": []string{cvmsimtest.Resource(id)}, "TagKeys": []string{"gpupool/pool", "never-there"}})
	if d := cmp.Diff(map[string]string{"team": "b", "owner": "x"}, cvmsimtest.TagsOf(sim, id)); d != "" {
		t.Error(d)
	}
	a.OK("tag", "ModifyResourceTags", object{
		"Resource": cvmsimtest.Resource(id), "ReplaceTags": cvmsimtest.ServiceTags("team", "c"), "DeleteTags": []object{{"TagKey": "owner"}},
	})
	if d := cmp.Diff(map[string]string{"team": "c"}, cvmsimtest.TagsOf(sim, id)); d != "" {
		t.Error(d)
	}
}

// The response lists the resources that cannot be tagged; the others are tagged.
func TestTagResourcesInPart(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	id := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{})[0]
	answer := a.OK("tag", "TagResources", object{
		"ResourceList": []string{cvmsimtest.Resource("ins-nothere0"), cvmsimtest.Resource(id)}, "Tags": cvmsimtest.ServiceTags("team", "a"),
	})
	failed := answer["FailedResources"].([]any)
	if len(failed) != 1 || failed[0].(object)["Code"] != "ResourceNotFound.RecordNotFound" ||
		failed[0].(object)["Resource"] != cvmsimtest.Resource("ins-nothere0") {
		t.Errorf("FailedResources is %v", failed)
	}
	if cvmsimtest.TagsOf(sim, id)["team"] != "a" {
		t.Error("the other one has no tag")
	}
}

func TestTagRules(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	id := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{})[0]
	eleven := make([]string, 11)
	pairs := []string{}
	for i := range eleven {
		eleven[i] = cvmsimtest.Resource(fmt.Sprintf("ins-%08d", i))
		pairs = append(pairs, fmt.Sprint("k", i), "v")
	}
	tag := func(list []string, pairs ...string) object {
		return object{"ResourceList": list, "Tags": cvmsimtest.ServiceTags(pairs...)}
	}
	one := []string{cvmsimtest.Resource(id)}
	for _, test := range []struct {
		params object
		code   string
	}{
		{tag(nil, "k", "v"), "MissingParameter"},
		{tag(one), "MissingParameter"},
		{tag(eleven, "k", "v"), "LimitExceeded.ResourceNumPerRequest"},
		{tag(one, pairs...), "LimitExceeded.TagNumPerRequest"},
		{tag([]string{"ins-a1b2c3d4"}, "k", "v"), "InvalidParameterValue.ResourceDescriptionError"},
		{tag(one, "", "v"), "InvalidParameterValue.TagKeyEmpty"},
		{tag(one, "k", ""), "InvalidParameterValue.TagValueEmpty"},
		{tag(one, "project", "v"), "InvalidParameter.ReservedTagKey"},
		{tag(one, strings.Repeat("k", 128), "v"), "InvalidParameterValue.TagKeyLengthExceeded"},
		{tag(one, "k", strings.Repeat("v", 256)), "InvalidParameterValue.TagValueLengthExceeded"},
		{tag(one, "a*b", "v"), "InvalidParameterValue.TagKeyCharacterIllegal"},
		{tag(one, "k", "a*b"), "InvalidParameterValue.TagValueCharacterIllegal"},
		{tag(one, "k", "1", "k", "2"), "InvalidParameterValue.TagKeyDuplicate"},
	} {
		a.Refused(test.code, "tag", "TagResources", test.params)
	}
	a.Refused("InvalidParameterValue.DeleteTagsParamError", "tag", "ModifyResourceTags", object{
		"Resource": cvmsimtest.Resource(id), "ReplaceTags": cvmsimtest.ServiceTags("k", "v"), "DeleteTags": []object{{"TagKey": "k"}},
	})
	a.Region = ""
	a.OK("tag", "TagResources", tag(one, "k", "v")) // the tag API needs no region
}

func TestTagQueries(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Pool: "train", Count: 17})
	cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Pool: "train", AvailabilityZone: "ap-tokyo-1"})
	byTag := []object{{"TagKey": "gpupool/pool", "TagValue": []string{"train"}}}
	seen, token := 0, ""
	for pages := 1; ; pages++ {
		answer := a.OK("tag", "GetResources", object{"TagFilters": byTag, "MaxResults": 10, "PaginationToken": token})
		seen += len(answer["ResourceTagMappingList"].([]any))
		if token = answer["PaginationToken"].(string); token == "" {
			if pages != 2 || seen != 18 {
				t.Errorf("%d resources on %d pages, want 18 on 2", seen, pages)
			}
			break
		}
	}
	a.Refused("InvalidParameter.PaginationTokenInvalid", "tag", "GetResources", object{"PaginationToken": "???"})
}
