package cvmsim_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

func TestDescribeLimits(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	ids := make([]string, 101)
	filters := make([]object, 11)
	for i := range ids {
		ids[i] = fmt.Sprintf("ins-%08d", i)
	}
	for i := range filters {
		filters[i] = object{"Name": "zone", "Values": []string{"ap-singapore-2"}}
	}
	for _, test := range []struct {
		params object
		code   string
	}{
		{object{"InstanceIds": ids}, "InvalidParameterValue.LimitExceeded"},
		{object{"InstanceIds": ids[:1], "Filters": filters[:1]}, "InvalidParameter"},
		{object{"InstanceIds": []string{"i-1"}}, "InvalidInstanceId.Malformed"},
		{object{"Filters": filters}, "InvalidFilterValue.LimitExceeded"},
		{object{"Filters": []object{{"Name": "instance-id", "Values": ids[:6]}}}, "InvalidFilterValue.LimitExceeded"},
		{object{"Filters": []object{{"Name": "zone"}}}, "MissingParameter"},
		{object{"Filters": []object{{"Values": ids[:1]}}}, "MissingParameter"},
		{filterBy("colour", "red"), "InvalidFilter"},
		{filterBy("tag:", "red"), "InvalidFilter"},
		{filterBy("zone", "ap-tokyo-1"), "InvalidZone.MismatchRegion"},
		{filterBy("vpc-id", "vpc"), "InvalidParameterValue.VpcIdMalformed"},
		{filterBy("subnet-id", "subnet"), "InvalidParameterValue.SubnetIdMalformed"},
		{filterBy("security-group-id", "sg"), "InvalidSgId.Malformed"},
		{filterBy("creation-start-time", "yesterday"), "InvalidParameterValue.InvalidTimeFormat"},
		{object{"Limit": 101}, "InvalidParameterValue.LimitExceeded"},
		{object{"Limit": 0}, "InvalidParameterValue.LimitExceeded"},
		{object{"Offset": -1}, "InvalidParameterValue"},
	} {
		a.refused(test.code, "cvm", "DescribeInstances", test.params)
	}
	a.refused("UnknownParameter", "cvm", "DescribeInstancesStatus", filterBy("zone", "ap-singapore-2"))
	if found := a.describe(object{"InstanceIds": ids[:100]}); len(found) != 0 {
		t.Errorf("found %d of ids that don't exist", len(found))
	}
}

func seed(tb testing.TB, sim *cvmsimtest.Sim, r cvmsim.SeedRequest) []string {
	tb.Helper()
	if r.AvailabilityZone == "" {
		r.AvailabilityZone = "ap-singapore-2"
	}
	if r.InstanceType == "" {
		r.InstanceType = "GN7.2XLARGE32"
	}
	ids, err := sim.Server.Seed(r)
	if err != nil {
		tb.Fatal(err)
	}
	return ids
}

func TestFilters(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := newAPI(t, sim)
	train := seed(t, sim, cvmsim.SeedRequest{Pool: "train", UID: "u1", Count: 3, Name: "n"})
	serve := seed(t, sim, cvmsim.SeedRequest{Pool: "serve", UID: "u2", AvailabilityZone: "ap-singapore-3", ChargeType: "POSTPAID_BY_HOUR", State: "STOPPED", Age: cvmsim.Duration(48 * time.Hour)})
	foreign := seed(t, sim, cvmsim.SeedRequest{Tags: map[string]string{"team": "a"}})
	seed(t, sim, cvmsim.SeedRequest{Pool: "train", AvailabilityZone: "ap-tokyo-1"})
	yesterday := time.Now().Add(-24 * time.Hour).UTC().Format(time.DateTime)
	all := slices.Concat(train, serve, foreign)
	for name, test := range map[string]struct {
		params object
		want   []string
	}{
		"none":              {nil, all},
		"tag":               {filterBy("tag:gpupool/pool", "train"), train},
		"tag that isn't":    {filterBy("tag:gpupool/pool", "other"), nil},
		"several values":    {object{"Filters": []object{{"Name": "tag:gpupool/pool", "Values": []string{"serve", "train"}}}}, slices.Concat(train, serve)},
		"several filters":   {filterBy("tag:gpupool/pool", "train", "instance-name", "n2"), train[1:2]},
		"contradiction":     {filterBy("tag:gpupool/pool", "train", "zone", "ap-singapore-3"), nil},
		"two tags":          {filterBy("tag:gpupool/pool", "serve", "tag:gpupool/uid", "u2"), serve},
		"tag key":           {filterBy("tag-key", "gpupool/pool"), slices.Concat(train, serve)},
		"tag value":         {filterBy("tag-value", "a"), foreign},
		"zone":              {filterBy("zone", "ap-singapore-3"), serve},
		"state":             {filterBy("instance-state", "STOPPED"), serve},
		"charge type":       {filterBy("instance-charge-type", "POSTPAID_BY_HOUR"), serve},
		"id":                {filterBy("instance-id", train[2]), train[2:]},
		"vpc":               {filterBy("vpc-id", "vpc-seeded00"), all},
		"project":           {filterBy("project-id", "0"), all},
		"created before":    {filterBy("creation-end-time", yesterday), serve},
		"created since":     {filterBy("creation-start-time", yesterday), slices.Concat(train, foreign)},
		"ids":               {object{"InstanceIds": []string{serve[0], "ins-nothere0"}}, serve},
		"a page":            {object{"Offset": 1, "Limit": 2}, train[1:]},
		"past the last one": {object{"Offset": 99}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, sim)
			var got []string
			for _, in := range a.describe(test.params) {
				got = append(got, in["InstanceId"].(string))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	status := a.ok("cvm", "DescribeInstancesStatus", object{"InstanceIds": serve})
	if state := status["InstanceStatusSet"].([]any)[0].(object)["InstanceState"]; state != "STOPPED" {
		t.Errorf("DescribeInstancesStatus says %v", state)
	}
}

func TestPagesOf20(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	seed(t, sim, cvmsim.SeedRequest{Count: 25})
	answer := newAPI(t, sim).ok("cvm", "DescribeInstances", nil)
	if n := len(answer["InstanceSet"].([]any)); n != 20 || answer["TotalCount"] != 25.0 {
		t.Errorf("got %d of %v, want 20 of 25", n, answer["TotalCount"])
	}
}

func TestLateTags(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.TagDelay = time.Minute })
	a := newAPI(t, sim)
	ids := a.run(nil)
	byTag := filterBy("tag:gpupool/pool", "train")
	if n := len(a.describe(byTag)); n != 0 {
		t.Errorf("the filter finds %d at once", n)
	}
	if tags := a.describe(object{"InstanceIds": ids})[0]["Tags"].([]any); len(tags) != 0 {
		t.Errorf("the instance shows %v at once", tags)
	}
	if pool := sim.Server.Instances()[0].Pool; pool != "train" {
		t.Errorf("the control surface says %q", pool)
	}
	step(t, sim, time.Minute)
	if n := len(a.describe(byTag)); n != 1 {
		t.Errorf("the filter finds %d a minute later", n)
	}
	a.ok("tag", "UnTagResources", object{"ResourceList": []string{resource(ids[0])}, "TagKeys": []string{"gpupool/pool"}})
	if n := len(a.describe(byTag)); n != 1 {
		t.Errorf("untagged at once: %d", n)
	}
	step(t, sim, time.Minute)
	if n := len(a.describe(byTag)); n != 0 {
		t.Errorf("still tagged a minute later: %d", n)
	}
}

func TestTagKeyNotFound(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.TagKeyNotFound = true })
	a := newAPI(t, sim)
	byTag := filterBy("tag:gpupool/pool", "train")
	a.refused("InvalidParameterValue.TagKeyNotFound", "cvm", "DescribeInstances", byTag)
	a.run(nil)
	a.ok("cvm", "DescribeInstances", byTag)
}

// Whatever happens to instances, the index and the cache of queries find what
// a look at each instance finds, in the same order.
func TestQueriesAgreeWithScan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		server, err := cvmsim.New(cvmsim.Options{TerminateDelay: -1})
		if err != nil {
			rt.Fatal(err)
		}
		sim := &cvmsimtest.Sim{Server: server}
		pools := []string{"a", "b", "c"}
		rt.Repeat(map[string]func(*rapid.T){
			"seed": func(rt *rapid.T) {
				seed(t, sim, cvmsim.SeedRequest{Pool: rapid.SampledFrom(pools).Draw(rt, "pool"), Count: rapid.IntRange(1, 3).Draw(rt, "count")})
			},
			"vanish": func(rt *rapid.T) {
				if all := server.Instances(); len(all) > 0 {
					id := rapid.SampledFrom(all).Draw(rt, "instance").InstanceID
					if err := server.SetState(cvmsim.StateRequest{InstanceIDs: []string{id}, State: "GONE"}); err != nil {
						rt.Fatal(err)
					}
				}
			},
			"retag": func(rt *rapid.T) {
				if all := server.Instances(); len(all) > 0 {
					id := rapid.SampledFrom(all).Draw(rt, "instance").InstanceID
					server.Retag(id, "gpupool/pool", rapid.SampledFrom(pools).Draw(rt, "pool"))
				}
			},
			"": func(rt *rapid.T) {
				for _, wanted := range [][]string{{"a"}, {"b", "c"}} {
					var want []string
					for _, in := range server.Instances() {
						if slices.Contains(wanted, in.Pool) {
							want = append(want, in.InstanceID)
						}
					}
					if got := server.Find("ap-singapore", "tag:gpupool/pool", wanted...); !slices.Equal(got, want) {
						rt.Fatalf("%v: found %v, want %v", wanted, got, want)
					}
				}
			},
		})
	})
}

// A page over 50,000 instances, as the server spends on it: the client's part
// is left out.
func BenchmarkDescribePage(b *testing.B) {
	sim := cvmsimtest.Start(b)
	for pool := range 1000 {
		seed(b, sim, cvmsim.SeedRequest{Pool: fmt.Sprint("pool-", pool), UID: "u", Seq: "1", Config: "v1-0123456789", Count: 50})
	}
	a := newAPI(b, sim)
	for _, bench := range []struct {
		name   string
		params object
	}{
		{"by key, far page", object{"Filters": []object{{"Name": "tag-key", "Values": []string{"gpupool/pool"}}}, "Offset": 40000, "Limit": 100}},
		{"by pool and charge", object{"Filters": []object{
			{"Name": "tag:gpupool/pool", "Values": []string{"pool-7", "pool-900"}}, {"Name": "instance-charge-type", "Values": []string{"SPOTPAID"}}}, "Limit": 100}},
		{"everything", object{"Offset": 49900, "Limit": 100}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				w := httptest.NewRecorder()
				sim.Server.ServeHTTP(w, a.signed("cvm", "DescribeInstances", bench.params))
				if n := strings.Count(w.Body.String(), `"InstanceId"`); n != 100 {
					b.Fatalf("%d instances: %.300s", n, w.Body)
				}
			}
		})
	}
}
