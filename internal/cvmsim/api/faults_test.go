package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

type object = map[string]any

// The test covers what a client observes of each fault, and whether an instance was launched.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault    cvmsim.Fault
		code     string // of an envelope
		status   int    // of HTTP
		err      error  // of the connection
		launched int
	}{
		{fault: cvmsim.Fault{Kind: cvmsim.FaultThrottle}, code: "RequestLimitExceeded"},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultThrottle, Code: "RequestLimitExceeded.UinLimitExceeded"}, code: "RequestLimitExceeded.UinLimitExceeded"},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultError, Code: "InternalError.TradeUnknownError"}, code: "InternalError.TradeUnknownError"},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultError, Code: "ResourceNotFound.NoDefaultCbs"}, code: "ResourceNotFound.NoDefaultCbs"},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultError, Code: "ResourceNotFound.NoDefaultCbsWithReason"}, code: "ResourceNotFound.NoDefaultCbsWithReason"},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultSoldOut}, code: "ResourcesSoldOut.SpecifiedInstanceType"},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultLaunchFailed}, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultLaunchHangs}, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultHTTP502}, status: http.StatusBadGateway},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultHTTP502After}, status: http.StatusBadGateway, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultBadJSON}, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultSlow, Delay: cvmsim.Duration(10 * time.Millisecond)}, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultSlow, Delay: cvmsim.Duration(time.Hour)}, err: context.Canceled, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultTimeoutAfter}, err: context.Canceled, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultTimeout}, err: context.Canceled},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultTimeoutAfter, Delay: cvmsim.Duration(time.Millisecond)}, err: syscall.ECONNRESET, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultResetAfter}, err: syscall.ECONNRESET, launched: 1},
		{fault: cvmsim.Fault{Kind: cvmsim.FaultResetBefore}, err: syscall.ECONNRESET},
	} {
		t.Run(test.fault.Kind+" "+test.fault.Code, func(t *testing.T) {
			t.Parallel()
			sim := cvmsimtest.Start(t, cvmsimtest.Slow)
			a := cvmsimtest.NewClient(t, sim)
			cvmsimtest.AddFault(t, sim, test.fault)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if errors.Is(test.err, context.Canceled) { // no response comes
				go func() {
					for len(sim.Server.Calls()) == 0 && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					cancel()
				}()
			}
			resp, err := http.DefaultClient.Do(a.Signed("cvm", "RunInstances", cvmsimtest.Launch(nil)).WithContext(ctx))
			switch {
			case test.err != nil:
				if !errors.Is(err, test.err) {
					t.Errorf("got %v, want %v", err, test.err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				checkFaulty(t, resp, test.fault.Kind, test.code, test.status)
			}
			if n := len(sim.Server.Instances()); n != test.launched {
				t.Errorf("%d instances, want %d", n, test.launched)
			}
			call := sim.Server.Calls()[0]
			if call.Fault != test.fault.Kind || call.TookEffect != (test.launched == 1) {
				t.Errorf("the call is recorded as %+v", call)
			}
			if left := sim.Server.Faults(); len(left) != 0 {
				t.Errorf("the fault is still there: %+v", left)
			}
			a.OK("cvm", "RunInstances", cvmsimtest.Launch(nil)) // once is once
		})
	}
}

func checkFaulty(t *testing.T, resp *http.Response, kind, code string, status int) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if status != 0 {
		if resp.StatusCode != status || !strings.Contains(string(body), "<html>") {
			t.Errorf("got HTTP %d: %s", resp.StatusCode, body)
		}
		return
	}
	if kind == cvmsim.FaultBadJSON {
		if strings.HasSuffix(string(body), "}") {
			t.Errorf("the answer is whole: %s", body)
		}
		return
	}
	if code != "" && !strings.Contains(string(body), `"Code":"`+code+`"`) || code == "" && strings.Contains(string(body), `"Error"`) {
		t.Errorf("got %s, want the code %q", body, code)
	}
}

func TestFaultsChooseTheirCalls(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	outcomes := func(calls ...func() object) string {
		var b strings.Builder
		for _, call := range calls {
			if cvmsimtest.CodeOf(call()) == "" {
				b.WriteString("o")
			} else {
				b.WriteString("x")
			}
		}
		return b.String()
	}
	run := func(zone, pool string) func() object {
		return func() object {
			return a.Call("cvm", "RunInstances", cvmsimtest.Launch(object{
				"Placement": object{"Zone": zone}, "TagSpecification": cvmsimtest.TagSpec("gpupool/pool", pool),
			}))
		}
	}
	list := func() object { return a.Call("cvm", "DescribeInstances", nil) }
	two, three := run("ap-singapore-2", "train"), run("ap-singapore-3", "serve")
	for name, test := range map[string]struct {
		fault cvmsim.Fault
		calls []func() object
		want  string
	}{
		"one action":  {cvmsim.Fault{Kind: cvmsim.FaultThrottle, Action: "RunInstances", Count: 2}, []func() object{list, two, two, two}, "oxxo"},
		"any action":  {cvmsim.Fault{Kind: cvmsim.FaultThrottle}, []func() object{list, two}, "xo"},
		"always":      {cvmsim.Fault{Kind: cvmsim.FaultThrottle, Count: -1}, []func() object{list, two, list}, "xxx"},
		"after two":   {cvmsim.Fault{Kind: cvmsim.FaultThrottle, After: 2}, []func() object{list, list, list, list}, "ooxo"},
		"one zone":    {cvmsim.Fault{Kind: cvmsim.FaultSoldOut, AvailabilityZone: "ap-singapore-3", Count: -1}, []func() object{two, three, list}, "oxo"},
		"one pool":    {cvmsim.Fault{Kind: cvmsim.FaultSoldOut, Pool: "train", Count: -1}, []func() object{two, three}, "xo"},
		"one type":    {cvmsim.Fault{Kind: cvmsim.FaultSoldOut, InstanceType: "GN7.5XLARGE80", Count: -1}, []func() object{two, three}, "oo"},
		"another one": {cvmsim.Fault{Kind: cvmsim.FaultThrottle, Region: "ap-tokyo", Count: -1}, []func() object{two, list}, "oo"},
	} { // one after the other: they share a server
		cvmsimtest.AddFault(t, sim, test.fault)
		if got := outcomes(test.calls...); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
		sim.Server.ClearFaults()
	}
}

// A client that lost the answer repeats the call, and gets the machines that
// it launched.
func TestRetryAfterLostAnswer(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	a := cvmsimtest.NewClient(t, sim)
	cvmsimtest.AddFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultResetAfter})
	params := cvmsimtest.Launch(object{"ClientToken": "token-1", "InstanceCount": 2})
	if response, err := http.DefaultClient.Do(a.Signed("cvm", "RunInstances", params)); err == nil {
		_ = response.Body.Close()
		t.Fatal("the answer came through")
	}
	ids := cvmsimtest.Texts(a.OK("cvm", "RunInstances", params)["InstanceIdSet"])
	if all := sim.Server.Instances(); len(all) != 2 || len(ids) != 2 || all[0].InstanceID != ids[0] {
		t.Errorf("ids %v, instances %v", ids, all)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	now := time.Now()
	server, err := cvmsim.New(cvmsim.Options{EnforceRates: true, Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	sim := cvmsimtest.Serve(t, server)
	a := cvmsimtest.NewClient(t, sim)
	a.Now = now
	terminate := func() string {
		return cvmsimtest.CodeOf(a.Call("cvm", "TerminateInstances", object{"InstanceIds": []string{"ins-nothere0"}}))
	}
	for range int(actionsByName()["TerminateInstances"].Rate) {
		if code := terminate(); code != "InvalidInstanceId.NotFound" {
			t.Fatalf("within the limit: %q", code)
		}
	}
	if code := terminate(); code != "RequestLimitExceeded" {
		t.Errorf("above the limit: %q", code)
	}
	a.OK("cvm", "DescribeInstances", nil) // has a limit of its own
	cvmsimtest.Step(t, sim, time.Hour)
	if code := terminate(); code != "RequestLimitExceeded" {
		t.Errorf("after a step of the world's clock: %q", code)
	}
	now = now.Add(100 * time.Millisecond)
	if code := terminate(); code != "InvalidInstanceId.NotFound" {
		t.Errorf("after a tenth of a second: %q", code)
	}
}

// The documented rates (API documents 213/568, 213/33237 and 213/33254).
func TestDocumentedRates(t *testing.T) {
	t.Parallel()
	actions := actionsByName()
	for action, rate := range map[string]float64{
		"RunInstances": 10, "DescribeInstances": 40, "TerminateInstances": 10,
		"DescribeZoneInstanceConfigInfos": 40, "TagResources": 20,
	} {
		if got := actions[action].Rate; got != rate {
			t.Errorf("%s: %g a second, want %g", action, got, rate)
		}
	}
}
