package tencent

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
)

func TestTemporaryCredentialsAreRenewedInTime(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	c := webIdentityConfig(t, sim.URL)
	var clock steppedClock
	c.now = clock.now
	client := newClient(t, c)
	renewals := func() int { return client.Calls()["AssumeRoleWithWebIdentity"] }
	observe := func() error { _, _, err := client.ObserveRegion(t.Context(), testRegion); return err }
	pass := func(d time.Duration) {
		clock.step(d)
		step(t, sim.Server, d)
	}
	pass(90 * time.Minute)
	if err := observe(); err != nil || renewals() != 1 {
		t.Fatalf("%v, %d look-ups", err, renewals())
	}
	pass(21 * time.Minute) // of 120 the last ten have begun
	expires := clock.now().Add(120 * time.Minute)
	if err := observe(); err != nil || renewals() != 2 {
		t.Fatalf("%v, %d look-ups", err, renewals())
	}

	addFault(t, sim.Server, cvmsim.Fault{Kind: cvmsim.FaultError, Action: "AssumeRoleWithWebIdentity", Code: "UnauthorizedOperation", Count: -1})
	pass(expires.Add(-time.Minute).Sub(clock.now()))
	if err := observe(); err != nil || renewals() != 3 {
		t.Fatalf("credentials that are still good must do: %v, %d look-ups", err, renewals())
	}
	if err := observe(); err != nil || renewals() != 3 {
		t.Fatalf("a failed renewal must not be repeated on each call: %v, %d look-ups", err, renewals())
	}
	before := client.Calls()["DescribeInstances"]
	pass(expires.Add(time.Minute).Sub(clock.now()))
	err := observe()
	if cloud := cloudError(t, err); cloud.Class != errorclass.Authorization || client.Calls()["DescribeInstances"] != before {
		t.Fatalf("expired credentials were used: %v", err)
	}
	sim.Server.ClearFaults()
	if err := observe(); err != nil {
		t.Error(err)
	}
}

// steppedClock runs with the real one, some steps ahead.
type steppedClock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *steppedClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *steppedClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func TestOneRenewalForAll(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	c := webIdentityConfig(t, sim.URL)
	var clock steppedClock
	c.now = clock.now
	client := newClient(t, c)
	clock.step(3 * time.Hour) // the first ones are over
	step(t, sim.Server, 3*time.Hour)
	var group errgroup.Group
	for range 20 {
		group.Go(func() error { _, _, err := client.ObserveRegion(t.Context(), testRegion); return err })
	}
	if err := group.Wait(); err != nil || client.Calls()["AssumeRoleWithWebIdentity"] != 2 {
		t.Errorf("%v, %v", err, client.Calls())
	}
}

// Temporary credentials may be revoked before they expire.
func TestCredentialsThatTheCloudRefusesAreRenewed(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	client := newClient(t, webIdentityConfig(t, sim.URL))
	step(t, sim.Server, 3*time.Hour)
	if _, _, err := client.Launch(t.Context(), testRequest()); err != nil {
		t.Error(err)
	}
	addFault(t, sim.Server, cvmsim.Fault{Kind: cvmsim.FaultError, Action: "DescribeInstances", Code: "AuthFailure.TokenFailure", Count: -1})
	_, _, err := client.ObserveRegion(t.Context(), testRegion)
	if cloud := cloudError(t, err); cloud.Code != "AuthFailure.TokenFailure" || client.Calls()["DescribeInstances"] != 2 {
		t.Errorf("%v, %v", err, client.Calls())
	}
}

func TestLookUpsEndInTime(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	_, hanging := record(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	addFault(t, sim.Server, cvmsim.Fault{Kind: cvmsim.FaultTimeout, Count: -1, Delay: cvmsim.Duration(time.Minute)})
	web := webIdentityConfig(t, sim.URL)
	cam := testConfig(sim.URL)
	cam.CamRoleName, cam.MetadataEndpoint = "gpu-node", hanging
	role := testConfig(sim.URL)
	role.AssumeRole.RoleARN = testRole
	for name, c := range map[string]Config{"web identity": web, "CVM role": cam, "role": role} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.LookupTimeout = 100 * time.Millisecond
			started := time.Now()
			_, err := New(t.Context(), c)
			if took := time.Since(started); took > 5*time.Second || err == nil || !strings.Contains(err.Error(), "within 100ms") {
				t.Errorf("after %s: %v", took, err)
			}
		})
	}
}
