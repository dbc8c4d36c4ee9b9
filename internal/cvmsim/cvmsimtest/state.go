package cvmsimtest

import (
	"os"
	"testing"
)

// CopyOf copies a state directory as a crash would leave it.
func CopyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// listings asks for an instance in every way in which the API shows one, and
// returns how often each found it.
func listings(a *Client, id string) map[string]int {
	name := "qcs::cvm:ap-singapore:uin/:instance/" + id
	byTag := []object{{"TagKey": "gpupool/pool", "TagValue": []string{"train"}}}
	count := func(list any) int { items, _ := list.([]any); return len(items) }
	return map[string]int{
		"all":              len(a.Describe(nil)),
		"by id":            len(a.Describe(object{"InstanceIds": []string{id}})),
		"by tag":           len(a.Describe(FilterBy("tag:gpupool/pool", "train"))),
		"by another field": len(a.Describe(FilterBy("zone", "ap-singapore-2"))),
		"states":           count(a.OK("cvm", "DescribeInstancesStatus", nil)["InstanceStatusSet"]),
		"state by id":      count(a.OK("cvm", "DescribeInstancesStatus", object{"InstanceIds": []string{id}})["InstanceStatusSet"]),
		"tagged":           count(a.OK("tag", "DescribeResourcesByTags", object{"TagFilters": byTag})["Rows"]),
		"resources":        count(a.OK("tag", "GetResources", object{"TagFilters": byTag})["ResourceTagMappingList"]),
		"resource by name": count(a.Call("tag", "GetResources", object{"ResourceList": []string{name}})["ResourceTagMappingList"]),
		"tags by id": count(a.OK("tag", "DescribeResourceTagsByResourceIds", object{
			"ServiceType": "cvm", "ResourcePrefix": "instance", "ResourceRegion": "ap-singapore", "ResourceIds": []string{id},
		})["Tags"]),
	}
}

func CheckListings(t *testing.T, a *Client, id string, want int) {
	t.Helper()
	for way, n := range listings(a, id) {
		if n != want {
			t.Errorf("%s: found %d times, want %d", way, n, want)
		}
	}
}
