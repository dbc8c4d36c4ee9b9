package cvm_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

type object = map[string]any

func TestDescribeLimits(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
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
		{cvmsimtest.FilterBy("color", "red"), "InvalidFilter"},
		{cvmsimtest.FilterBy("tag:", "red"), "InvalidFilter"},
		{cvmsimtest.FilterBy("zone", "ap-tokyo-1"), "InvalidZone.MismatchRegion"},
		{cvmsimtest.FilterBy("vpc-id", "vpc"), "InvalidParameterValue.VpcIdMalformed"},
		{cvmsimtest.FilterBy("subnet-id", "subnet"), "InvalidParameterValue.SubnetIdMalformed"},
		{cvmsimtest.FilterBy("security-group-id", "sg"), "InvalidSgId.Malformed"},
		{cvmsimtest.FilterBy("creation-start-time", "yesterday"), "InvalidParameterValue.InvalidTimeFormat"},
		{object{"Limit": 101}, "InvalidParameterValue.LimitExceeded"},
		{object{"Limit": 0}, "InvalidParameterValue.LimitExceeded"},
		{object{"Offset": -1}, "InvalidParameterValue"},
	} {
		a.Refused(test.code, "cvm", "DescribeInstances", test.params)
	}
	a.Refused("UnknownParameter", "cvm", "DescribeInstancesStatus", cvmsimtest.FilterBy("zone", "ap-singapore-2"))
	if found := a.Describe(object{"InstanceIds": ids[:100]}); len(found) != 0 {
		t.Errorf("found %d of ids that don't exist", len(found))
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	train := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Pool: "train", UID: "u1", Count: 3, Name: "n"})
	serve := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{
		Pool: "serve", UID: "u2", AvailabilityZone: "ap-singapore-3", ChargeType: "POSTPAID_BY_HOUR", State: "STOPPED", Age: cvmsim.Duration(48 * time.Hour),
	})
	foreign := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Tags: map[string]string{"team": "a"}})
	cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Pool: "train", AvailabilityZone: "ap-tokyo-1"})
	yesterday := time.Now().Add(-24 * time.Hour).UTC().Format(time.DateTime)
	all := slices.Concat(train, serve, foreign)
	for name, test := range map[string]struct {
		params object
		want   []string
	}{
		"none":              {nil, all},
		"tag":               {cvmsimtest.FilterBy("tag:gpupool/pool", "train"), train},
		"tag that isn't":    {cvmsimtest.FilterBy("tag:gpupool/pool", "other"), nil},
		"several values":    {object{"Filters": []object{{"Name": "tag:gpupool/pool", "Values": []string{"serve", "train"}}}}, slices.Concat(train, serve)},
		"several filters":   {cvmsimtest.FilterBy("tag:gpupool/pool", "train", "instance-name", "n2"), train[1:2]},
		"contradiction":     {cvmsimtest.FilterBy("tag:gpupool/pool", "train", "zone", "ap-singapore-3"), nil},
		"two tags":          {cvmsimtest.FilterBy("tag:gpupool/pool", "serve", "tag:gpupool/uid", "u2"), serve},
		"tag key":           {cvmsimtest.FilterBy("tag-key", "gpupool/pool"), slices.Concat(train, serve)},
		"tag value":         {cvmsimtest.FilterBy("tag-value", "a"), foreign},
		"zone":              {cvmsimtest.FilterBy("zone", "ap-singapore-3"), serve},
		"state":             {cvmsimtest.FilterBy("instance-state", "STOPPED"), serve},
		"charge type":       {cvmsimtest.FilterBy("instance-charge-type", "POSTPAID_BY_HOUR"), serve},
		"id":                {cvmsimtest.FilterBy("instance-id", train[2]), train[2:]},
		"vpc":               {cvmsimtest.FilterBy("vpc-id", "vpc-seeded00"), all},
		"project":           {cvmsimtest.FilterBy("project-id", "0"), all},
		"created before":    {cvmsimtest.FilterBy("creation-end-time", yesterday), serve},
		"created since":     {cvmsimtest.FilterBy("creation-start-time", yesterday), slices.Concat(train, foreign)},
		"ids":               {object{"InstanceIds": []string{serve[0], "ins-nothere0"}}, serve},
		"a page":            {object{"Offset": 1, "Limit": 2}, train[1:]},
		"past the last one": {object{"Offset": 99}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := cvmsimtest.NewClient(t, sim)
			var got []string
			for _, in := range a.Describe(test.params) {
				got = append(got, in["InstanceId"].(string))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	status := a.OK("cvm", "DescribeInstancesStatus", object{"InstanceIds": serve})
	if state := status["InstanceStatusSet"].([]any)[0].(object)["InstanceState"]; state != "STOPPED" {
		t.Errorf("DescribeInstancesStatus says %v", state)
	}
}

func TestPagesOf20(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Count: 25})
	answer := cvmsimtest.NewClient(t, sim).OK("cvm", "DescribeInstances", nil)
	if n := len(answer["InstanceSet"].([]any)); n != 20 || answer["TotalCount"] != 25.0 {
		t.Errorf("got %d of %v, want 20 of 25", n, answer["TotalCount"])
	}
}

func TestLateTags(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.TagDelay = time.Minute })
	a := cvmsimtest.NewClient(t, sim)
	ids := a.Run(nil)
	byTag := cvmsimtest.FilterBy("tag:gpupool/pool", "train")
	if n := len(a.Describe(byTag)); n != 0 {
		t.Errorf("the filter finds %d at once", n)
	}
	if tags := a.Describe(object{"InstanceIds": ids})[0]["Tags"].([]any); len(tags) != 0 {
		t.Errorf("the instance shows %v at once", tags)
	}
	if pool := sim.Server.Instances()[0].Pool; pool != "train" {
		t.Errorf("the control surface says %q", pool)
	}
	cvmsimtest.Step(t, sim, time.Minute)
	if n := len(a.Describe(byTag)); n != 1 {
		t.Errorf("the filter finds %d a minute later", n)
	}
	a.OK("tag", "UnTagResources", object{"ResourceList": []string{cvmsimtest.Resource(ids[0])}, "TagKeys": []string{"gpupool/pool"}})
	if n := len(a.Describe(byTag)); n != 1 {
		t.Errorf("untagged at once: %d", n)
	}
	cvmsimtest.Step(t, sim, time.Minute)
	if n := len(a.Describe(byTag)); n != 0 {
		t.Errorf("still tagged a minute later: %d", n)
	}
}

func TestTagKeyNotFound(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.TagKeyNotFound = true })
	a := cvmsimtest.NewClient(t, sim)
	byTag := cvmsimtest.FilterBy("tag:gpupool/pool", "train")
	a.Refused("InvalidParameterValue.TagKeyNotFound", "cvm", "DescribeInstances", byTag)
	a.Run(nil)
	a.OK("cvm", "DescribeInstances", byTag)
}

// A page over 50,000 instances, as the server spends on it: the client's part
// is left out.
func BenchmarkDescribePage(b *testing.B) {
	sim := cvmsimtest.Start(b)
	for pool := range 1000 {
		cvmsimtest.Seed(b, sim, cvmsim.SeedRequest{Pool: fmt.Sprint("pool-", pool), UID: "u", Seq: "1", Config: "v1-0123456789", Count: 50})
	}
	a := cvmsimtest.NewClient(b, sim)
	for _, bench := range []struct {
		name   string
		params object
	}{
		{"by key, far page", object{"Filters": []object{{"Name": "tag-key", "Values": []string{"gpupool/pool"}}}, "Offset": 40000, "Limit": 100}},
		{"by pool and charge", object{"Filters": []object{
			{"Name": "tag:gpupool/pool", "Values": []string{"pool-7", "pool-900"}}, {"Name": "instance-charge-type", "Values": []string{"SPOTPAID"}}},
			"Limit": 100}},
		{"everything", object{"Offset": 49900, "Limit": 100}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				w := httptest.NewRecorder()
				sim.Server.ServeHTTP(w, a.Signed("cvm", "DescribeInstances", bench.params))
				if n := strings.Count(w.Body.String(), `"InstanceId"`); n != 100 {
					b.Fatalf("%d instances: %.300s", n, w.Body)
				}
			}
		})
	}
}
