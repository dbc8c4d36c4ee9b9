package tencent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// cloudRates are the limits of an account per second (API documents 213/568, 213/33237 and
// 213/33254).
var cloudRates = map[string]float64{
	"DescribeInstances": 40, "DescribeZoneInstanceConfigInfos": 40, "RunInstances": 10, "TerminateInstances": 10, "TagResources": 20, "UnTagResources": 20,
	"DescribeAccountQuota": 10, "GetCallerIdentity": 10,
}

func TestDefaultRatesStayBelowTheClouds(t *testing.T) {
	t.Parallel()
	l := newLimits(nil)
	for action, allowed := range cloudRates {
		b := l.bucket(action)
		at := time.Now()
		passed := 0
		for b.ReserveN(at, 1).DelayFrom(at) < time.Second {
			passed++
		}
		if float64(passed) > allowed || float64(passed) < 0.8*allowed {
			t.Errorf("%s: %d in the first second, and %v are allowed", action, passed, allowed)
		}
	}
	if run := l.bucket("RunInstances"); l.bucket("RunInstances") != run || l.bucket("TerminateInstances") == run {
		t.Error("there must be one bucket an action")
	}
	over := newLimits(map[string]float64{"RunInstances": 2, "DescribeInstances": 0})
	if over.bucket("RunInstances").Limit() != 2 || over.bucket("DescribeInstances").Limit() != rate.Inf {
		t.Error("the configured rates must win")
	}
}

func TestWaitingForARateEndsWithTheContext(t *testing.T) {
	t.Parallel()
	_, client := startSim(t, func(c *Config) { c.RateLimits["DescribeInstances"] = 0.05 })
	if _, _, err := client.ObserveRegion(t.Context(), testRegion); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	began := time.Now()
	if _, _, err := client.ObserveRegion(ctx, testRegion); cloudError(t, err).Code != codeTimeout ||
		!strings.Contains(err.Error(), "waiting for the rate limit of DescribeInstances") || time.Since(began) > 5*time.Second {
		t.Errorf("a turn that comes after the deadline: %v, after %s", err, time.Since(began))
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, stop)
	if _, _, err := client.ObserveRegion(ctx, testRegion); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A listing of many pages is never throttled, over all regions together.
func TestALongListingKeepsTheRate(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, func(o *cvmsim.Options) { o.EnforceRates = true })
	c := testConfig(sim.URL)
	c.RateLimits = nil
	client := newClient(t, c)
	seed(t, sim.Server, cvmsim.SeedRequest{UID: "uid-1", Count: 3000})
	seen, _, err := client.ObserveRegion(t.Context(), testRegion)
	if err != nil || len(seen) != 3000 {
		t.Fatalf("%d seen, %v", len(seen), err)
	}
	for _, call := range sim.Server.Calls() {
		if call.Outcome != "ok" {
			t.Errorf("%s: %s", call.Action, call.Outcome)
		}
	}
}

// TestPausesBetweenAttemptsGrowToACap, and are spread, so that not all come back at once.
func TestPausesBetweenAttemptsGrowToACap(t *testing.T) {
	t.Parallel()
	b := backoff{100 * time.Millisecond, time.Second}
	for n, ceiling := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 4: 800 * time.Millisecond, 5: time.Second, 100: time.Second,
	} {
		var longest time.Duration
		for range 500 {
			d := b.delay(n)
			if d < 0 || d > ceiling {
				t.Fatalf("attempt %d: %s, above %s", n, d, ceiling)
			}
			longest = max(longest, d)
		}
		if longest < ceiling/2 {
			t.Errorf("attempt %d: never more than %s of %s", n, longest, ceiling)
		}
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t, func(c *Config) { c.MaxAttempts = 4 })
	addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultHTTP502, Action: "DescribeInstances", Count: -1})
	_, _, err := client.ObserveRegion(t.Context(), testRegion)
	if cloud := cloudError(t, err); cloud.Code != codeStatus || client.Calls()["DescribeInstances"] != 4 {
		t.Errorf("%v, %v", err, client.Calls())
	}
}

func TestOneCallIsBoundedInTime(t *testing.T) {
	t.Parallel()
	sim, client := startSim(t, func(c *Config) { c.CallTimeout = 150 * time.Millisecond })
	if _, err := client.AccountID(t.Context()); err != nil {
		t.Fatal(err)
	}
	addFault(t, sim, cvmsim.Fault{Kind: cvmsim.FaultTimeout, Count: -1, Delay: cvmsim.Duration(time.Minute)})
	started := time.Now()
	_, _, err := client.ObserveRegion(t.Context(), testRegion)
	if took := time.Since(started); took > 5*time.Second || cloudError(t, err).Code != codeTimeout {
		t.Errorf("after %s: %v", took, err)
	}
}
