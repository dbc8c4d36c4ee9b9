package declaration_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func stateBudget() budget.Declaration {
	return budget.Declaration{
		Name: "team-a", UID: "aaaa1a52f0e94d3c8a6b0d1e2f3a4b5c", Generation: 2, ClusterUID: "11111111-2222-3333-4444-555555555555",
		GPUHours: "100", Period: budget.Month, TimeZone: "Asia/Singapore",
		Selector: budget.Selector{
			Namespaces: []string{"ml"}, MatchLabels: map[string]string{"team": "a"},
			MatchExpressions: []budget.Expression{{Key: "tier", Operator: "NotIn", Values: []string{"vip"}}},
		},
		Thresholds: []int{50, 80, 100},
		Enforce: budget.Enforcement{
			Action: budget.Evict, GracePeriod: "60s", MaxEvictionsPerRun: 10, EvictionOrder: budget.LowestPriority, MaxGap: "15m",
			MaxGracePeriod: "90s", HonorPodProtection: new(false), OnManualResume: budget.ResumePause, OnIneffective: budget.FallbackWarn,
		},
		CountFrom: budget.FromScheduled, PodEndEstimate: ledger.EstimateMidpoint,
		ResourceWeights: map[string]string{"nvidia.com/mig-1g.5gb": "1/7"}, MaxStatusAge: "1h",
	}
}

// budgetAttributes are the attributes of the resource, as a state has them: what
// is not set is null.
const budgetAttributes = `{
	"name": "team-a", "uid": "aaaa1a52f0e94d3c8a6b0d1e2f3a4b5c", "generation": 2, "cluster_uid": "11111111-2222-3333-4444-555555555555",
	"gpu_hours": "100", "window": null, "period": "month", "time_zone": "Asia/Singapore",
	"selector": {"namespaces": ["ml"], "namespace_labels": null, "match_labels": {"team": "a"},
		"match_expressions": [{"key": "tier", "operator": "NotIn", "values": ["vip"]}]},
	"thresholds": [50, 80, 100],
	"enforcement": {"action": "evict", "grace_period": "60s", "max_evictions_per_run": 10, "eviction_order": "lowest_priority",
		"protected_priority_class": null, "protected_namespaces": null, "on_ineffective": "warn", "max_gap": "15m",
		"max_grace_period": "90s", "honor_pod_protection": false, "on_manual_resume": "pause"},
	"count_from": "scheduled", "pod_end_estimate": "midpoint", "resource_weights": {"nvidia.com/mig-1g.5gb": "1/7"}, "model_weights": null,
	"breakdown_labels": null, "max_status_age": "1h"
}`

func shownBudgets(attributes ...string) string {
	var resources []string
	for n, a := range attributes {
		resources = append(resources, fmt.Sprintf(`{"address":"gpupool_budget.b[%d]","mode":"managed","type":"gpupool_budget","name":"b","index":%d,
			"provider_name":"registry.terraform.io/gpupool/gpupool","schema_version":0,"values":%s}`, n, n, a))
	}
	return `{"format_version":"1.0","terraform_version":"1.11.4","values":{"root_module":{"resources":[` + strings.Join(resources, ",") + `]}}}`
}

func pulledBudgets(attributes ...string) string {
	var instances []string
	for n, a := range attributes {
		instances = append(instances, fmt.Sprintf(`{"index_key":%d,"schema_version":0,"attributes":%s}`, n, a))
	}
	return `{"version":4,"serial":7,"lineage":"l","terraform_version":"1.11.4","resources":[{"mode":"managed","type":"gpupool_budget","name":"b",
		"provider":"provider[\"registry.terraform.io/gpupool/gpupool\"]","instances":[` + strings.Join(instances, ",") + `]}]}`
}

func TestBudgetsFromState(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer(`"team-a"`, `"team-b"`, "aaaa1a52", "bbbb1a52").Replace(budgetAttributes)
	second := stateBudget()
	second.Name, second.UID = "team-b", "bbbb1a52f0e94d3c8a6b0d1e2f3a4b5c"
	want := []declaration.StateBudget{{Address: "gpupool_budget.b[0]", Declaration: stateBudget()}, {Address: "gpupool_budget.b[1]", Declaration: second}}
	for name, data := range map[string]string{"show": shownBudgets(budgetAttributes, other), "pull": pulledBudgets(budgetAttributes, other)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := fromState(t, []byte(data))
			if diff := cmp.Diff(want, state.Budgets, emptyAsNil); diff != "" || len(state.Pools) > 0 || len(state.Warnings) > 0 {
				t.Errorf("warnings %v (-want +got)\n%s", state.Warnings, diff)
			}
			if problems := state.Budgets[0].Declaration.Validate(time.LoadLocation); len(problems) > 0 {
				t.Errorf("what the provider writes is refused: %v", problems)
			}
		})
	}
}

func TestAnUnreadBudgetInState(t *testing.T) {
	t.Parallel()
	state := fromState(t, []byte(shownBudgets(strings.Replace(budgetAttributes, `"100"`, "100", 1))))
	if len(state.Budgets) != 1 || state.Budgets[0].Unread == nil || state.Budgets[0].Declaration.Name != "team-a" ||
		!strings.Contains(state.Budgets[0].Unread.Error(), `its field "gpu_hours" is of the wrong type`) {
		t.Errorf("got %+v", state.Budgets)
	}
}

func TestUnusableBudgetsInState(t *testing.T) {
	t.Parallel()
	without := func(key string) string {
		var all map[string]any
		if err := json.Unmarshal([]byte(budgetAttributes), &all); err != nil {
			t.Fatal(err)
		}
		delete(all, key)
		data, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for name, c := range map[string]struct{ data, says string }{
		"twice":           {shownBudgets(budgetAttributes, budgetAttributes), "both declare the budget team-a"},
		"the same uid":    {pulledBudgets(budgetAttributes, strings.Replace(budgetAttributes, "team-a", "team-b", 1)), "both declare the uid"},
		"no cluster":      {shownBudgets(without("cluster_uid")), "no cluster_uid"},
		"no uid":          {pulledBudgets(without("uid")), "no uid"},
		"a newer schema":  {strings.Replace(shownBudgets(budgetAttributes), `"schema_version":0`, `"schema_version":1`, 1), "Upgrade gpupool"},
		"no attributes":   {shownBudgets("null"), "has no attributes"},
		"half of a state": {shownBudgets(budgetAttributes)[:600], "ends too early"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := declaration.FromState(strings.NewReader(c.data))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}
