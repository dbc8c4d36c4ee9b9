package control_test

import (
	"bytes"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

type object = map[string]any

func TestControlSurface(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	do := func(method, path, body string) object {
		t.Helper()
		status, answer := cvmsimtest.Control(t, sim, method, path, body)
		if status != http.StatusOK {
			t.Fatalf("%s %s: %d %v", method, path, status, answer)
		}
		return answer
	}
	do("POST", "stock", `{"availability_zone":"ap-singapore-2","instance_type":"GN7.2XLARGE32","stock":100,"vcpu_quota":1000}`)
	do("POST", "price", `{"availability_zone":"ap-singapore-2","instance_type":"GN7.2XLARGE32","price":"2.40"}`)
	do("POST", "settings", `{"tag_delay":"0s","launch_delay":"1ms"}`)
	ids := a.Run(object{"InstanceCount": 50, "TagSpecification": cvmsimtest.TagSpec("gpupool/pool", "train", "gpupool/uid", "u1", "gpupool/seq", "7",
		"gpupool/config", "v1-ab")})
	do("POST", "clock", `{"step":"20m"}`)
	first := do("GET", "instances", "")["instances"].([]any)[0].(object)
	want := object{
		"instance_id": ids[0], "pool": "train", "state": "RUNNING", "region": "ap-singapore", "availability_zone": "ap-singapore-2",
		"instance_type": "GN7.2XLARGE32", "charge_type": "SPOTPAID", "seq": "7", "uid": "u1", "config": "v1-ab",
		"tags": object{"gpupool/pool": "train", "gpupool/uid": "u1", "gpupool/seq": "7", "gpupool/config": "v1-ab"},
	}
	got := object{}
	for name := range want {
		got[name] = first[name]
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if taken := cvmsimtest.Texts(do("POST", "reclaim", `{"pool":"train","count":1}`)["instance_ids"]); !slices.Equal(taken, ids[:1]) {
		t.Errorf("reclaimed %v", taken)
	}
	do("POST", "reclaim", `{"instance_ids":["`+ids[1]+`"]}`)
	do("POST", "state", `{"instance_ids":["`+ids[2]+`"],"state":"STOPPED"}`)
	do("POST", "instances", `{"availability_zone":"ap-tokyo-1","instance_type":"GN7.2XLARGE32","pool":"serve","count":3,"tags":{"a":"b"}}`)
	if n := len(do("GET", "instances", "")["instances"].([]any)); n != 51 {
		t.Errorf("%d instances", n)
	}
	do("POST", "faults", `{"kind":"throttle","action":"DescribeInstances","count":2}`)
	if n := len(do("GET", "faults", "")["faults"].([]any)); n != 1 {
		t.Errorf("%d faults", n)
	}
	do("DELETE", "faults", "")
	a.Describe(nil)
	calls := do("GET", "calls?action=RunInstances", "")["calls"].([]any)
	if len(calls) != 1 || calls[0].(object)["took_effect"] != true || calls[0].(object)["outcome"] != "ok" {
		t.Errorf("calls: %v", calls)
	}
	do("DELETE", "calls", "")
	if n := len(do("GET", "calls", "")["calls"].([]any)); n != 0 {
		t.Errorf("%d calls", n)
	}
	do("POST", "reset", "")
	if n := len(do("GET", "instances", "")["instances"].([]any)); n != 0 {
		t.Errorf("%d instances after the reset", n)
	}
}

// Bad input names its field and changes nothing.
func TestControlRefusals(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	onDemand := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{ChargeType: "POSTPAID_BY_HOUR", Pool: "train"})[0]
	pair := `"availability_zone":"ap-singapore-2","instance_type":"GN7.2XLARGE32"`
	for _, test := range []struct{ path, body, field string }{
		{"stock", `{"availability_zone":"x","instance_type":"GN7.2XLARGE32"}`, "availability_zone"},
		{"stock", `{"availability_zone":"ap-singapore-2","instance_type":"x"}`, "instance_type"},
		{"stock", `{` + pair + `,"stock":-1}`, "stock"},
		{"stock", `{` + pair + `,"stock":"many"}`, "stock"},
		{"stock", `{` + pair + `,"vcpu_quota":-1}`, "vcpu_quota"},
		{"stock", `{` + pair + `,"charge_type":"FREE"}`, "charge_type"},
		{"stock", `{` + pair + `,"stonk":1}`, "stonk"},
		{"stock", `[]`, "body"},
		{"stock", ``, "body"},
		{"price", `{` + pair + `,"price":"cheap"}`, "price"},
		{"price", `{` + pair + `,"price":2.4}`, "price"},
		{"reclaim", `{}`, "instance_ids"},
		{"reclaim", `{"instance_ids":["ins-nothere0"]}`, "instance_ids"},
		{"reclaim", `{"instance_ids":["` + onDemand + `"]}`, "instance_ids"},
		{"reclaim", `{"instance_ids":["x"],"pool":"y"}`, "instance_ids"},
		{"reclaim", `{"pool":"train"}`, "count"},
		{"reclaim", `{"pool":"train","count":-1}`, "count"},
		{"reclaim", `{"pool":"train","view":"bang"}`, "view"},
		{"reclaim", `{"pool":"train","notice":"soon"}`, "notice"},
		{"reclaim", `{"pool":"train","notice":120}`, "notice"},
		{"faults", `{"kind":"earthquake"}`, "kind"},
		{"faults", `{"kind":"throttle","action":"Sing"}`, "action"},
		{"faults", `{"kind":"error"}`, "code"},
		{"faults", `{"kind":"throttle","count":-2}`, "count"},
		{"faults", `{"kind":"throttle","delay":"-1s"}`, "delay"},
		{"clock", `{"step":"-1m"}`, "step"},
		{"clock", `{"step":"later"}`, "step"},
		{"state", `{"instance_ids":["` + onDemand + `"],"charge_type":"FREE"}`, "charge_type"},
		{"settings", `{"tag_values_per_key":-1}`, "tag_values_per_key"},
		{"settings", `{"launch_delay":"-1s"}`, "launch_delay"},
		{"settings", `{"listing_delay":"-1s"}`, "listing_delay"},
		{"settings", `{"balance":"lots"}`, "balance"},
		{"state", `{"state":"RUNNING"}`, "instance_ids"},
		{"state", `{"instance_ids":["` + onDemand + `"],"state":"HAPPY"}`, "state"},
		{"instances", `{` + pair + `,"count":-1}`, "count"},
		{"instances", `{` + pair + `,"tags":{"qcs:x":"y"}}`, "tags"},
		{"instances", `{` + pair + `,"tags":{"x":1}}`, "tags.x"},
		{"instances", `{` + pair + `,"state":"HAPPY"}`, "state"},
	} {
		status, answer := cvmsimtest.Control(t, sim, http.MethodPost, test.path, test.body)
		failure, _ := answer["error"].(object)
		if status != http.StatusBadRequest || failure["field"] != test.field || failure["message"] == "" {
			t.Errorf("%s %s: %d %v, want 400 and the field %s", test.path, test.body, status, answer, test.field)
		}
	}
	if n := len(sim.Server.Instances()); n != 1 {
		t.Errorf("%d instances", n)
	}
}

// The three views of an interrupted instance.
func TestReclaimViews(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ view, state, source string }{
		{cvmsim.ViewVanish, "", ""},
		{cvmsim.ViewTerminating, "TERMINATING", "NOTISOLATED"},
		{cvmsim.ViewShutdown, "SHUTDOWN", "EXPIRE"},
	} {
		t.Run(test.view, func(t *testing.T) {
			t.Parallel()
			sim := cvmsimtest.Start(t)
			a := cvmsimtest.NewClient(t, sim)
			cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{Pool: "train"})
			if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train", View: test.view, Linger: cvmsim.Duration(time.Minute)}); err != nil {
				t.Fatal(err)
			}
			state, source := "", ""
			for _, in := range a.Describe(nil) {
				state, source = in["InstanceState"].(string), in["IsolatedSource"].(string)
			}
			if state != test.state || source != test.source {
				t.Errorf("looks like %q, %q; want %q, %q", state, source, test.state, test.source)
			}
			cvmsimtest.Step(t, sim, time.Minute)
			if left := a.Describe(nil); len(left) != 0 {
				t.Errorf("still there: %v", left)
			}
		})
	}
}

// Each endpoint and field is documented, and the help is where people look for it.
func TestHelpIsComplete(t *testing.T) {
	t.Parallel()
	help := cvmsim.ControlHelp()
	for _, v := range []any{
		cvmsim.Settings{}, cvmsim.Fault{}, cvmsim.StockRequest{}, cvmsim.PriceRequest{},
		cvmsim.ReclaimRequest{}, cvmsim.SeedRequest{}, cvmsim.StateRequest{},
	} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(v)) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || name == "-" {
				t.Errorf("%T: the field %s has no name", v, field.Name)
			}
			if !strings.Contains(help, `"`+name) {
				t.Errorf("%T: the field %s is not documented", v, name)
			}
		}
	}
	for _, kind := range api.FaultKinds {
		if !strings.Contains(help, kind) {
			t.Errorf("the fault %s is not documented", kind)
		}
	}
	sim := cvmsimtest.Start(t)
	resp, err := http.Get(sim.URL + "/_sim/help")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var served bytes.Buffer
	if _, err := served.ReadFrom(resp.Body); err != nil || served.String() != help {
		t.Errorf("GET /_sim/help: %v, %d bytes", err, served.Len())
	}
}
