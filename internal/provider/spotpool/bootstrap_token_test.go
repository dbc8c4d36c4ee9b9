package spotpool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// tokensOf are the Secrets of the bootstrap tokens that a group has in the cluster.
func tokensOf(w *providertest.World, group string) ([]corev1.Secret, error) {
	all, err := w.Cluster.Client().CoreV1().Secrets(metav1.NamespaceSystem).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var own []corev1.Secret
	for _, s := range all.Items {
		if s.Type == corev1.SecretTypeBootstrapToken && string(s.Data["auth-extra-groups"]) == group {
			own = append(own, s)
		}
	}
	return own, nil
}

// secretless fails if Terraform keeps the secret of a token.
type secretless struct {
	w     *providertest.World
	group string
}

func (c secretless) check(what string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	tokens, err := tokensOf(c.w, c.group)
	for _, s := range tokens {
		if strings.Contains(string(data), string(s.Data["token-secret"])) {
			err = errors.Join(err, fmt.Errorf("the secret of %s is in the %s", s.Name, what))
		}
	}
	return err
}

func (c secretless) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	resp.Error = c.check("plan", req.Plan)
}

func (c secretless) CheckState(_ context.Context, req statecheck.CheckStateRequest, resp *statecheck.CheckStateResponse) {
	resp.Error = c.check("state", req.State)
}

// TestLifeOfAPoolThatJoinsByAToken: a launch makes a token; another ttl and group make no
// instance drifted; the token goes once bootstrap_token does. State and plans never have it.
func TestLifeOfAPoolThatJoinsByAToken(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	// Each local CVM counts its ids from the same, and other tests' nodes have some.
	if err := w.Sim.Server.SetState(cvmsim.StateRequest{InstanceIDs: cvmsimtest.Seed(t, w.Sim, cvmsim.SeedRequest{Count: 50}), State: "GONE"}); err != nil {
		t.Fatal(err)
	}
	const group, other = "system:bootstrappers:life-of-a-pool", "system:bootstrappers:life-of-another"
	with := func(token string) string {
		return w.Config(pool(attributes{"nodes": "{}", "user_data_raw": fmt.Sprintf("%q", joinBy), "bootstrap_token": token}))
	}
	has := func(group string, want int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			tokens, err := tokensOf(w, group)
			if err == nil && len(tokens) != want {
				err = fmt.Errorf("the cluster has %d tokens of %s, want %d", len(tokens), group, want)
			}
			return err
		}
	}
	ttl := func(want string) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New("bootstrap_token").AtMapKey("ttl"), knownvalue.StringExact(want))
	}
	searched := secretless{w, group}
	run(t,
		resource.TestStep{
			Config:            with(fmt.Sprintf("{ groups = [%q] }", group)),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionCreate)),
			ConfigStateChecks: []statecheck.StateCheck{number("capacity", 2), ttl("30m"), searched},
			Check:             has(group, 1),
		},
		resource.TestStep{
			Config: with(fmt.Sprintf("{ groups = [%q], ttl = \"1h\" }", other)),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), searched,
				plancheck.ExpectKnownValue(address, tfjsonpath.New("planned_actions"), knownvalue.ListSizeExact(0))),
			ConfigStateChecks: []statecheck.StateCheck{ttl("1h"), searched},
			Check:             resource.ComposeTestCheckFunc(has(group, 1), has(other, 0), held(w, 2)),
		},
		resource.TestStep{
			Config:           w.Config(pool(attributes{"nodes": "{}"})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), searched),
			Check:            resource.ComposeTestCheckFunc(has(group, 0), has(other, 0), held(w, 2)),
		},
	)
}
