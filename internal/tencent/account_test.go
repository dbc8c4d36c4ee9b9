package tencent

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	for _, secret := range [][2]string{{"AKIDunknown", "x"}, {cvmsim.DemoSecretID, "not-the-key"}} {
		c := testConfig(sim.URL)
		c.SecretID, c.SecretKey = secret[0], secret[1]
		_, _, err := newClient(t, c).Launch(t.Context(), testRequest())
		cloud := cloudError(t, err)
		if cloud.Class != errorclass.Authorization || !cloud.NothingLaunched || cloud.Remedy.IsZero() || cloud.RequestID == "" {
			t.Errorf("%+v", cloud)
		}
	}
	if len(callsOf(sim.Server, "RunInstances")) != 0 {
		t.Error("a launch was tried")
	}
}

func TestWrongAccount(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(*Config){
		"not allowed": func(c *Config) { c.AllowedAccountIDs = []string{"200000000002"} },
		"forbidden":   func(c *Config) { c.ForbiddenAccountIDs = []string{cvmsim.DemoAccountID} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSim(t, f)
			_, _, err := client.Launch(t.Context(), testRequest())
			if cloud := cloudError(t, err); cloud.Class != errorclass.Authorization || !cloud.NothingLaunched ||
				!strings.Contains(err.Error(), cvmsim.DemoAccountID) {
				t.Errorf("%+v", cloud)
			}
			if name == "not allowed" && !strings.Contains(err.Error(), "200000000002") {
				t.Errorf("the error names only one account: %v", err)
			}
			ids := seed(t, sim, cvmsim.SeedRequest{UID: "uid-1"})
			if _, err := client.Terminate(t.Context(), testRegion, []spotpool.Instance{{ID: ids[0], Region: testRegion}}); err == nil {
				t.Error("terminated in the wrong account")
			}
			if client.Tag(t.Context(), testRegion, ids, map[string]string{"a": "b"}) == nil {
				t.Error("tagged in the wrong account")
			}
			for _, call := range sim.Calls() {
				if call.Action != "GetCallerIdentity" {
					t.Errorf("%s was called", call.Action)
				}
			}
		})
	}
	_, client := startSim(t, func(c *Config) { c.AllowedAccountIDs = []string{"1", cvmsim.DemoAccountID} })
	if _, _, err := client.Launch(t.Context(), testRequest()); err != nil {
		t.Error(err)
	}
}
