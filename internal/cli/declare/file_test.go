package declare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/declare"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := declare.Parse([]byte(`
budgets:
  team-b:
    gpuHours: "12.5"
    period: month
    timeZone: Asia/Shanghai
    thresholds: [90]
    selector:
      namespaces: [ml]
      namespaceLabels: {team: b}
      matchExpressions: [{key: tier, operator: In, values: [gold]}]
  team-a:
    gpuHours: 100
    selector:
      matchLabels: {team: a}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []budget.Declaration{
		{Name: "team-a", GPUHours: "100", Window: "7d", Selector: budget.Selector{MatchLabels: map[string]string{"team": "a"}}},
		{
			Name: "team-b", GPUHours: "12.5", Period: budget.Month, TimeZone: "Asia/Shanghai", Thresholds: []int{90},
			Selector: budget.Selector{
				Namespaces: []string{"ml"}, NamespaceLabels: map[string]string{"team": "b"},
				MatchExpressions: []budget.Expression{{Key: "tier", Operator: "In", Values: []string{"gold"}}},
			},
		},
	}
	for n, d := range want {
		want[n] = d.WithDefaults()
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, d := range got {
		if problems := d.Validate(time.LoadLocation); len(problems) > 0 || d.Enforce.Action != budget.AlertOnly {
			t.Errorf("%s is invalid, or does more than alert: %v, %s", d.Name, problems, d.Enforce.Action)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"": "the file has no budgets", "{}": "the file has no budgets", "budgets: [a]": "cannot unmarshal", "budget: {}": `unknown field "budget"`,
		"budgets: {a: {gpuHour: 1}}":                        `unknown field "gpuHour"`,
		"budgets: {a: {gpuHours: [1]}}":                     "gpuHours is not a number",
		"budgets: {a: {}, a: {}}":                           `key "a" already set`,
		"budgets: {a: {enforcement: evict}}":                "unknown field",
		"# " + strings.Repeat("a", 1<<20) + "\nbudgets: {}": "larger than",
	} {
		if list, err := declare.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: got %v and the error %v, want one that says %s", text, list, err, says)
		}
	}
}
