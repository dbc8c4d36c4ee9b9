package tag_test

import (
	"net/http"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

const tooManyValues = "LimitExceeded.TagValue"

func tagging(a *cvmsimtest.Client, id string) map[string]func(value string) string {
	name := "qcs::cvm:ap-singapore:uin/:instance/" + id
	tags := func(value string) []object { return []object{{"TagKey": "k", "TagValue": value}} }
	return map[string]func(value string) string{
		"a launch": func(value string) string {
			return cvmsimtest.CodeOf(a.Call("cvm", "RunInstances", cvmsimtest.Launch(object{"TagSpecification": cvmsimtest.TagSpec("k", value)})))
		},
		"a dry run": func(value string) string {
			return cvmsimtest.CodeOf(a.Call("cvm", "RunInstances",
				cvmsimtest.Launch(object{"DryRun": true, "TagSpecification": cvmsimtest.TagSpec("k", value)})))
		},
		"TagResources": func(value string) string {
			return cvmsimtest.CodeOf(a.Call("tag", "TagResources", object{"ResourceList": []string{name}, "Tags": tags(value)}))
		},
		"ModifyResourceTags": func(value string) string {
			return cvmsimtest.CodeOf(a.Call("tag", "ModifyResourceTags", object{"Resource": name, "ReplaceTags": tags(value)}))
		},
	}
}

// A key has as many values as were ever used with it, in whatever region, and
// whether the machines that had them exist or not.
func TestTagValuesPerKey(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	limit := func(body string) {
		t.Helper()
		if status, answer := cvmsimtest.Control(t, sim, http.MethodPost, "settings", body); status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	gone := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{AvailabilityZone: "ap-tokyo-1", Tags: map[string]string{"k": "1"}})
	if err := sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: gone, State: "GONE"}); err != nil {
		t.Fatal(err)
	}
	id := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Tags: map[string]string{"k": "2"}})[0]
	a.OK("tag", "UnTagResources", object{"ResourceList": []string{"qcs::cvm:ap-singapore:uin/:instance/" + id}, "TagKeys": []string{"k"}})
	limit(`{"tag_values_per_key":2}`)
	before := len(sim.Server.Instances())
	for way, tag := range tagging(a, id) {
		if code := tag("3"); code != tooManyValues {
			t.Errorf("%s with a third value: %q", way, code)
		}
	}
	if n := len(sim.Server.Instances()); n != before {
		t.Errorf("%d instances, want %d", n, before)
	}
	for way, tag := range tagging(a, id) {
		if code := tag("1"); code != "" {
			t.Errorf("%s with a value that is known: %q", way, code)
		}
	}
	limit(`{"tag_values_per_key":3}`)
	if code := tagging(a, id)["a launch"]("3"); code != "" {
		t.Errorf("under a higher limit: %q", code)
	}
	if code := tagging(a, id)["a launch"]("4"); code != tooManyValues {
		t.Errorf("at the higher limit: %q", code)
	}
	limit(`{"tag_values_per_key":0}`)
	if code := tagging(a, id)["a launch"]("4"); code != "" {
		t.Errorf("without a limit: %q", code)
	}
}

// Values are remembered over restarts, and a reset forgets them.
func TestTagValuesSurvive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep := func(dir string) *cvmsimtest.Sim {
		return cvmsimtest.Start(t, func(o *cvmsim.Options) { o.StateDir, o.TagValuesPerKey = dir, 2 })
	}
	before := keep(dir)
	for _, value := range []string{"a/b", "=c"} {
		cvmsimtest.Seed(t, before, cvmsim.SeedRequest{Tags: map[string]string{"k": value}})
	}
	killed := keep(cvmsimtest.CopyOf(t, dir))
	if err := before.Server.Close(); err != nil {
		t.Fatal(err)
	}
	for name, sim := range map[string]*cvmsimtest.Sim{"killed": killed, "closed": keep(dir)} {
		a := cvmsimtest.NewClient(t, sim)
		run := tagging(a, "")["a launch"]
		if code := run("d"); code != tooManyValues {
			t.Errorf("%s: a third value: %q", name, code)
		}
		if code := run("a/b"); code != "" {
			t.Errorf("%s: a known value: %q", name, code)
		}
		if err := sim.Server.Reset(); err != nil {
			t.Fatal(err)
		}
		if code := run("d"); code != "" {
			t.Errorf("%s, reset: %q", name, code)
		}
	}
}
