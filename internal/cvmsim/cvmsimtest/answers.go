package cvmsimtest

import (
	"testing"
)

// Texts is a list of strings in an answer.
func Texts(list any) []string {
	var out []string
	items, _ := list.([]any)
	for _, item := range items {
		out = append(out, item.(string))
	}
	return out
}

// CodeOf is the code of an answer's error, or "".
func CodeOf(answer Object) string {
	failure, _ := answer["Error"].(Object)
	code, _ := failure["Code"].(string)
	return code
}

// Pick is an object with these names alone.
func Pick(from Object, names ...string) Object {
	out := Object{}
	for _, name := range names {
		out[name] = from[name]
	}
	return out
}

// TagsOf are an instance's tags, or nil where it is gone.
func TagsOf(sim *Sim, id string) map[string]string {
	for _, in := range sim.Server.Instances() {
		if in.InstanceID == id {
			return in.Tags
		}
	}
	return nil
}

// listings asks for an instance in every way in which the API shows one, and
// returns how often each found it.
func listings(a *Client, id string) map[string]int {
	name := "qcs::cvm:ap-singapore:uin/:instance/" + id
	byTag := []Object{{"TagKey": "gpupool/pool", "TagValue": []string{"train"}}}
	count := func(list any) int { items, _ := list.([]any); return len(items) }
	return map[string]int{
		"all":              len(a.Describe(nil)),
		"by id":            len(a.Describe(Object{"InstanceIds": []string{id}})),
		"by tag":           len(a.Describe(FilterBy("tag:gpupool/pool", "train"))),
		"by another field": len(a.Describe(FilterBy("zone", "ap-singapore-2"))),
		"states":           count(a.OK("cvm", "DescribeInstancesStatus", nil)["InstanceStatusSet"]),
		"state by id":      count(a.OK("cvm", "DescribeInstancesStatus", Object{"InstanceIds": []string{id}})["InstanceStatusSet"]),
		"resources":        count(a.OK("tag", "GetResources", Object{"TagFilters": byTag})["ResourceTagMappingList"]),
		"resource by name": count(a.Call("tag", "GetResources", Object{"ResourceList": []string{name}})["ResourceTagMappingList"]),
	}
}

// CheckListings fails where any way shows an instance not as often as wanted.
func CheckListings(t *testing.T, a *Client, id string, want int) {
	t.Helper()
	for way, n := range listings(a, id) {
		if n != want {
			t.Errorf("%s: found %d times, want %d", way, n, want)
		}
	}
}
