package cloudtest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// launchDescribed: without the tags of its launch an instance belongs to no pool. Without
// its market it has no price, and a reclaim starts no cooldown.
func launchDescribed(t *testing.T, c Cloud) {
	r := c.request("train", "uid-1", 7)
	tags := maps.Clone(r.Tags)
	ids, at, err := c.Launch(t.Context(), r)
	if err != nil || len(ids) != r.Count || at.IsZero() {
		t.Fatalf("launch: got %v at %s and the error %v, want %d instances", ids, at, err, r.Count)
	}
	if diff := cmp.Diff(tags, r.Tags); diff != "" {
		t.Errorf("Launch changed the request, which the journal repeats (-before +after)\n%s", diff)
	}
	c.Step(settled)
	list, _, err := c.ObservePool(t.Context(), r.Region, r.UID, nil)
	expectIDs(t, "the pool", list, err, ids)
	account, err := c.Account(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if i.LaunchedAt.Before(at.Add(-settled)) || i.LaunchedAt.After(at.Add(settled)) {
			t.Errorf("%s was launched at %s, and the response came at %s", i.ID, i.LaunchedAt, at)
		}
		want := spotpool.Instance{
			ID: i.ID, Region: r.Region, AccountID: account.ID, PoolUID: r.UID, PoolName: r.Pool, SeqTag: r.SeqTag, ConfigurationTag: r.ConfigurationTag,
			AvailabilityZone: r.Offering.AvailabilityZone, InstanceType: r.Offering.InstanceType, SubnetID: r.Offering.SubnetID, VPCID: r.VPCID,
			ChargeType: r.ChargeType, State: spotpool.StateRunning, LaunchedAt: i.LaunchedAt, PrivateIP: i.PrivateIP, PublicIP: i.PublicIP,
		}
		if diff := cmp.Diff(want, i); diff != "" || i.PrivateIP == "" { // nodes are recognized by their address
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// tokenLaunchesOnce: a run that was killed before it recorded a response repeats the
// request, perhaps on another machine. A second set of instances would cost money unseen.
func tokenLaunchesOnce(t *testing.T, c Cloud) {
	first := c.launch(t, "train", "uid-1")
	again, _, err := c.Launch(t.Context(), c.request("train", "uid-1", 1))
	if !slices.Equal(slices.Sorted(slices.Values(again)), first) {
		t.Errorf("the same request returned %v (%v), want %v again", again, err, first)
	}
	c.Step(settled)
	c.expectPool(t, "uid-1", first)
	next, _, err := c.Launch(t.Context(), c.request("train", "uid-1", 2))
	if err != nil {
		t.Fatal(err)
	}
	c.Step(settled)
	c.expectPool(t, "uid-1", slices.Concat(first, next))
}

// tokenLaunchesOnceAtOnce: two processes repeat a request at the same time if one
// loses its lock.
func tokenLaunchesOnceAtOnce(t *testing.T, c Cloud) {
	var wg sync.WaitGroup
	all := make([][]string, 8)
	for n := range all {
		wg.Go(func() {
			defer failOnPanic(t)
			ids, _, err := c.Launch(t.Context(), c.request("train", "uid-1", 1))
			if err != nil {
				t.Error(err)
			}
			all[n] = slices.Sorted(slices.Values(ids))
		})
	}
	wg.Wait()
	for _, ids := range all {
		if !slices.Equal(ids, all[0]) {
			t.Errorf("one request returned %v, another %v", all[0], ids)
		}
	}
	c.Step(settled)
	c.expectPool(t, "uid-1", all[0])
}

// tokenLaunchesOnceUntagged: an adapter that finds the earlier launch by its tags launches
// again while they are late.
func tokenLaunchesOnceUntagged(t *testing.T, c Cloud) {
	first := c.launchUntagged(t, "train", "uid-1")
	again, _, err := c.Launch(t.Context(), c.request("train", "uid-1", 1))
	if !slices.Equal(slices.Sorted(slices.Values(again)), first) {
		t.Errorf("the same request returned %v (%v), want %v again", again, err, first)
	}
	c.Step(time.Hour)
	c.expectPool(t, "uid-1", first)
}

// tokenLaunchesNothingElse: a token is for one request. A provider may refuse another request
// with it, or return the first instances.
func tokenLaunchesNothingElse(t *testing.T, c Cloud) {
	first := c.launch(t, "train", "uid-1")
	other := c.request("train", "uid-1", 1)
	other.Count++
	_, _, _ = c.Launch(t.Context(), other)
	c.Step(settled)
	c.expectPool(t, "uid-1", first)
}

// launchNeedsToken: a launch without a token cannot be repeated safely.
func launchNeedsToken(t *testing.T, c Cloud) {
	r := c.request("train", "uid-1", 1)
	r.Token = ""
	c.expectRefusal(t, r, errorclass.Configuration)
}

// lostResponse: only NothingLaunched closes a pending launch. An adapter that sets it for
// a response that it did not get leaves instances that no pool knows.
func lostResponse(t *testing.T, c Cloud) {
	r := c.request("train", "uid-1", 1)
	c.LoseResponse()
	_, _, err := c.Launch(t.Context(), r)
	if lost, ok := spotpool.AsCloudError(err); !ok || lost.NothingLaunched || lost.Class != errorclass.Transient {
		t.Fatalf("got the error %v, want a *spotpool.CloudError of class transient without NothingLaunched", err)
	}
	ids, _, err := c.Launch(t.Context(), r)
	if err != nil || len(ids) != r.Count {
		t.Fatalf("repeated: got %v and the error %v", ids, err)
	}
	c.Step(settled)
	c.expectPool(t, "uid-1", ids)
}

// canceledLaunch: an interrupt before the call leaves nothing to find out.
func canceledLaunch(t *testing.T, c Cloud) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := c.Launch(ctx, c.request("train", "uid-1", 1))
	if refusal, ok := spotpool.AsCloudError(err); !errors.Is(err, context.Canceled) || ok && !refusal.NothingLaunched {
		t.Errorf("got the error %v, want the context's, and NothingLaunched if it is a *spotpool.CloudError", err)
	}
	c.Step(settled)
	c.expectPool(t, "uid-1", nil)
}

// soldOut: class and scope decide which offerings the pool tries next, and for how long it
// skips this one. A scope of the whole pool would stop all launches.
func soldOut(t *testing.T, c Cloud) {
	c.SellOut(c.Request.Offering.Market(c.Request.ChargeType))
	if scope := c.expectRefusal(t, c.request("train", "uid-1", 1), errorclass.Capacity); scope == spotpool.ScopePool {
		t.Errorf("the scope is %q, want the offering or the zone", scope)
	}
}

// maximumPrice: a maximum price is a promise to the person who pays.
func maximumPrice(t *testing.T, c Cloud) {
	r := c.request("train", "uid-1", 1)
	r.Offering.SpotMaxPrice = 1
	if scope := c.expectRefusal(t, r, errorclass.Price); scope != spotpool.ScopeOffering {
		t.Errorf("the scope is %q, want the offering: others may be cheaper", scope)
	}
}

// unknownType: a person must change the declaration, so it is not retried as if it were
// out of stock.
func unknownType(t *testing.T, c Cloud) {
	r := c.request("train", "uid-1", 1)
	r.Offering.InstanceType = "NONE1.LARGE"
	c.expectRefusal(t, r, errorclass.Configuration)
}

// missingPermissions: reads, launches and terminations all report the class, by which
// users learn that credentials must change.
func missingPermissions(t *testing.T, c Cloud) {
	running := c.observe(t, c.launch(t, "train", "uid-1")...)
	c.Deny()
	_, _, launch := c.Launch(t.Context(), c.request("train", "uid-1", 2))
	_, _, observe := c.ObserveRegion(t.Context(), c.Request.Region)
	ended, terminate := c.Terminate(t.Context(), c.Request.Region, running)
	tag := c.Tag(t.Context(), c.Request.Region, []string{running[0].ID}, map[string]string{"team": "a"})
	for call, err := range map[string]error{"Launch": launch, "ObserveRegion": observe, "Terminate": terminate, "Tag": tag} {
		refusal, ok := spotpool.AsCloudError(err)
		if !ok || refusal.Class != errorclass.Authorization || !refusal.NothingLaunched || refusal.Scope != spotpool.ScopePool {
			t.Errorf("%s: got the error %v, want one of class %s, scope pool, with NothingLaunched", call, err, errorclass.Authorization)
		}
	}
	if len(ended) > 0 {
		t.Errorf("terminated %v without permission", ended)
	}
}
