package budget_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// A budget needs a cluster and no account: there are no credentials here.
func TestLifeOfABudget(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	uid := w.ClusterUID()
	same := statecheck.CompareValue(compare.ValuesSame())
	kept := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("uid")) }
	run(t,
		resource.TestStep{
			Config:           w.BudgetConfig(budget()),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionCreate), plancheck.ExpectUnknownValue(address, tfjsonpath.New("cluster_uid"))),
			ConfigStateChecks: []statecheck.StateCheck{
				kept(), generation(1), text("cluster_uid", uid), text("count_from", "scheduled"), text("pod_end_estimate", "midpoint"),
				text("max_status_age", "1h"),
				is("thresholds", knownvalue.ListExact([]knownvalue.Check{knownvalue.Int64Exact(50), knownvalue.Int64Exact(80), knownvalue.Int64Exact(100)})),
				is("enforcement", knownvalue.ObjectPartial(map[string]knownvalue.Check{
					"action": knownvalue.StringExact("alert_only"), "grace_period": knownvalue.StringExact("10m"),
					"max_evictions_per_run": knownvalue.Int64Exact(10),
					"eviction_order":        knownvalue.StringExact("lowest_priority"), "max_gap": knownvalue.StringExact("15m"),
					"max_grace_period":     knownvalue.StringExact("5m"),
					"honor_pod_protection": knownvalue.Bool(true), "on_manual_resume": knownvalue.StringExact("warn"),
					"on_ineffective":       knownvalue.StringExact("warn"),
					"protected_namespaces": knownvalue.Null(),
				})),
			},
		},
		resource.TestStep{
			Config: w.BudgetConfig(budget(attributes{"gpu_hours": `"50.5"`, "enforcement": `{ action = "evict", grace_period = "1m" }`})),
			ConfigPlanChecks: planned(action(plancheck.ResourceActionUpdate), plancheck.ExpectUnknownValue(address, tfjsonpath.New("generation")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("cluster_uid"), knownvalue.StringExact(uid))),
			ConfigStateChecks: []statecheck.StateCheck{kept(), generation(2), text("gpu_hours", "50.5")},
		},
		resource.TestStep{ // how long an operation may take is not declared
			Config: w.BudgetConfig(budget(attributes{
				"gpu_hours": `"50.5"`, "enforcement": `{ action = "evict", grace_period = "1m" }`, "timeouts": `{ delete = "1m" }`,
			})),
			ConfigStateChecks: []statecheck.StateCheck{kept(), generation(2)},
		},
		resource.TestStep{
			Config:            w.BudgetConfig(budget(attributes{"window": "", "period": `"month"`, "time_zone": `"Asia/Singapore"`})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{kept(), generation(3), text("time_zone", "Asia/Singapore"), is("window", knownvalue.Null())},
		},
		resource.TestStep{
			Config:            w.BudgetConfig(budget(attributes{"name": `"team-b"`})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionReplace)),
			ConfigStateChecks: []statecheck.StateCheck{generation(1), text("name", "team-b")},
		},
		resource.TestStep{
			ResourceName: address, ImportState: true, ImportStateId: "team-b", ImportStateVerify: true,
			ImportStateVerifyIdentifierAttribute: "name",
		},
	)
	if docs, err := w.Store().List(t.Context(), store.Budgets); err != nil || len(docs) > 0 {
		t.Errorf("%d records are left (%v)", len(docs), err)
	}
}

// Terraform converts a number without quotes, and the plan refuses a bad one by its digits.
func TestGPUHoursAsANumber(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	hours := func(literal string) string { return w.BudgetConfig(budget(attributes{"gpu_hours": literal})) }
	becomes := func(literal, want string) resource.TestStep {
		return resource.TestStep{Config: hours(literal), ConfigStateChecks: []statecheck.StateCheck{text("gpu_hours", want)}}
	}
	same := func(literal string) resource.TestStep {
		return resource.TestStep{Config: hours(literal), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())}
	}
	refused := func(literal, want string) resource.TestStep {
		return resource.TestStep{Config: hours(literal), ExpectError: message(want)}
	}
	run(t,
		becomes("12.50", "12.5"),
		refused("0.0005", `"0.0005" has 4 digits after the point`), refused("1e10", `"10000000000" is out of range`),
		becomes("1e3", "1000"), same("1000.0"), same(`"1000.000"`),
	)
}

// Equal values with other wording are no change.
func TestSpellingIsNoChange(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	selector := func(namespaces, values string) string {
		return `{ namespaces = ` + namespaces + `, match_expressions = [{ key = "tier", operator = "In", values = ` + values + ` }] }`
	}
	first := attributes{
		"window": `"24h"`, "gpu_hours": `"100"`, "max_status_age": `"60m"`, "resource_weights": `{ "example.com/gpu" = "0.5" }`,
		"selector": selector(`["a", "b"]`, `["x", "y"]`), "breakdown_labels": `["team", "tier"]`,
		"enforcement": `{ grace_period = "90s", max_gap = "48h", max_grace_period = "120s", on_manual_resume = "pause", protected_namespaces = ["p", "q"] }`,
	}
	second := attributes{
		"window": `"1d"`, "gpu_hours": `"100.00"`, "max_status_age": `"1h"`, "resource_weights": `{ "example.com/gpu" = "1/2" }`,
		"selector": selector(`["b", "a"]`, `["y", "x"]`), "breakdown_labels": `["tier", "team"]`,
		"enforcement": `{ grace_period = "1m30s", max_gap = "2d", max_grace_period = "2m", on_manual_resume = "pause", protected_namespaces = ["q", "p"] }`,
	}
	run(t,
		resource.TestStep{Config: w.BudgetConfig(budget(first))},
		resource.TestStep{Config: w.BudgetConfig(budget(second)), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan())},
		resource.TestStep{
			Config:            w.BudgetConfig(budget(second, attributes{"gpu_hours": `"100.001"`})),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{generation(2), text("gpu_hours", "100.001"), text("window", "24h")},
		},
		// Empty is written as empty, and none is as good.
		resource.TestStep{Config: w.BudgetConfig(budget(attributes{
			"selector": `{ namespaces = ["a"], match_labels = {}, match_expressions = [] }`, "breakdown_labels": "[]", "resource_weights": "{}",
			"time_zone":   `""`,
			"enforcement": `{ protected_namespaces = [], protected_priority_class = "" }`,
		}))},
	)
}

// A plan shows the changes of another configuration, and reverts them.
func TestDrift(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	change := func(do func(d *core.Declaration)) func() {
		return func() {
			p := w.Process()
			d, err := p.Budgets().Find(t.Context(), "team-a")
			if err != nil {
				t.Fatal(err)
			}
			do(&d)
			if _, err := p.Budgets().Update(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(t,
		resource.TestStep{Config: w.BudgetConfig(budget())},
		resource.TestStep{
			PreConfig: change(func(d *core.Declaration) { d.GPUHours, d.Enforce.Action = "7", core.Freeze }),
			Config:    w.BudgetConfig(budget()),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				action(plancheck.ResourceActionUpdate), plancheck.ExpectKnownValue(address, tfjsonpath.New("gpu_hours"), knownvalue.StringExact("100")),
			}},
			ConfigStateChecks: []statecheck.StateCheck{generation(3), text("gpu_hours", "100")},
		},
		resource.TestStep{ // another wording of the same record
			PreConfig:         change(func(d *core.Declaration) { d.Window = "1d" }),
			Config:            w.BudgetConfig(budget()),
			ConfigPlanChecks:  planned(plancheck.ExpectEmptyPlan()),
			ConfigStateChecks: []statecheck.StateCheck{text("window", "24h")},
		},
	)
}

// A record that is missing is written again, and the budget stays the same one.
func TestLostRecord(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	same := statecheck.CompareValue(compare.ValuesSame())
	kept := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("uid")) }
	run(t,
		resource.TestStep{Config: w.BudgetConfig(budget()), ConfigStateChecks: []statecheck.StateCheck{kept(), generation(1)}},
		resource.TestStep{
			PreConfig:         func() { w.Forget("team-a") },
			Config:            w.BudgetConfig(budget()),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionUpdate)),
			ConfigStateChecks: []statecheck.StateCheck{kept(), generation(2)},
		},
	)
}

// A budget that was destroyed elsewhere is created again, as another one.
func TestDestroyedElsewhere(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	differ := statecheck.CompareValue(compare.ValuesDiffer())
	uid := func() statecheck.StateCheck { return differ.AddStateValue(address, tfjsonpath.New("uid")) }
	run(t,
		resource.TestStep{Config: w.BudgetConfig(budget()), ConfigStateChecks: []statecheck.StateCheck{uid()}},
		resource.TestStep{
			PreConfig: func() {
				p := w.Process()
				d, err := p.Budgets().Find(t.Context(), "team-a")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.Budgets().Delete(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			},
			Config:            w.BudgetConfig(budget()),
			ConfigPlanChecks:  planned(action(plancheck.ResourceActionCreate)),
			ConfigStateChecks: []statecheck.StateCheck{uid(), generation(1)},
		},
	)
}

// A budget that another configuration destroyed and declared again is not overwritten. It can be
// imported.
func TestRecreatedElsewhere(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	run(t,
		resource.TestStep{Config: w.BudgetConfig(budget())},
		resource.TestStep{
			PreConfig: func() {
				p := w.Process()
				d, err := p.Budgets().Find(t.Context(), "team-a")
				if err == nil {
					_, err = p.Budgets().Delete(t.Context(), d)
				}
				if err == nil {
					_, err = p.Budgets().Create(t.Context(), d)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
			Config: w.BudgetConfig(budget()), ExpectError: message("To manage it here, import it: terraform import ADDRESS team-a"),
		},
		resource.TestStep{Config: w.BudgetConfig(imported + budget()), ConfigPlanChecks: planned(action(plancheck.ResourceActionNoop))},
	)
}

// A store that has another budget under the name is not this one's.
func TestAnotherBudgetOfTheName(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	var mine string
	become := func(uid string) func() {
		return func() {
			w.Rewrite("team-a", func(r *declaration.Budget) { mine, r.Declaration.UID = r.Declaration.UID, uid })
		}
	}
	run(t,
		resource.TestStep{Config: w.BudgetConfig(budget())},
		resource.TestStep{
			PreConfig: become("0123456789abcdef0123456789abcdef"),
			Config:    w.BudgetConfig(budget()), ExpectError: message("has another budget with the name team-a (uid 0123456789abcdef0123456789abcdef"),
		},
		resource.TestStep{
			PreConfig: func() { become(mine)() },
			Config:    w.BudgetConfig(budget()), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan()),
		},
	)
}

// An unreadable record of a budget stops the operations that depend on it.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	var good store.Document
	run(t,
		resource.TestStep{Config: w.BudgetConfig(budget())},
		resource.TestStep{
			PreConfig: func() {
				s := w.Store()
				var err error
				if good, err = s.Read(t.Context(), store.Key{Kind: store.Budgets, Name: "team-a"}); err != nil {
					t.Fatal(err)
				}
				if _, err = s.Write(t.Context(), good.Key, []byte("{"), good.Revision); err != nil {
					t.Fatal(err)
				}
			},
			Config: w.BudgetConfig(budget()), ExpectError: message("budgets/team-a in the store"),
		},
		resource.TestStep{
			PreConfig: func() {
				s := w.Store()
				doc, err := s.Read(t.Context(), good.Key)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := declaration.Decode[declaration.Budget]("the record", good.Data); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Write(t.Context(), good.Key, good.Data, doc.Revision); err != nil {
					t.Fatal(err)
				}
			},
			Config: w.BudgetConfig(budget()), ConfigPlanChecks: planned(plancheck.ExpectEmptyPlan()),
		},
	)
}
