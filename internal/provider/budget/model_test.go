package budget

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"pgregory.net/rapid"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

// modelOf is a declaration as an import writes it.
func modelOf(d core.Declaration) model { return model{Record: kit.NewRecord()}.declared(d) }

// declarations are complete ones, as they are recorded.
func declarations() *rapid.Generator[core.Declaration] {
	word := rapid.StringMatching(`[a-z][a-z0-9]{0,6}`)
	words := rapid.SliceOfNDistinct(word, 1, 3, rapid.ID)
	table := rapid.MapOfN(word, word, 1, 3)
	duration := rapid.SampledFrom([]string{"90s", "10m", "1h", "24h"})
	weights := rapid.MapOfN(word, rapid.SampledFrom([]string{"1", "0.5", "1/7"}), 1, 2)
	return rapid.Custom(func(t *rapid.T) core.Declaration {
		d := core.Declaration{
			Name: word.Draw(t, "name"), UID: word.Draw(t, "uid"), Generation: rapid.Int64Range(1, 99).Draw(t, "generation"),
			ClusterUID: word.Draw(t, "cluster"),
			GPUHours:   rapid.SampledFrom([]string{"1", "12.5", "100"}).Draw(t, "hours"),
			Selector:   core.Selector{Namespaces: words.Draw(t, "namespaces")},
			Enforce: core.Enforcement{
				Action: rapid.SampledFrom([]core.Action{core.AlertOnly, core.Freeze, core.Evict}).Draw(t, "action"), GracePeriod: duration.Draw(t, "grace"),
				MaxEvictionsPerRun: rapid.IntRange(1, 9).Draw(t, "evictions"),
				EvictionOrder:      rapid.SampledFrom([]core.EvictionOrder{core.LowestPriority, core.NewestStart}).Draw(t, "order"),
				MaxGap:             duration.Draw(t, "gap"),
				MaxGracePeriod:     duration.Draw(t, "longest"), HonorPodProtection: new(rapid.Bool().Draw(t, "honored")),
				OnManualResume: rapid.SampledFrom([]core.OnManualResume{core.ResumeWarn, core.ResumePause}).Draw(t, "on_manual_resume"),
				OnIneffective:  rapid.SampledFrom([]core.Fallback{core.FallbackWarn, core.FallbackEvict}).Draw(t, "on_ineffective"),
			},
			Thresholds:     rapid.SampledFrom([][]int{{100}, {50, 80, 100}}).Draw(t, "thresholds"),
			CountFrom:      rapid.SampledFrom([]core.CountFrom{core.FromScheduled, core.FromRunning}).Draw(t, "from"),
			PodEndEstimate: rapid.SampledFrom([]ledger.EndEstimate{ledger.EstimateEarliest, ledger.EstimateLatest}).Draw(t, "vanished"),
			MaxStatusAge:   duration.Draw(t, "age"),
		}
		if rapid.Bool().Draw(t, "rolling") {
			d.Window = rapid.SampledFrom([]string{"24h", "7d"}).Draw(t, "window")
		} else {
			d.Period, d.TimeZone = core.Month, rapid.SampledFrom([]string{"", "UTC", "Asia/Singapore"}).Draw(t, "zone")
		}
		if rapid.Bool().Draw(t, "with everything") {
			d.Selector.NamespaceLabels, d.Selector.MatchLabels = table.Draw(t, "namespace labels"), table.Draw(t, "labels")
			d.Selector.MatchExpressions = []core.Expression{
				{Key: word.Draw(t, "key"), Operator: "In", Values: words.Draw(t, "values")}, {Key: "tier", Operator: "Exists"},
			}
			d.Enforce.ProtectedPriorityClass, d.Enforce.ProtectedNamespaces = word.Draw(t, "class"), words.Draw(t, "protected")
			d.ResourceWeights, d.ModelWeights = weights.Draw(t, "resources"), weights.Draw(t, "models")
			d.BreakdownLabels = words.Draw(t, "breakdown")
		}
		return d
	})
}

func TestDeclarationSurvivesTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := declarations().Draw(t, "declaration")
		if diff := cmp.Diff(d, modelOf(d).declaration()); diff != "" {
			t.Fatalf("the declaration changed on its way through the model:\n%s", diff)
		}
	})
}

// A refresh takes over the record of another configuration. A plan has the values of its
// configuration: only their wording may be the prior one.
func TestChangesGetThrough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after := declarations().Draw(t, "before"), declarations().Draw(t, "after")
		was, now := modelOf(before), modelOf(after)
		for what, got := range map[string]model{"refresh": was.declared(after), "plan": now.planned(was)} {
			if diff := cmp.Diff(after, got.declaration(), unordered()...); diff != "" {
				t.Fatalf("a %s lost something:\n%s", what, diff)
			}
		}
		if again := was.planned(was); !again.equal(was) {
			t.Fatal("a plan of the same changes something")
		}
	})
}

// unordered compares what lists say where their order says nothing.
func unordered() []cmp.Option {
	return []cmp.Option{
		cmpopts.SortSlices(func(a, b string) bool { return a < b }),
		cmp.FilterPath(func(p cmp.Path) bool {
			name := p.Last().String()
			return slices.Contains([]string{".Window", ".GracePeriod", ".MaxGracePeriod", ".MaxGap", ".MaxStatusAge"}, name)
		}, cmp.Comparer(func(a, b string) bool { return a == b || attribute.SameDuration(a, b) })),
	}
}

func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		alike func(a, b string) bool
		a, b  string
		want  bool
	}{
		{attribute.SameDuration, "24h", "1d", true}, {attribute.SameDuration, "1440m", "1d", true}, {attribute.SameDuration, "1d12h", "36h", true},
		{attribute.SameDuration, "24h", "25h", false}, {attribute.SameDuration, "x", "x", false},
		{sameHours, "100", "100.0", true}, {sameHours, "0100", "100", true}, {sameHours, "100.000", "100.001", false}, {sameHours, "", "", false},
		{sameWeight, "0.5", "1/2", true}, {sameWeight, "1/7", "0.142857", false},
	} {
		if got := test.alike(test.a, test.b); got != test.want {
			t.Errorf("%q and %q say the same: %v", test.a, test.b, got)
		}
	}
}

func budgetSchema(t *testing.T) schema.Schema {
	t.Helper()
	var resp resource.SchemaResponse
	NewResource().Schema(context.Background(), resource.SchemaRequest{}, &resp)
	return resp.Schema
}

// A state is read as a declaration by the names of its attributes.
func TestAttributesAreNamedAsDeclarationsAre(t *testing.T) {
	t.Parallel()
	d := core.Declaration{
		Window: "24h", Period: core.Day, TimeZone: "UTC", ResourceWeights: map[string]string{"a": "1"}, ModelWeights: map[string]string{"a": "1"},
		BreakdownLabels: []string{"a"},
		Selector: core.Selector{
			Namespaces: []string{"a"}, NamespaceLabels: map[string]string{"a": "b"}, MatchLabels: map[string]string{"a": "b"},
			MatchExpressions: []core.Expression{{Key: "a", Operator: "In", Values: []string{"b"}}},
		},
		Enforce: core.Enforcement{ProtectedPriorityClass: "a", ProtectedNamespaces: []string{"a"}, OnManualResume: core.ResumePause},
	}.WithDefaults()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "published_at") // only of the record
	attributes := budgetSchema(t).Attributes
	delete(attributes, "timeouts") // only of Terraform
	if diff := cmp.Diff(namesOf(fields), namesIn(attributes)); diff != "" {
		t.Error(diff)
	}
}

// namesOf lists the names of an object, and of what is in it.
func namesOf(fields map[string]any) []string {
	var names []string
	for name, value := range fields {
		names = append(names, name)
		if list, ok := value.([]any); ok && len(list) > 0 {
			value = list[0]
		}
		if nested, ok := value.(map[string]any); ok && (name == "selector" || name == "enforcement" || name == "match_expressions") {
			for _, inner := range namesOf(nested) {
				names = append(names, name+"."+inner)
			}
		}
	}
	slices.Sort(names)
	return names
}

func namesIn(attributes map[string]schema.Attribute) []string {
	var names []string
	for name, a := range attributes {
		names = append(names, name)
		var nested map[string]schema.Attribute
		switch a := a.(type) {
		case schema.SingleNestedAttribute:
			nested = a.Attributes
		case schema.ListNestedAttribute:
			nested = a.NestedObject.Attributes
		}
		for _, inner := range namesIn(nested) {
			names = append(names, name+"."+inner)
		}
	}
	slices.Sort(names)
	return names
}
