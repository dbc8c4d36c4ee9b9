package spotpool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// secretFree fails if Terraform keeps the account's key.
type secretFree struct{ t *testing.T }

func (c secretFree) check(what string, v any) {
	c.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		c.t.Error(err)
	}
	if strings.Contains(string(data), cvmsim.DemoSecretKey) {
		c.t.Errorf("the secret key is in the %s", what)
	}
}

// CheckPlan looks at what a plan says of resources; that the provider's own
// arguments are in a plan file is Terraform's doing.
func (c secretFree) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, _ *plancheck.CheckPlanResponse) {
	c.check("plan", []any{req.Plan.ResourceChanges, req.Plan.PriorState, req.Plan.PlannedValues})
}

func (c secretFree) CheckState(_ context.Context, req statecheck.CheckStateRequest, _ *statecheck.CheckStateResponse) {
	c.check("state", req.State)
}

// The account's key gets nowhere, and user data only where it must be.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	const userData = "user-data-of-the-test"
	config := w.Config(pool(attributes{"user_data_raw": fmt.Sprintf("%q", userData)}))
	run(t,
		resource.TestStep{Config: config, ConfigPlanChecks: planned(secretFree{t}), ConfigStateChecks: []statecheck.StateCheck{secretFree{t}}},
		resource.TestStep{
			PreConfig: func() {
				reclaim(t, w, 1)
				err := filepath.WalkDir(w.StoreDir, func(path string, entry fs.DirEntry, err error) error {
					if err != nil || entry.IsDir() {
						return err
					}
					data, err := os.ReadFile(path)
					if strings.Contains(string(data), cvmsim.DemoSecretKey) {
						t.Errorf("the secret key is in %s", path)
					}
					if info, err := entry.Info(); strings.Contains(string(data), userData) && (err != nil || info.Mode().Perm()&0o077 != 0) {
						t.Errorf("others may read the user data in %s (%v)", path, err)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				secretFree{t}.check("call log", w.Sim.Server.Calls())
			},
			Config: config, ConfigPlanChecks: planned(secretFree{t}), ConfigStateChecks: []statecheck.StateCheck{secretFree{t}},
		},
	)
}

// User data is in the state as a sensitive value, and nowhere else in output or state.
func TestUserDataIsOnlyInItsAttribute(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	s := serve(t, w)
	const userData = "user-data-of-the-test"
	config := train(providertest.Values{"user_data_raw": userData})
	o := create(t, s, config)
	reclaim(t, w, 1)
	o, _ = s.Read(o)
	p := s.Plan(o, config)
	for what, text := range map[string]string{
		"private state": decoded(t, o.Private), "planned private state": decoded(t, p.Private),
		"diagnostics": p.Diagnostics.String(), "planned actions": fmt.Sprint(p.Attribute("planned_actions")),
	} {
		if strings.Contains(text, userData) {
			t.Errorf("user data is in the %s", what)
		}
	}
	s.Destroy(o)
}

// decoded is private state in clear.
func decoded(t *testing.T, private []byte) string {
	t.Helper()
	keys := map[string][]byte{}
	if err := json.Unmarshal(private, &keys); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for key, value := range keys {
		all.WriteString(key + string(value))
	}
	if !strings.Contains(all.String(), "instances") {
		t.Fatalf("no observation is kept: %s", all.String())
	}
	return all.String()
}
