package cvmsim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

func resource(id string) string { return "qcs::cvm:ap-singapore:uin/:instance/" + id }

func serviceTags(pairs ...string) []object {
	tags := []object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		tags = append(tags, object{"TagKey": pairs[i], "TagValue": pairs[i+1]})
	}
	return tags
}

func tagsOf(sim *cvmsimtest.Sim, id string) map[string]string {
	for _, in := range sim.Server.Instances() {
		if in.InstanceID == id {
			return in.Tags
		}
	}
	return nil
}

func TestTagResources(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	id := seed(t, sim, cvmsim.SeedRequest{Pool: "train", Tags: map[string]string{"team": "a"}})[0]
	named := "qcs::cvm:ap-singapore:uin/" + cvmsim.DemoAccountID + ":instance/" + id
	a.ok("tag", "TagResources", object{"ResourceList": []string{named}, "Tags": serviceTags("team", "b", "owner", "x")})
	a.ok("tag", "UnTagResources", object{"ResourceList": []string{resource(id)}, "TagKeys": []string{"gpupool/pool", "never-there"}})
	if d := cmp.Diff(map[string]string{"team": "b", "owner": "x"}, tagsOf(sim, id)); d != "" {
		t.Error(d)
	}
	a.ok("tag", "ModifyResourceTags", object{"Resource": resource(id), "ReplaceTags": serviceTags("team", "c"), "DeleteTags": []object{{"TagKey": "owner"}}})
	if d := cmp.Diff(map[string]string{"team": "c"}, tagsOf(sim, id)); d != "" {
		t.Error(d)
	}
}

// What can't be tagged is named; the rest is tagged all the same.
func TestTagResourcesInPart(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	id := seed(t, sim, cvmsim.SeedRequest{})[0]
	answer := a.ok("tag", "TagResources", object{"ResourceList": []string{resource("ins-nothere0"), resource(id)}, "Tags": serviceTags("team", "a")})
	failed := answer["FailedResources"].([]any)
	if len(failed) != 1 || failed[0].(object)["Code"] != "ResourceNotFound.RecordNotFound" || failed[0].(object)["Resource"] != resource("ins-nothere0") {
		t.Errorf("FailedResources is %v", failed)
	}
	if tagsOf(sim, id)["team"] != "a" {
		t.Error("the other one has no tag")
	}
}

func TestTagRules(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	id := seed(t, sim, cvmsim.SeedRequest{})[0]
	eleven := make([]string, 11)
	pairs := []string{}
	for i := range eleven {
		eleven[i] = resource(fmt.Sprintf("ins-%08d", i))
		pairs = append(pairs, fmt.Sprint("k", i), "v")
	}
	tag := func(list []string, pairs ...string) object {
		return object{"ResourceList": list, "Tags": serviceTags(pairs...)}
	}
	one := []string{resource(id)}
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
		a.refused(test.code, "tag", "TagResources", test.params)
	}
	a.refused("InvalidParameterValue.DeleteTagsParamError", "tag", "ModifyResourceTags", object{
		"Resource": resource(id), "ReplaceTags": serviceTags("k", "v"), "DeleteTags": []object{{"TagKey": "k"}},
	})
	a.region = ""
	a.ok("tag", "TagResources", tag(one, "k", "v")) // the tag API needs no region
}

func TestTagQueries(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	ids := seed(t, sim, cvmsim.SeedRequest{Pool: "train", Count: 17})
	seed(t, sim, cvmsim.SeedRequest{Pool: "train", AvailabilityZone: "ap-tokyo-1"})
	byTag := object{"TagFilters": []object{{"TagKey": "gpupool/pool", "TagValue": []string{"train"}}}, "ResourceRegion": "ap-singapore"}
	answer := a.ok("tag", "DescribeResourcesByTags", byTag)
	if n := len(answer["Rows"].([]any)); n != 15 || answer["TotalCount"] != 17.0 {
		t.Errorf("got %d of %v, want 15 of 17", n, answer["TotalCount"])
	}
	byTag["Offset"] = 7
	a.refused("InvalidParameterValue.OffsetInvalid", "tag", "DescribeResourcesByTags", byTag)
	links := a.ok("tag", "DescribeResourceTagsByResourceIds", object{
		"ServiceType": "cvm", "ResourcePrefix": "instance", "ResourceRegion": "ap-singapore", "ResourceIds": ids[:2],
	})["Tags"].([]any)
	if len(links) != 2 || links[1].(object)["TagValue"] != "train" || links[1].(object)["ResourceId"] != ids[1] {
		t.Errorf("got %v", links)
	}
	seen, token := 0, ""
	for pages := 1; ; pages++ {
		answer := a.ok("tag", "GetResources", object{"TagFilters": byTag["TagFilters"], "MaxResults": 10, "PaginationToken": token})
		seen += len(answer["ResourceTagMappingList"].([]any))
		if token = answer["PaginationToken"].(string); token == "" {
			if pages != 2 || seen != 18 {
				t.Errorf("%d resources on %d pages, want 18 on 2", seen, pages)
			}
			break
		}
	}
	a.refused("InvalidParameter.PaginationTokenInvalid", "tag", "GetResources", object{"PaginationToken": "???"})
}
