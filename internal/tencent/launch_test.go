package tencent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func isCanceled(err error) bool { return errors.Is(err, context.Canceled) }

func TestLaunchRequestBody(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal(runInstances(testRequest()))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"InstanceChargeType":"SPOTPAID","Placement":{"Zone":"ap-singapore-2","ProjectId":3},"InstanceType":"GN7.2XLARGE32","ImageId":"img-a1b2c3d4",` +
		`"SystemDisk":{"DiskType":"CLOUD_BSSD","DiskSize":100},"DataDisks":[{"DiskSize":200,"DiskType":"CLOUD_BSSD","DeleteWithInstance":true}],` +
		`"VirtualPrivateCloud":{"VpcId":"vpc-a1b2c3d4","SubnetId":"subnet-a1b2c3d4"},` +
		`"InternetAccessible":{"InternetChargeType":"BANDWIDTH_POSTPAID_BY_HOUR","InternetMaxBandwidthOut":1,"PublicIpAssigned":true},` +
		`"InstanceCount":2,"InstanceName":"gpupool-train-7-{R:1}","LoginSettings":{"KeyIds":["skey-a1b2c3d4"]},"SecurityGroupIds":["sg-a1b2c3d4"],` +
		`"ClientToken":"TOKEN","TagSpecification":[{"ResourceType":"instance","Tags":[{"Key":"env","Value":"test"},` +
		`{"Key":"gpupool/config","Value":"1:abc"},{"Key":"gpupool/pool","Value":"train"},{"Key":"gpupool/seq","Value":"7"},{"Key":"gpupool/uid","Value":"uid-1"},` +
		`{"Key":"team","Value":"a"}]}],"InstanceMarketOptions":{"SpotOptions":{"MaxPrice":"50.00","SpotInstanceType":"one-time"},"MarketType":"spot"},` +
		`"UserData":"IyEvYmluL3NoCmVjaG8gaGVsbG8K","CamRoleName":"gpu-node"}`
	if diff := cmp.Diff(strings.Replace(want, "TOKEN", testRequest().Token, 1), string(body)); diff != "" {
		t.Error(diff)
	}
	for range 50 {
		again, err := json.Marshal(runInstances(testRequest()))
		if err != nil || !bytes.Equal(again, body) {
			t.Fatalf("the same request gave another body: %s, %v", again, err)
		}
	}
}

// TestEveryFieldOfALaunchIsSent finds a field of a request that runInstances does not
// send: users could set it, and it would do nothing.
func TestEveryFieldOfALaunchIsSent(t *testing.T) {
	t.Parallel()
	unsent := map[string]string{
		"Region":         "the header X-TC-Region has it",
		"BootstrapToken": "Joining fills it into UserData, which is sent",

		"Configuration.UserDataWO":        "it is sent where UserData is empty",
		"Configuration.UserDataWOVersion": "it says when UserDataWO changed",
	}
	r := testRequest()
	body := func() string {
		data, err := json.Marshal(runInstances(r))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := body()
	changeEachField(t, reflect.ValueOf(&r).Elem(), "", func(field string) {
		switch sent, reason := body() != before, unsent[field]; {
		case !sent && reason == "":
			t.Errorf("another %s gives the same body: send it in runInstances, or list it here with the reason", field)
		case sent && reason != "":
			t.Errorf("%s is sent: take it off the list", field)
		}
		delete(unsent, field)
	})
	for field := range unsent {
		t.Errorf("a request has no field %s: take it off the list", field)
	}
	if body() != before {
		t.Fatal("changeEachField left a change behind")
	}
}

// changeEachField changes the fields in v one by one, calls check after each change, and
// undoes it.
func changeEachField(t *testing.T, v reflect.Value, field string, check func(field string)) {
	t.Helper()
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	switch v.Kind() {
	case reflect.Struct:
		for f, part := range v.Fields() {
			changeEachField(t, part, strings.TrimPrefix(field+"."+f.Name, "."), check)
		}
		return
	case reflect.Pointer, reflect.Slice:
		if v.IsZero() {
			t.Fatalf("testRequest leaves %s unset, so that nothing shows whether it is sent", field)
		}
		if v.Kind() == reflect.Slice {
			v = v.Index(0).Addr()
		}
		changeEachField(t, v.Elem(), field, check)
		return
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.String:
		v.SetString(v.String() + "0")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		t.Fatalf("changeEachField cannot change %s, a %s", field, v.Kind())
	}
	check(field)
	v.Set(old)
}

func TestLaunchOmitsDefaults(t *testing.T) {
	t.Parallel()
	r := testRequest()
	r.ChargeType, r.Offering.SpotMaxPrice = spotpool.OnDemand, 0
	r.Configuration = spotpool.Configuration{
		VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4", KeyIDs: []string{}, SecurityGroupIDs: []string{}, DataDisks: []spotpool.DataDisk{},
	}
	body, err := json.Marshal(runInstances(r))
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{
		"[]", "null", "InstanceMarketOptions", "KeyIds", "SecurityGroupIds", "DataDisks", "SystemDisk", "InternetAccessible", "UserData", "CamRoleName",
		"ProjectId", "Password", `:0`,
	} {
		if bytes.Contains(body, []byte(absent)) {
			t.Errorf("%s is in %s", absent, body)
		}
	}
	if !bytes.Contains(body, []byte(`"LoginSettings":{"KeepImageLogin":"true"}`)) {
		t.Errorf("a launch without keys must keep the image's login, or the cloud makes up a password: %s", body)
	}
	if r := testRequest(); marketOptions(r) == nil {
		t.Error("a capped spot launch needs its cap")
	} else if r.Offering.SpotMaxPrice = 0; marketOptions(r) != nil {
		t.Error("an uncapped spot launch bids the market price by leaving the options out")
	}
}

// Whatever happens to a launch on its way, it takes effect once.
func TestALaunchSurvivesFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]cvmsim.Fault{
		"throttled":            {Kind: cvmsim.FaultThrottle, Count: 2},
		"throttled by account": {Kind: cvmsim.FaultThrottle, Code: "RequestLimitExceeded.UinLimitExceeded"},
		"internal error":       {Kind: cvmsim.FaultError, Code: "InternalError.TradeUnknownError"},
		"server error":         {Kind: cvmsim.FaultError, Code: "InternalServerError"},
		"502 before":           {Kind: cvmsim.FaultHTTP502},
		"502 after":            {Kind: cvmsim.FaultHTTP502After, Count: 2},
		"cut short":            {Kind: cvmsim.FaultBadJSON},
		"reset before":         {Kind: cvmsim.FaultResetBefore},
		"reset after":          {Kind: cvmsim.FaultResetAfter, Count: 2},
		"no answer before":     {Kind: cvmsim.FaultTimeout, Delay: cvmsim.Duration(time.Minute)},
		"no answer after":      {Kind: cvmsim.FaultTimeoutAfter, Delay: cvmsim.Duration(time.Minute), Count: 2},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := cvmsimtest.Start(t)
			wire, url := record(t, sim.Server)
			config := testConfig(url)
			config.AttemptTimeout = 250 * time.Millisecond
			client := newClient(t, config)
			fault.Action = "RunInstances"
			addFault(t, sim.Server, fault)
			ids, _, err := client.Launch(t.Context(), testRequest())
			if err != nil || len(ids) != 2 {
				t.Fatalf("Launch: %v, %v", ids, err)
			}
			launched := sim.Server.Instances()
			if len(launched) != 2 {
				t.Errorf("%d instances, want 2", len(launched))
			}
			effects := 0
			for _, call := range callsOf(sim.Server, "RunInstances") {
				if call.ClientToken != "" && call.ClientToken != testRequest().Token {
					t.Errorf("another token: %s", call.ClientToken)
				}
				if call.TookEffect {
					effects++
				}
			}
			if effects != 1 {
				t.Errorf("%d calls took effect, want 1", effects)
			}
			bodies := wire.sent("RunInstances")
			if len(bodies) < 2 {
				t.Fatalf("the fault did not hit: %d requests", len(bodies))
			}
			for _, body := range bodies {
				if !bytes.Equal(body, bodies[0]) {
					t.Errorf("the repeated body differs:\n%s\n%s", bodies[0], body)
				}
			}
		})
	}
}

// A refused repetition does not show the outcome of the first attempt.
func TestARepeatTurnedAwayLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"RequestLimitExceeded", "AuthFailure.UnauthorizedOperation", "ResourcesSoldOut.SpecifiedInstanceType", "LimitExceeded.UserSpotQuota",
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			sim, client := startSim(t)
			addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultHTTP502After, Action: "RunInstances"})
			addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultError, Code: code, Action: "RunInstances", Count: -1})
			_, _, err := client.Launch(t.Context(), testRequest())
			if cloud := cloudError(t, err); cloud.Code != code || cloud.NothingLaunched {
				t.Errorf("%+v", cloud)
			}
		})
	}
}

func TestARefusedLaunchSaysWhy(t *testing.T) {
	t.Parallel()
	quota := int64(8)
	tests := map[string]struct {
		prepare func(*testing.T, *cvmsim.Server, *spotpool.Request)
		class   errorclass.Class
		scope   spotpool.ErrorScope
	}{
		"not sold there": {func(_ *testing.T, _ *cvmsim.Server, r *spotpool.Request) {
			r.Offering.InstanceType = "GN10Xp.2XLARGE40"
		}, errorclass.Configuration, spotpool.ScopeOffering},
		"vCPU quota": {func(t *testing.T, s *cvmsim.Server, _ *spotpool.Request) {
			t.Helper()
			if err := s.SetStock(cvmsim.StockRequest{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", VCPUQuota: &quota}); err != nil {
				t.Fatal(err)
			}
		}, errorclass.Quota, spotpool.ScopeZone},
		"no such image": {
			func(_ *testing.T, _ *cvmsim.Server, r *spotpool.Request) { r.ImageID = "not an image" }, errorclass.Configuration, spotpool.ScopePool,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSim(t)
			request := testRequest()
			test.prepare(t, sim, &request)
			_, _, err := client.Launch(t.Context(), request)
			cloud := cloudError(t, err)
			if cloud.Class != test.class || cloud.Scope != test.scope || !cloud.NothingLaunched || cloud.RequestID == "" || cloud.Action != "RunInstances" {
				t.Errorf("%+v", cloud)
			}
			if n := client.Calls()["RunInstances"]; n != 1 || len(sim.Instances()) != 0 {
				t.Errorf("%d calls, %d instances", n, len(sim.Instances()))
			}
		})
	}
}

func TestALaunchThatWasNeverSent(t *testing.T) {
	t.Parallel()
	t.Run("canceled before", func(t *testing.T) {
		t.Parallel()
		sim, client := startSim(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := client.Launch(ctx, testRequest())
		if cloud := cloudError(t, err); !errors.Is(err, context.Canceled) || !cloud.NothingLaunched {
			t.Errorf("%v, %+v", err, cloud)
		}
		if calls := callsOf(sim, "RunInstances"); len(calls) != 0 {
			t.Errorf("calls: %v", calls)
		}
	})
	t.Run("canceled meanwhile", func(t *testing.T) {
		t.Parallel()
		sim, client := startSim(t)
		addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultTimeoutAfter, Action: "RunInstances", Delay: cvmsim.Duration(time.Minute)})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for len(sim.Instances()) == 0 && t.Context().Err() == nil {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		_, _, err := client.Launch(ctx, testRequest())
		if cloud := cloudError(t, err); !errors.Is(err, context.Canceled) || cloud.NothingLaunched {
			t.Errorf("%v, %+v", err, cloud)
		}
	})
	t.Run("endpoint that isn't there", func(t *testing.T) {
		t.Parallel()
		sim, client := startSim(t)
		if _, err := client.AccountID(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone := httptest.NewServer(nil)
		gone.Close()
		config := testConfig(gone.URL)
		lost := newClient(t, config)
		lost.account.id = cvmsim.DemoAccountID
		_, _, err := lost.Launch(t.Context(), testRequest())
		cloud := cloudError(t, err)
		if !cloud.NothingLaunched || cloud.Class != errorclass.Transient {
			t.Errorf("%+v", cloud)
		}
		for _, want := range []string{gone.URL, "connection refused", "GPUPOOL_ENDPOINT"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q lacks %q", err, want)
			}
		}
		if len(sim.Instances()) != 0 {
			t.Error("something was launched")
		}
	})
}

func TestUserDataStaysOutOfErrors(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t)
	request := testRequest()
	request.UserData = "password=open-sesame"
	addFault(t, sim, cvmsim.Fault{
		Kind: cvmsim.FaultError, Action: "RunInstances", Code: "InvalidParameterValue.InvalidUserDataFormat",
		Message: "cannot use cGFzc3dvcmQ9b3Blbi1zZXNhbWU= or password=open-sesame, " + cvmsim.DemoSecretKey,
	})
	_, _, err := client.Launch(t.Context(), request)
	for _, secret := range []string{"open-sesame", "cGFzc3dvcmQ9", cvmsim.DemoSecretKey} {
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
	}
}
