// Package cloudtest checks that a cloud keeps what the spot pool flow relies on. An
// adapter runs it on itself; the Tencent Cloud adapter and the example in toycloud do.
//
// Each check says what would go wrong in a pool without it. What one cloud does in its
// own way (paging, retries, error codes, prices) stays in that adapter's tests.
package cloudtest

import (
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Cloud is a cloud under test.
type Cloud struct {
	spotpools.Cloud
	Stage
	// Request is a launch of two spot instances that the provider accepts. Checks give it
	// another pool, sequence and token.
	Request spotpool.Request
}

// Stage changes the provider without the adapter.
type Stage interface {
	// Step moves the provider's clock on.
	Step(d time.Duration)
	// DelayTags makes the tags of later launches show in listings after d.
	DelayTags(d time.Duration)
	// SellOut leaves no stock in a market.
	SellOut(m spotpool.Market)
	// LoseResponse loses the response to the next Launch, which takes effect.
	LoseResponse()
	// Protect turns on the provider's termination protection of an instance.
	Protect(id string)
	// Reclaim reclaims an instance at once.
	Reclaim(id string)
	// Deny refuses every later call for lack of permissions.
	Deny()
}

// checks are in the order in which to write an adapter. They are the account, the clock of
// empty listings, launches, listings, terminations, tags, markets, and combinations. Launches
// are checked by ObservePool.
var checks = []struct {
	name string
	run  func(*testing.T, Cloud)
}{
	{"one account", oneAccount},
	{"the clock of the API", cloudClock},

	{"a launch is described", launchDescribed},
	{"calls are counted", callsCounted},
	{"a token launches once", tokenLaunchesOnce},
	{"a token launches once at the same time", tokenLaunchesOnceAtOnce},
	{"a token launches once though its tags are late", tokenLaunchesOnceUntagged},
	{"a token launches nothing else", tokenLaunchesNothingElse},
	{"a launch without a token is refused", launchNeedsToken},
	{"a lost response is an unknown outcome", lostResponse},
	{"a canceled launch launches nothing", canceledLaunch},
	{"sold out", soldOut},
	{"the maximum price holds", maximumPrice},
	{"an unknown instance type", unknownType},

	{"late tags hide no known instance", lateTags},
	{"other pools' instances remain theirs", foreignInstances},
	{"instances that are gone are left out", goneInstances},

	{"terminate only the given instances", terminateGiven},
	{"terminate again", terminateAgain},
	{"a protected instance stays, others do not", terminateProtected},
	{"a starting instance", terminateStarting},
	{"an instance of another region stays", terminateElsewhere},

	{"tags are set and removed", tagAndUntag},
	{"tags of an instance that is gone", tagGone},
	{"the protection tag is read", protectionTag},
	{"listings select", listingsSelect},

	{"markets", markets},
	{"a market that is sold out says so", soldOutMarket},

	{"missing permissions", missingPermissions},
	{"a canceled read is an error", canceledRead},
}

// Run checks a cloud. Each call of newCloud returns a cloud without instances.
func Run(t *testing.T, newCloud func(t *testing.T) Cloud) {
	t.Helper()
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			t.Parallel()
			defer failOnPanic(t)
			check.run(t, newCloud(t))
		})
	}
}

// failOnPanic keeps a method that is still to be written from hiding the other checks.
func failOnPanic(t *testing.T) {
	if p := recover(); p != nil {
		t.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// settled is longer than any cloud under test takes to start or terminate an instance.
const settled = 10 * time.Minute

// request is the launch of a sequence of a pool, under a token that follows from both.
func (c Cloud) request(name, uid string, sequence int64) spotpool.Request {
	r := c.Request
	r.Pool, r.UID, r.Sequence, r.SeqTag, r.ConfigurationTag = name, uid, sequence, sequence, "1:abc"
	r.Token = fmt.Sprintf("cloudtest-%s-%d", uid, sequence)
	return r
}

// launch launches the first instances of a pool and waits until they run.
func (c Cloud) launch(t *testing.T, name, uid string) []string {
	t.Helper()
	ids, _, err := c.Launch(t.Context(), c.request(name, uid, 1))
	if err != nil || len(ids) != c.Request.Count {
		t.Fatalf("launch: got %d instances and the error %v, want %d", len(ids), err, c.Request.Count)
	}
	c.Step(settled)
	return slices.Sorted(slices.Values(ids))
}

// launchUntagged launches as launch does, and the tags show an hour after the launch.
func (c Cloud) launchUntagged(t *testing.T, name, uid string) []string {
	t.Helper()
	c.DelayTags(time.Hour)
	ids := c.launch(t, name, uid)
	if c.expectPool(t, uid, nil); t.Failed() {
		t.Fatal("the Stage's DelayTags had no effect, so that this checks nothing")
	}
	return ids
}

// observe looks instances up by id.
func (c Cloud) observe(t *testing.T, ids ...string) []spotpool.Instance {
	t.Helper()
	list, _, err := c.ObserveInstances(t.Context(), c.Request.Region, ids)
	if err != nil {
		t.Fatalf("observe %v: %v", ids, err)
	}
	return list
}

// expectPool checks which instances a pool has.
func (c Cloud) expectPool(t *testing.T, uid string, want []string) {
	t.Helper()
	list, _, err := c.ObservePool(t.Context(), c.Request.Region, uid, nil)
	expectIDs(t, "the pool "+uid, list, err, want)
}

// expectIDs checks a listing: sorted or not, each instance occurs once.
func expectIDs(t *testing.T, listing string, list []spotpool.Instance, err error, want []string) {
	t.Helper()
	got := []string{}
	for _, i := range list {
		got = append(got, i.ID)
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(want)); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: got %v and the error %v, want %v", listing, got, err, want)
	}
}

// expectRefusal checks the typed error of a launch that certainly had no effect, and
// returns its scope.
func (c Cloud) expectRefusal(t *testing.T, r spotpool.Request, class errorclass.Class) spotpool.ErrorScope {
	t.Helper()
	ids, _, err := c.Launch(t.Context(), r)
	refusal, ok := spotpool.AsCloudError(err)
	if !ok || len(ids) > 0 {
		t.Fatalf("got %v and the error %v, want a *spotpool.CloudError only", ids, err)
	}
	if refusal.Class != class || !refusal.NothingLaunched || refusal.Action == "" || refusal.Code == "" || refusal.Message == "" {
		t.Errorf("got the error %+v, want one of class %s with NothingLaunched, an action, a code and a message", refusal, class)
	}
	c.Step(settled)
	c.expectPool(t, r.UID, nil)
	return refusal.Scope
}
