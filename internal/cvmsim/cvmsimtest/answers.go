package cvmsimtest

import (
	"testing"
)

// Texts returns a list of strings in a response.
func Texts(list any) []string {
	var out []string
	items, _ := list.([]any)
	for _, item := range items {
		out = append(out, item.(string))
	}
	return out
}

// CodeOf returns the code of a response's error, or "".
func CodeOf(answer Object) string {
	failure, _ := answer["Error"].(Object)
	code, _ := failure["Code"].(string)
	return code
}

// Pick returns an object with these names only.
func Pick(from Object, names ...string) Object {
	out := Object{}
	for _, name := range names {
		out[name] = from[name]
	}
	return out
}

// TagsOf returns an instance's tags, or nil if it does not exist.
func TagsOf(sim *Sim, id string) map[string]string {
	for _, in := range sim.Server.Instances() {
		if in.InstanceID == id {
			return in.Tags
		}
	}
	return nil
}

// listings queries an instance in every way that the API has, and returns how often each found it.
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

// CheckListings fails if a query does not find an instance the wanted number of times.
func CheckListings(t *testing.T, a *Client, id string, want int) {
	t.Helper()
	for way, n := range listings(a, id) {
		if n != want {
			t.Errorf("%s: found %d times, want %d", way, n, want)
		}
	}
}
