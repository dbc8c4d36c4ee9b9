package notification_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// A notification needs neither an account nor a cluster.
func TestLifeOfANotification(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	same := statecheck.CompareValue(compare.ValuesSame())
	kept := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("uid")) }
	rich := attributes{
		"events": `["exceeded", "threshold"]`, "objects": `["budget/team-*"]`, "thresholds": "[80, 100]", "digest": `"30m"`,
		"quiet_hours": `{ start = "22:00", end = "07:00" }`, "time_zone": `"Asia/Shanghai"`, "page_url": `"https://gpupool.example.com"`,
	}
	reworded := attributes{"events": `["threshold", "exceeded"]`, "thresholds": "[100, 80.0]", "digest": `"1800s"`}
	run(t,
		resource.TestStep{
			Config:           w.StoreConfig(config()),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionCreate), plancheck.ExpectUnknownValue(address, tfjsonpath.New("uid"))),
			ConfigStateChecks: []statecheck.StateCheck{
				kept(), generation(1), is("url_wo", knownvalue.Null()), is("secret_wo", knownvalue.Null()), is("events", knownvalue.Null()),
			},
		},
		resource.TestStep{Config: w.StoreConfig(config()), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())},
		resource.TestStep{
			Config:            w.StoreConfig(config(rich)),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate), plancheck.ExpectUnknownValue(address, tfjsonpath.New("generation"))),
			ConfigStateChecks: []statecheck.StateCheck{kept(), generation(2)},
		},
		resource.TestStep{Config: w.StoreConfig(config(rich, reworded)), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())},
		resource.TestStep{ // a timeout is not declared
			Config:            w.StoreConfig(config(rich, attributes{"timeouts": `{ delete = "1m" }`})),
			ConfigStateChecks: []statecheck.StateCheck{kept(), generation(2)},
		},
		resource.TestStep{ // empty values are as good as none
			Config: w.StoreConfig(config(attributes{
				"events": "[]", "objects": "[]", "thresholds": "[]", "digest": `""`, "time_zone": `""`, "page_url": `""`,
			})),
			ConfigStateChecks: []statecheck.StateCheck{kept(), generation(3)},
		},
		resource.TestStep{
			Config:            w.StoreConfig(config(attributes{"name": `"chat"`})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionReplace)),
			ConfigStateChecks: []statecheck.StateCheck{generation(1), is("name", knownvalue.StringExact("chat"))},
		},
		resource.TestStep{
			ResourceName: address, ImportState: true, ImportStateId: "chat", ImportStateVerify: true,
			ImportStateVerifyIdentifierAttribute: "name",
		},
	)
	nothingRecorded(t, w)
}

// An import reads neither the address nor the secret, and the next apply keeps both.
func TestImportKeepsTheSecrets(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	state, err := w.Process().Notifications().Create(t.Context(), core.Declaration{
		Name: "ops", Type: core.DingTalk, URL: "https://oapi.example/robot/hunter1", URLVersion: 4, Secret: "SEC-hunter", SecretVersion: 2, Digest: "60m",
	})
	if err != nil {
		t.Fatal(err)
	}
	declared := config(attributes{
		"type": `"dingtalk"`, "url_wo": `"https://elsewhere.example/"`, "url_wo_version": "4", "secret_wo": `"SEC-other"`, "secret_wo_version": "2",
		"digest": `"1h"`,
	})
	run(t,
		resource.TestStep{
			Config:            w.StoreConfig("import {\n  to = " + address + "\n  id = \"ops\"\n}\n" + declared),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionNoop)),
			ConfigStateChecks: []statecheck.StateCheck{generation(1), is("uid", knownvalue.StringExact(state.Declaration.UID))},
		},
		resource.TestStep{
			PreConfig: func() {
				if d := recorded(t, w); d.URL != "https://oapi.example/robot/hunter1" || d.Secret != "SEC-hunter" {
					t.Error("the import changed the address or the secret")
				}
			},
			Config: w.StoreConfig(config(attributes{
				"type": `"dingtalk"`, "url_wo": `"https://elsewhere.example/"`, "url_wo_version": "5", "secret_wo": `"SEC-other"`, "secret_wo_version": "2",
			})),
			ConfigStateChecks: []statecheck.StateCheck{generation(2), is("uid", knownvalue.StringExact(state.Declaration.UID))},
			Check: func(*terraform.State) error {
				if d := recorded(t, w); d.URL != "https://elsewhere.example/" || d.Secret != "SEC-hunter" {
					t.Error("the new version of the address was not applied, or the same one of the secret was")
				}
				return nil
			},
		},
	)
}

// A refresh reads the changes of another configuration, and a plan reverts them.
func TestDrift(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	run(t,
		resource.TestStep{Config: w.StoreConfig(config(attributes{"digest": `"30m"`}))},
		resource.TestStep{
			PreConfig: func() {
				d := recorded(t, w)
				d.Digest, d.URLVersion, d.URL = "1h", 7, "https://theirs.example"
				if _, err := w.Process().Notifications().Update(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			},
			Config:            w.StoreConfig(config(attributes{"digest": `"30m"`})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{generation(3), is("url_wo_version", knownvalue.Int64Exact(1))},
		},
	)
}

// Values of another resource are unknown at plan, and valid or not at apply.
func TestValuesKnownAfterApply(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	later := func(values string) string {
		return "resource \"terraform_data\" \"later\" {\n  input = " + values + "\n}\n"
	}
	unknown := config(attributes{
		"type": "terraform_data.later.output.type", "url_wo": "terraform_data.later.output.url", "url_wo_version": "terraform_data.later.output.version",
		"thresholds": "[terraform_data.later.output.percent, 100]", "objects": "[terraform_data.later.output.object]",
		"quiet_hours": "{ start = terraform_data.later.output.start, end = \"07:00\" }",
	})
	with := func(percent, object string) string {
		return w.StoreConfig(unknown + later(fmt.Sprintf(`{
			type = "slack", url = "https://hooks.example/1", version = 1, percent = %s, object = %q, start = "22:00"
		}`, percent, object)))
	}
	run(t,
		resource.TestStep{
			Config:      with("50.5", "run"),
			ExpectError: message("50.5 is not a whole percent"),
		},
		resource.TestStep{
			Config:      with("50", "a pod"),
			ExpectError: message(`"a pod" is not an object`),
		},
		resource.TestStep{
			Config:            with("50", "run"),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionCreate), plancheck.ExpectUnknownValue(address, tfjsonpath.New("type"))),
			ConfigStateChecks: []statecheck.StateCheck{generation(1), is("type", knownvalue.StringExact("slack"))},
		},
	)
}
