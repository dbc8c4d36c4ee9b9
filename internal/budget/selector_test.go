package budget

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func TestEveryPartOfASelectorMustMatch(t *testing.T) {
	t.Parallel()
	pod := &ledger.LabelSet{
		Namespace: "ml", Labels: ledger.LabelsOf(map[string]string{"team": "a", "tier": "gpu", "empty": ""}),
		NamespaceLabels: ledger.LabelsOf(map[string]string{"cost-center": "7"}),
	}
	tests := []struct {
		name     string
		selector Selector
		want     bool
	}{
		{"its namespace", Selector{Namespaces: []string{"web", "ml"}}, true},
		{"another namespace", Selector{Namespaces: []string{"web"}}, false},
		{"its namespace's label", Selector{NamespaceLabels: map[string]string{"cost-center": "7"}}, true},
		{"another value", Selector{NamespaceLabels: map[string]string{"cost-center": "8"}}, false},
		{"no such label", Selector{NamespaceLabels: map[string]string{"owner": ""}}, false},
		{"its labels", Selector{MatchLabels: map[string]string{"team": "a", "tier": "gpu"}}, true},
		{"one of two labels", Selector{MatchLabels: map[string]string{"team": "a", "tier": "cpu"}}, false},
		{"namespace and label", Selector{Namespaces: []string{"ml"}, MatchLabels: map[string]string{"team": "b"}}, false},
		{"In", one("team", "In", "b", "a"), true},
		{"In another", one("team", "In", "b"), false},
		{"In where absent", one("owner", "In", "b"), false},
		{"NotIn", one("team", "NotIn", "b"), true},
		{"NotIn its own", one("team", "NotIn", "a"), false},
		{"NotIn where absent", one("owner", "NotIn", "b"), true},
		{"Exists", one("team", "Exists"), true},
		{"Exists with an empty value", one("empty", "Exists"), true},
		{"Exists where absent", one("owner", "Exists"), false},
		{"DoesNotExist", one("owner", "DoesNotExist"), true},
		{"DoesNotExist where it does", one("team", "DoesNotExist"), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m, err := test.selector.Matcher()
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Matches(pod); got != test.want {
				t.Errorf("%+v: %t, want %t", test.selector, got, test.want)
			}
		})
	}
}

func one(key, operator string, values ...string) Selector {
	return Selector{MatchExpressions: []Expression{{Key: key, Operator: operator, Values: values}}}
}

// TestSelectorsAreThoseOfKubernetes holds matching to what the API server does
// with the same selector, as a freeze hands it over.
func TestSelectorsAreThoseOfKubernetes(t *testing.T) {
	t.Parallel()
	keys, values := []string{"a", "b", "c"}, []string{"", "x", "y"}
	some := rapid.MapOf(rapid.SampledFrom(keys), rapid.SampledFrom(values))
	rapid.Check(t, func(t *rapid.T) {
		of, matchLabels := some.Draw(t, "labels"), some.Draw(t, "match")
		s := Selector{MatchLabels: matchLabels}
		theirs := &metav1.LabelSelector{MatchLabels: matchLabels}
		for range rapid.IntRange(0, 3).Draw(t, "expressions") {
			e := Expression{
				Key: rapid.SampledFrom(keys).Draw(t, "key"), Operator: rapid.SampledFrom([]string{"In", "NotIn", "Exists", "DoesNotExist"}).Draw(t, "operator"),
			}
			if e.Operator == "In" || e.Operator == "NotIn" {
				e.Values = rapid.SliceOfN(rapid.SampledFrom(values), 1, 2).Draw(t, "values")
			}
			s.MatchExpressions = append(s.MatchExpressions, e)
			theirs.MatchExpressions = append(theirs.MatchExpressions,
				metav1.LabelSelectorRequirement{Key: e.Key, Operator: metav1.LabelSelectorOperator(e.Operator), Values: e.Values})
		}
		want, err := metav1.LabelSelectorAsSelector(theirs)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Matcher()
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Matches(&ledger.LabelSet{Labels: ledger.LabelsOf(of)}); got != want.Matches(labels.Set(of)) {
			t.Fatalf("%+v on %v: %t", s, of, got)
		}
	})
}

func TestParseSelector(t *testing.T) {
	t.Parallel()
	got, err := ParseSelector("team=a,tier in (gpu,batch),!debug,zone!=eu,owner,env notin (dev)")
	if err != nil {
		t.Fatal(err)
	}
	want := Selector{MatchLabels: map[string]string{"team": "a"}, MatchExpressions: []Expression{
		{Key: "debug", Operator: "DoesNotExist"}, {Key: "env", Operator: "NotIn", Values: []string{"dev"}}, {Key: "owner", Operator: "Exists"},
		{Key: "tier", Operator: "In", Values: []string{"batch", "gpu"}}, {Key: "zone", Operator: "NotIn", Values: []string{"eu"}},
	}}
	for n := range got.MatchExpressions {
		if len(got.MatchExpressions[n].Values) == 0 {
			got.MatchExpressions[n].Values = nil
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"team=a b", "team in", "a>1", "a<1", "=", "team in (a", "!", "a/b/c"} {
		if s, err := ParseSelector(text); err == nil {
			t.Errorf("ParseSelector(%q) = %+v, want an error", text, s)
		}
	}
}

func TestSelectorsThatSayTheSameHaveOneKey(t *testing.T) {
	t.Parallel()
	a := Selector{Namespaces: []string{"ml", "web"}, MatchExpressions: []Expression{
		{Key: "a", Operator: "In", Values: []string{"x", "y"}}, {Key: "b", Operator: "Exists"},
	}}
	b := Selector{Namespaces: []string{"web", "ml"}, MatchExpressions: []Expression{
		{Key: "b", Operator: "Exists"}, {Key: "a", Operator: "In", Values: []string{"y", "x", "x"}},
	}}
	if a.key() != b.key() {
		t.Errorf("%s and %s", a.key(), b.key())
	}
	if c := (Selector{Namespaces: []string{"ml"}}); a.key() == c.key() {
		t.Error(c.key())
	}
}

// TestASelectorExcludesByWhatIsKnown: a label that a template lacks may be added
// to its pods, and one that it has does not change.
func TestASelectorExcludesByWhatIsKnown(t *testing.T) {
	t.Parallel()
	known := set("ml", "team", "a")
	for want, selectors := range map[bool][]Selector{
		false: {
			{Namespaces: []string{"ml", "web"}}, {MatchLabels: map[string]string{"team": "a"}}, {MatchLabels: map[string]string{"added": "later"}},
			{MatchExpressions: []Expression{{Key: "added", Operator: "Exists"}, {Key: "team", Operator: "In", Values: []string{"a", "b"}}}},
		},
		true: {
			{Namespaces: []string{"web"}}, {MatchLabels: map[string]string{"team": "b"}}, {NamespaceLabels: map[string]string{"kind": "research"}},
			{MatchExpressions: []Expression{{Key: "team", Operator: "NotIn", Values: []string{"a"}}}},
			{MatchExpressions: []Expression{{Key: "team", Operator: "DoesNotExist"}}},
		},
	} {
		for _, s := range selectors {
			if got := s.Excludes(known); got != want {
				t.Errorf("%+v: %t", s, got)
			}
		}
	}
}
