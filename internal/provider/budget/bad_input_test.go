package budget_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// values are the budget of these tests as JSON.
func values(changes providertest.Values) providertest.Values {
	return providertest.Values{
		"name": "team-a", "gpu_hours": "100", "window": "24h", "selector": providertest.Values{"namespaces": []string{"ml"}},
	}.With(changes)
}

func selector(parts providertest.Values) providertest.Values {
	return providertest.Values{"selector": parts}
}

func expression(key, operator string, of ...string) providertest.Values {
	e := providertest.Values{"key": key, "operator": operator}
	if len(of) > 0 {
		e["values"] = of
	}
	return selector(providertest.Values{"match_expressions": []providertest.Values{e}})
}

func enforcement(parts providertest.Values) providertest.Values {
	return providertest.Values{"enforcement": parts}
}

// serve configures the provider, which must not complain, for budgets.
func serve(t *testing.T, w *providertest.World) *providertest.Server {
	t.Helper()
	s, diags := w.Serve(nil, nil)
	if len(diags) > 0 {
		t.Fatalf("configuring the provider: %s", diags)
	}
	return s.For("gpupool_budget")
}

func contains(t *testing.T, diags providertest.Diagnostics, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(diags.String(), w) {
			t.Errorf("%q is missing in\n%s", w, diags)
		}
	}
}

// A validation reports each problem of a declaration once, at its attribute and with a remedy.
func TestBadDeclarations(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t))
	tests := map[string]struct {
		change providertest.Values
		want   []string
	}{
		"an unknown window":     {providertest.Values{"window": "a while"}, []string{`"window"`, `Invalid window "a while"`, `"24h"`}},
		"a short window":        {providertest.Values{"window": "1s"}, []string{`"window"`, "out of range"}},
		"a negative window":     {providertest.Values{"window": "-24h"}, []string{`"window"`, "Invalid window"}},
		"no window":             {providertest.Values{"window": nil}, []string{`"window"`, "neither a window nor a period"}},
		"a window and a period": {providertest.Values{"period": "day"}, []string{`"period"`, "both a window and a period"}},
		"an unknown period":     {providertest.Values{"window": nil, "period": "fortnight"}, []string{`"period"`, `"fortnight" is not known`, `"quarter"`}},
		"an unknown zone": {
			providertest.Values{"window": nil, "period": "day", "time_zone": "Mars/Olympus"}, []string{`"time_zone"`, `Invalid time zone "Mars/Olympus"`},
		},
		"a zone of a window": {providertest.Values{"time_zone": "UTC"}, []string{`"time_zone"`, "belongs to a period"}},
		"an empty selector":  {selector(providertest.Values{}), []string{`"selector"`, "selector is empty", "every pod of the cluster"}},
		"a selector of nothing": {
			selector(providertest.Values{"namespaces": []string{}, "match_labels": providertest.Values{}}), []string{`"selector"`, "selector is empty"},
		},
		"no quota":          {providertest.Values{"gpu_hours": "0"}, []string{`"gpu_hours"`, "above zero"}},
		"zero with digits":  {providertest.Values{"gpu_hours": "0.000"}, []string{`"gpu_hours"`, "above zero"}},
		"a negative quota":  {providertest.Values{"gpu_hours": "-5"}, []string{`"gpu_hours"`, `Invalid number of GPU-hours "-5"`}},
		"too many digits":   {providertest.Values{"gpu_hours": "1.2345"}, []string{`"gpu_hours"`, "at most three"}},
		"hours with a unit": {providertest.Values{"gpu_hours": "100h"}, []string{`"gpu_hours"`, `"100h"`}},
		"a flag":            {providertest.Values{"gpu_hours": "true"}, []string{`"gpu_hours"`, `"true"`}},
		"endless hours":     {providertest.Values{"gpu_hours": "99999999999"}, []string{`"gpu_hours"`}},
		"an illegal name":   {providertest.Values{"name": "Team_A"}, []string{`"name"`, `"Team_A" is not a valid name of a budget`}},
		"an illegal namespace": {
			selector(providertest.Values{"namespaces": []string{"ml", "M L"}}),
			[]string{`AttributeName("namespaces").ElementKeyInt(1)`, `invalid namespace name "M L"`},
		},
		"an illegal label": {
			selector(providertest.Values{"match_labels": providertest.Values{"te am": "a"}}), []string{`ElementKeyString("te am")`, "invalid label key"},
		},
		"an illegal value": {
			selector(providertest.Values{"namespace_labels": providertest.Values{"team": "a b"}}),
			[]string{`ElementKeyString("team")`, "invalid label value"},
		},
		"a label without a value": {
			selector(providertest.Values{"match_labels": providertest.Values{"team": nil}}),
			[]string{`AttributeName("match_labels").ElementKeyString("team")`, "is null", "leave it out"},
		},
		"a label of a namespace": {
			selector(providertest.Values{"namespace_labels": providertest.Values{"team": nil}}),
			[]string{`AttributeName("namespace_labels").ElementKeyString("team")`, "is null"},
		},
		"a null namespace": {
			selector(providertest.Values{"namespaces": []any{nil}}), []string{`AttributeName("namespaces").ElementKeyInt(0)`, "is null"},
		},
		"a null value": {selector(providertest.Values{"match_expressions": []any{providertest.Values{
			"key": "team", "operator": "In", "values": []any{"a", nil},
		}}}), []string{`AttributeName("values").ElementKeyInt(1)`, "is null"}},
		"a null threshold": {providertest.Values{"thresholds": []any{nil, 100}}, []string{"ElementKeyInt(0)", "is null"}},
		"a null weight": {
			providertest.Values{"resource_weights": providertest.Values{"nvidia.com/gpu": nil}}, []string{`ElementKeyString("nvidia.com/gpu")`, "is null"},
		},
		"an unknown operator": {
			expression("team", "Equals", "a"), []string{`ElementKeyInt(0).AttributeName("operator")`, `"Equals" is not known`, "NotIn"},
		},
		"an operator of nothing":  {expression("team", "In"), []string{`AttributeName("values")`, "has no values"}},
		"an operator of too much": {expression("team", "Exists", "a"), []string{`AttributeName("values")`, "takes no values"}},
		"an illegal key":          {expression("", "Exists"), []string{`AttributeName("key")`, "invalid label key"}},
		"thresholds out of order": {providertest.Values{"thresholds": []int{80, 50}}, []string{`"thresholds"`, "ElementKeyInt(1)", "50 comes after 80"}},
		"a threshold of nothing":  {providertest.Values{"thresholds": []int{0, 50, 100}}, []string{"ElementKeyInt(0)", "out of range"}},
		"half a percent":          {providertest.Values{"thresholds": []float64{50, 50.5}}, []string{"ElementKeyInt(1)", "50.5 is not a whole percent"}},
		"half an eviction": {
			enforcement(providertest.Values{"max_evictions_per_run": 1.5}), []string{`"max_evictions_per_run"`, "1.5 is not a whole number of pods"},
		},
		"endless evictions": {
			enforcement(providertest.Values{"max_evictions_per_run": 1e30}), []string{`"max_evictions_per_run"`, "1e+30 is not a whole number"},
		},
		"no threshold":      {providertest.Values{"thresholds": []int{}}, []string{`"thresholds"`, "No threshold"}},
		"an unknown action": {enforcement(providertest.Values{"action": "delete"}), []string{`"action"`, `"delete" is not known`, `"evict"`}},
		"no time to end":    {enforcement(providertest.Values{"max_grace_period": "0s"}), []string{`"max_grace_period"`, "out of range"}},
		"no gap":            {enforcement(providertest.Values{"max_gap": "0s"}), []string{`"max_gap"`, "out of range"}},
		"an illegal protection": {
			enforcement(providertest.Values{"protected_namespaces": []string{"ok", "M L"}}),
			[]string{`AttributeName("protected_namespaces").ElementKeyInt(1)`, `invalid namespace name "M L"`},
		},
		"no grace period": {enforcement(providertest.Values{"grace_period": "soon"}), []string{`"grace_period"`, `nvalid duration "soon"`}},
		"an endless grace period": {
			enforcement(providertest.Values{"grace_period": "31d"}), []string{`"grace_period"`, "31d is out of range", "between 0s and 30d"},
		},
		"no evictions": {
			enforcement(providertest.Values{"action": "evict", "max_evictions_per_run": 0}),
			[]string{`"max_evictions_per_run"`, "0 is out of range", "freeze or alert_only"},
		},
		"an unknown order": {enforcement(providertest.Values{"eviction_order": "youngest"}), []string{`"eviction_order"`, `"newest_start"`}},
		"an illegal class": {
			enforcement(providertest.Values{"protected_priority_class": "Very High"}),
			[]string{`"protected_priority_class"`, "invalid name of a priority class"},
		},
		"an unknown start":  {providertest.Values{"count_from": "pending"}, []string{`"count_from"`, `"scheduled"`}},
		"an unknown policy": {providertest.Values{"pod_end_estimate": "never"}, []string{`"pod_end_estimate"`, `"midpoint"`}},
		"a weight of seven thirds": {
			providertest.Values{"resource_weights": providertest.Values{"nvidia.com/gpu": "seven"}},
			[]string{`ElementKeyString("nvidia.com/gpu")`, "invalid weight"},
		},
		"a weight by zero": {
			providertest.Values{"model_weights": providertest.Values{"Tesla-T4": "1/0"}}, []string{`ElementKeyString("Tesla-T4")`, "division by zero"},
		},
		"an illegal resource": {
			providertest.Values{"resource_weights": providertest.Values{"a gpu": "1"}}, []string{`ElementKeyString("a gpu")`, "invalid resource name"},
		},
		"an illegal breakdown": {
			providertest.Values{"breakdown_labels": []string{"te am"}}, []string{`"breakdown_labels"`, "ElementKeyInt(0)", "invalid label key"},
		},
		"a label twice":         {providertest.Values{"breakdown_labels": []string{"team", "team"}}, []string{"ElementKeyInt(1)", "is there already"}},
		"an age of a status":    {providertest.Values{"max_status_age": "1s"}, []string{`"max_status_age"`, "out of range"}},
		"an empty action":       {enforcement(providertest.Values{"action": ""}), []string{`"action"`, `"" is not known`, `"evict"`}},
		"an empty order":        {enforcement(providertest.Values{"eviction_order": ""}), []string{`"eviction_order"`, `"" is not known`}},
		"an empty grace period": {enforcement(providertest.Values{"grace_period": ""}), []string{`"grace_period"`, `nvalid duration ""`}},
		"an empty time to end":  {enforcement(providertest.Values{"max_grace_period": ""}), []string{`"max_grace_period"`, `nvalid duration ""`}},
		"an empty gap":          {enforcement(providertest.Values{"max_gap": ""}), []string{`"max_gap"`, `nvalid duration ""`}},
		"an empty start":        {providertest.Values{"count_from": ""}, []string{`"count_from"`, `"" is not known`}},
		"an empty policy":       {providertest.Values{"pod_end_estimate": ""}, []string{`"pod_end_estimate"`, `"" is not known`}},
		"an empty age":          {providertest.Values{"max_status_age": ""}, []string{`"max_status_age"`, `nvalid duration ""`}},
		"a protection twice": {
			enforcement(providertest.Values{"protected_namespaces": []string{"ml", "ml"}}),
			[]string{`AttributeName("protected_namespaces").ElementKeyInt(1)`, `"ml" is there already`},
		},
		"a value twice": {expression("team", "In", "a", "a"), []string{`AttributeName("values").ElementKeyInt(1)`, `"a" is there already`}},
		"no time to create": {
			providertest.Values{"timeouts": providertest.Values{"create": "0s"}},
			[]string{`AttributeName("create")`, "0s is out of range: it must be between 1s and 30d", "Leave it out"},
		},
		"a negative timeout": {
			providertest.Values{"timeouts": providertest.Values{"update": "-1m"}}, []string{`AttributeName("update")`, `nvalid duration "-1m"`},
		},
		"no time to destroy": {
			providertest.Values{"timeouts": providertest.Values{"delete": "0s"}}, []string{`AttributeName("delete")`, "0s is out of range"},
		},
		"an endless timeout": {
			providertest.Values{"timeouts": providertest.Values{"delete": "2562047h"}}, []string{`AttributeName("delete")`, "2562047h is out of range"},
		},
		"no timeout":           {providertest.Values{"timeouts": providertest.Values{"create": "later"}}, []string{`"timeouts"`, "later"}},
		"no timeout of an end": {providertest.Values{"timeouts": providertest.Values{"delete": "later"}}, []string{`"timeouts"`, `"delete"`, "later"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			diags := s.Validate(values(test.change))
			contains(t, diags, test.want...)
			if len(diags) != 1 {
				t.Errorf("%d diagnostics, not one:\n%s", len(diags), diags)
			}
		})
	}
	for _, good := range []providertest.Values{
		nil, enforcement(providertest.Values{"grace_period": "1d", "max_gap": "1h"}), {"window": "2w", "max_status_age": "1d"},
	} {
		if diags := s.Validate(values(good)); len(diags) > 0 {
			t.Errorf("a good declaration: %s", diags)
		}
	}
}

// A plan warns of values that are valid and probably not intended. A validation does not, since
// it also precedes a destruction.
func TestDoubtfulDeclarations(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t))
	for name, test := range map[string]struct {
		change providertest.Values
		want   []string
	}{
		"no grace": {
			enforcement(providertest.Values{"action": "evict", "grace_period": "0s"}), []string{"WARNING", `"grace_period"`, "leave time to save work"},
		},
		"low thresholds": {providertest.Values{"thresholds": []int{50}}, []string{"WARNING", `"thresholds"`, "nothing reports that the limit is reached"}},
		"a system namespace": {
			enforcement(providertest.Values{"action": "evict"}).With(selector(providertest.Values{"namespaces": []string{"kube-system"}})),
			[]string{"WARNING", "count, and are never evicted"},
		},
		"a weight of nothing": {providertest.Values{"resource_weights": providertest.Values{"nvidia.com/gpu": "0"}}, []string{"WARNING", "counts nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contains(t, s.Plan(nil, values(test.change)).Diagnostics, test.want...)
			if diags := s.Validate(values(test.change)); len(diags) > 0 {
				t.Errorf("a validation reports %s", diags)
			}
		})
	}
}

// Unknown values are left to a later validation, and are never problems.
func TestUnknownValuesAreNotJudged(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t))
	all := values(providertest.Values{"period": nil, "time_zone": nil, "enforcement": nil, "thresholds": nil, "resource_weights": nil})
	everything := providertest.Values{}
	for name := range all {
		everything[name] = providertest.Unknown
		if diags := s.Validate(values(providertest.Values{name: providertest.Unknown})); len(diags) > 0 {
			t.Errorf("with %s unknown: %s", name, diags)
		}
	}
	if diags := s.Validate(everything); len(diags) > 0 {
		t.Errorf("with everything unknown: %s", diags)
	}
	if diags := s.Validate(values(providertest.Values{"window": nil, "period": providertest.Unknown})); len(diags) > 0 {
		t.Errorf("with an unknown period for a window: %s", diags)
	}
	// Known values are validated anyway.
	contains(t, s.Validate(values(providertest.Values{"window": providertest.Unknown, "gpu_hours": "x"})), `"gpu_hours"`)
}

// create plans and applies a budget without diagnostics.
func create(t *testing.T, s *providertest.Server, config providertest.Values) *providertest.Object {
	t.Helper()
	p := s.Plan(nil, config)
	if len(p.Diagnostics) > 0 {
		t.Fatalf("planning the budget: %s", p.Diagnostics)
	}
	o, diags := s.Apply(p)
	if len(diags) > 0 {
		t.Fatalf("creating the budget: %s", diags)
	}
	return o
}

// Only the CLI reads KUBECONFIG: without a cluster, the provider reports that it ignores it.
func TestIgnoredKubeconfigIsReported(t *testing.T) {
	t.Parallel()
	w := providertest.New(t)
	for kubeconfig, want := range map[string]bool{"/home/me/kubeconfig": true, "": false} {
		s, diags := w.Serve(map[string]string{"KUBECONFIG": kubeconfig}, nil)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		diags = s.For("gpupool_budget").Plan(nil, values(nil)).Diagnostics
		contains(t, diags, "ERROR", "No Kubernetes cluster is configured", "config_path")
		if got := strings.Contains(diags.String(), "KUBECONFIG (/home/me/kubeconfig) is not read, as by the official"); got != want {
			t.Errorf("KUBECONFIG=%s: %s", kubeconfig, diags)
		}
	}
}
