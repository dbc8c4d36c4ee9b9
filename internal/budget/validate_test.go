package budget

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultsMakeADeclarationWhole(t *testing.T) {
	t.Parallel()
	d := Declaration{Name: "team-a", GPUHours: "100", Period: Month, Selector: Selector{Namespaces: []string{"ml"}}}.WithDefaults()
	if problems := d.Validate(time.LoadLocation); len(problems) > 0 {
		t.Errorf("defaults are refused: %v", problems)
	}
	if warnings := d.Warnings(); len(warnings) > 0 {
		t.Errorf("defaults are warned of: %v", warnings)
	}
	if again := d.WithDefaults(); cmp.Diff(d, again) != "" {
		t.Errorf("defaults change what has them: %s", cmp.Diff(d, again))
	}
	if d.TimeZone != "UTC" || d.Enforce.Action != AlertOnly || d.MaxStatusAge != "1h" || cmp.Diff(d.Thresholds, []int{50, 80, 100}) != "" {
		t.Errorf("%+v", d)
	}
}

func TestEachProblemIsNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, attribute, says string
		change                func(*Declaration)
	}{
		{"no name", "name", `"" is not a valid name`, func(d *Declaration) { d.Name = "" }},
		{"a bad name", "name", `"Team_A" is not a valid name`, func(d *Declaration) { d.Name = "Team_A" }},
		{"a long name", "name", "is not a valid name", func(d *Declaration) { d.Name = strings.Repeat("a", 51) }},
		{"a zero quota", "gpu_hours", "must be above zero", func(d *Declaration) { d.GPUHours = "0" }},
		{"a negative quota", "gpu_hours", "invalid number of GPU-hours", func(d *Declaration) { d.GPUHours = "-5" }},
		{"too many digits", "gpu_hours", "at most three", func(d *Declaration) { d.GPUHours = "1.2345" }},
		{"a huge quota", "gpu_hours", "out of range", func(d *Declaration) { d.GPUHours = "2000000000" }},
		{"no window", "window", "neither a window nor a period", func(d *Declaration) { d.Window = "" }},
		{"both windows", "period", "both a window and a period", func(d *Declaration) { d.Period = Day }},
		{"a huge quota", "gpu_hours", "out of range", func(d *Declaration) { d.GPUHours = "1000000000000" }},
		{"a huge window", "window", "out of range", func(d *Declaration) { d.Window = "9999999h" }},
		{"endless days", "window", "out of range", func(d *Declaration) { d.Window = "99999999d" }},
		{"an unknown window", "window", "invalid window", func(d *Declaration) { d.Window = "fortnight" }},
		{"a short window", "window", "out of range", func(d *Declaration) { d.Window = "30s" }},
		{"an unknown period", "period", `"year" is not known`, func(d *Declaration) { d.Window, d.Period = "", "year" }},
		{"an unknown zone", "time_zone", "invalid time zone", func(d *Declaration) { d.Window, d.Period, d.TimeZone = "", Day, "Mars/Olympus" }},
		{"the machine's zone", "time_zone", "differs from machine to machine", func(d *Declaration) { d.Window, d.Period, d.TimeZone = "", Day, "Local" }},
		{"a zone without a period", "time_zone", "belongs to a period", func(d *Declaration) { d.TimeZone = "Asia/Tokyo" }},
		{"an empty selector", "selector", "the selector is empty", func(d *Declaration) { d.Selector = Selector{} }},
		{"a bad namespace", "selector.namespaces[1]", "invalid namespace name", func(d *Declaration) { d.Selector.Namespaces = []string{"ml", "ML_2"} }},
		{"a namespace twice", "selector.namespaces[1]", "there already", func(d *Declaration) { d.Selector.Namespaces = []string{"ml", "ml"} }},
		{"a bad label", `selector.match_labels["a b"]`, "invalid label key", func(d *Declaration) { d.Selector.MatchLabels = map[string]string{"a b": "c"} }},
		{
			"a bad value", `selector.namespace_labels["team"]`, "invalid label value",
			func(d *Declaration) { d.Selector.NamespaceLabels = map[string]string{"team": "a/b"} },
		},
		{"an unknown operator", "selector.match_expressions[0].operator", `"Gt" is not known`, expression("team", "Gt", "1")},
		{"In of nothing", "selector.match_expressions[0].values", "has no values", expression("team", "In")},
		{"Exists with values", "selector.match_expressions[0].values", "takes no values", expression("team", "Exists", "a")},
		{"an expression's bad key", "selector.match_expressions[0].key", "invalid label key", expression("-team", "Exists")},
		{"an expression's bad value", "selector.match_expressions[0].values[1]", "invalid label value", expression("team", "NotIn", "a", "b!")},
		{"no thresholds", "thresholds", "no threshold", func(d *Declaration) { d.Thresholds = []int{} }},
		{"a threshold of nothing", "thresholds[0]", "out of range", func(d *Declaration) { d.Thresholds = []int{0, 100} }},
		{"a threshold beyond", "thresholds[0]", "out of range", func(d *Declaration) { d.Thresholds = []int{1001} }},
		{"a threshold twice", "thresholds[1]", "there already", func(d *Declaration) { d.Thresholds = []int{50, 50} }},
		{"thresholds out of order", "thresholds[1]", "50 comes after 80", func(d *Declaration) { d.Thresholds = []int{80, 50} }},
		{"an unknown count", "count_from", "not known", func(d *Declaration) { d.CountFrom = "created" }},
		{"an unknown policy", "pod_end_estimate", "not known", func(d *Declaration) { d.PodEndEstimate = "never" }},
		{
			"a bad resource", `resource_weights["nvidia com"]`, "invalid resource name",
			func(d *Declaration) { d.ResourceWeights = map[string]string{"nvidia com": "1"} },
		},
		{
			"a bad weight", `resource_weights["nvidia.com/gpu"]`, "invalid weight",
			func(d *Declaration) { d.ResourceWeights = map[string]string{"nvidia.com/gpu": "-1"} },
		},
		{"a division by zero", `model_weights["T4"]`, "division by zero", func(d *Declaration) { d.ModelWeights = map[string]string{"T4": "1/0"} }},
		{"an empty model", `model_weights[" "]`, "no GPU model", func(d *Declaration) { d.ModelWeights = map[string]string{" ": "1"} }},
		{"a bad breakdown", "breakdown_labels[0]", "invalid label key", func(d *Declaration) { d.BreakdownLabels = []string{"a/b/c"} }},
		{"a breakdown twice", "breakdown_labels[1]", "there already", func(d *Declaration) { d.BreakdownLabels = []string{"team", "team"} }},
		{"a bad age", "max_status_age", "invalid duration", func(d *Declaration) { d.MaxStatusAge = "soon" }},
		{"a short age", "max_status_age", "out of range", func(d *Declaration) { d.MaxStatusAge = "1s" }},
		{"an unknown action", "enforcement.action", `"kill" is not known`, func(d *Declaration) { d.Enforce.Action = "kill" }},
		{"an unknown order", "enforcement.eviction_order", "not known", func(d *Declaration) { d.Enforce.EvictionOrder = "random" }},
		{"an endless grace", "enforcement.grace_period", "out of range", func(d *Declaration) { d.Enforce.GracePeriod = "9999999h" }},
		{"a bad grace", "enforcement.grace_period", "invalid duration", func(d *Declaration) { d.Enforce.GracePeriod = "-1m" }},
		{"a long grace", "enforcement.grace_period", "out of range", func(d *Declaration) { d.Enforce.GracePeriod = "721h" }},
		{"no gap", "enforcement.max_gap", "out of range", func(d *Declaration) { d.Enforce.MaxGap = "0s" }},
		{"no evictions", "enforcement.max_evictions_per_run", "out of range", func(d *Declaration) { d.Enforce.MaxEvictionsPerRun = -1 }},
		{
			"a bad class", "enforcement.protected_priority_class", "invalid name of a priority class",
			func(d *Declaration) { d.Enforce.ProtectedPriorityClass = "High!" },
		},
		{"no eviction at all", "enforcement.max_evictions_per_run", "0 is out of range", func(d *Declaration) { d.Enforce.MaxEvictionsPerRun = 0 }},
		{
			"a protected namespace twice", "enforcement.protected_namespaces[1]", "there already",
			func(d *Declaration) { d.Enforce.ProtectedNamespaces = []string{"ml", "ml"} },
		},
		{"an expression's value twice", "selector.match_expressions[0].values[1]", "there already", expression("team", "In", "a", "a")},
		{
			"a bad protected namespace", "enforcement.protected_namespaces[0]", "invalid namespace name",
			func(d *Declaration) { d.Enforce.ProtectedNamespaces = []string{"*"} },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := teamA()
			test.change(&d)
			problems := d.Validate(time.LoadLocation)
			if len(problems) != 1 {
				t.Fatalf("%d problems: %v", len(problems), problems)
			}
			p := problems[0]
			if p.Attribute != test.attribute || !strings.Contains(p.String(), test.says) || !strings.HasSuffix(p.String(), ".") {
				t.Errorf("got %s, want %s: …%s…", p, test.attribute, test.says)
			}
		})
	}
}

func expression(key, operator string, values ...string) func(*Declaration) {
	return func(d *Declaration) {
		d.Selector.MatchExpressions = []Expression{{Key: key, Operator: operator, Values: values}}
	}
}

func TestProblemsAreOneLine(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.GPUHours = "0"
	const want = `gpu_hours: "0" GPU-hours are none: a limit must be above zero. Write the limit in GPU-hours above zero, such as "100" or "12.5", with at most three digits after the point.`
	if got := d.Validate(time.LoadLocation)[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStatusAge(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": time.Hour, "90s": 90 * time.Second} {
		if got, err := (Declaration{MaxStatusAge: text}).StatusAge(); err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	if _, err := (Declaration{MaxStatusAge: "soon"}).StatusAge(); err == nil {
		t.Error("no error")
	}
}

func TestAllProblemsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.GPUHours, d.Window, d.Selector, d.Thresholds = "0", "", Selector{}, []int{0}
	var attributes []string
	for _, p := range d.Validate(time.LoadLocation) {
		attributes = append(attributes, p.Attribute)
	}
	if diff := cmp.Diff([]string{"gpu_hours", "window", "selector", "thresholds[0]"}, attributes); diff != "" {
		t.Error(diff)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		attribute string
		change    func(*Declaration)
	}{
		{"thresholds", func(d *Declaration) { d.Thresholds = []int{50, 99} }},
		{`resource_weights["nvidia.com/gpu"]`, func(d *Declaration) { d.ResourceWeights = map[string]string{"nvidia.com/gpu": "0.0"} }},
		{`model_weights["T4"]`, func(d *Declaration) { d.ModelWeights = map[string]string{"T4": "0"} }},
		{"enforcement.grace_period", func(d *Declaration) { d.Enforce.GracePeriod, d.Window = "2h", "2h" }},
		{"enforcement.grace_period", func(d *Declaration) { d.Enforce.GracePeriod = "0s" }},
		{"enforcement.max_gap", func(d *Declaration) { d.Enforce.MaxGap = "24h" }},
		{"selector.namespaces", func(d *Declaration) { d.Enforce.ProtectedNamespaces = []string{"ml"} }},
		{"selector.namespaces", func(d *Declaration) { d.Selector.Namespaces = []string{"kube-system"} }},
		{"selector", func(d *Declaration) { d.Selector = Selector{MatchLabels: map[string]string{"team": "a"}} }},
	}
	for _, test := range tests {
		d := teamA()
		d.Enforce.Action = Evict
		test.change(&d)
		if problems := d.Validate(time.LoadLocation); len(problems) > 0 {
			t.Errorf("%s: refused: %v", test.attribute, problems)
		}
		if warnings := d.Warnings(); len(warnings) != 1 || warnings[0].Attribute != test.attribute {
			t.Errorf("warned of %v, want %s", warnings, test.attribute)
		}
	}
}

// TestDeclarationsReadWhatTheyWrite keeps the document's names, which are those
// of the resource's arguments.
func TestDeclarationsReadWhatTheyWrite(t *testing.T) {
	t.Parallel()
	d := teamA()
	d.Selector.MatchExpressions = []Expression{{Key: "tier", Operator: "NotIn", Values: []string{"batch"}}}
	d.ResourceWeights, d.ModelWeights = map[string]string{"nvidia.com/gpu": "1/7"}, map[string]string{"T4": "0.5"}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again Declaration
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, again); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{
		`"gpu_hours":"100"`, `"match_expressions":[{"key":"tier","operator":"NotIn","values":["batch"]}]`,
		`"enforcement":{"action":"alert_only","grace_period":"10m"`,
	} {
		if !strings.Contains(string(text), name) {
			t.Errorf("%s lacks %s", text, name)
		}
	}
}
