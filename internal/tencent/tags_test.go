package tencent

import (
	"fmt"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestTagAndUntag(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1", Pool: "train", Count: 23})
	tags := map[string]string{}
	var keys []string
	for n := range 12 {
		keys = append(keys, fmt.Sprint("key", n))
		tags[keys[n]] = fmt.Sprint("value", n)
	}
	if err := client.Tag(t.Context(), testRegion, ids, tags); err != nil {
		t.Fatal(err)
	}
	if n := client.Calls()["TagResources"]; n != 6 {
		t.Errorf("%d calls for 23 instances and 12 tags, want 6", n)
	}
	for _, i := range sim.Instances() {
		for k, v := range tags {
			if i.Tags[k] != v {
				t.Fatalf("%s lacks %s=%s: %v", i.InstanceID, k, v, i.Tags)
			}
		}
	}
	if err := client.Untag(t.Context(), testRegion, ids, append(keys, spotpool.TagUID)); err != nil {
		t.Fatal(err)
	}
	for _, i := range sim.Instances() {
		if len(i.Tags) != 1 || i.Tags[spotpool.TagPool] != "train" {
			t.Fatalf("%s has %v", i.InstanceID, i.Tags)
		}
	}
}
