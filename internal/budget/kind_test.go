package budget

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestEachKindSaysAllThatOthersTakeFromIt: what reports, metrics and Events need of a
// new kind of decision is asked for here.
func TestEachKindSaysAllThatOthersTakeFromIt(t *testing.T) {
	t.Parallel()
	var listed []string
	reasons := map[string]bool{}
	for _, data := range Kinds() {
		listed = append(listed, string(data.Kind))
		if data.Verb.Base == "" || data.Verb.Past == "" || data.Verb.Base == data.Verb.Past {
			t.Errorf("%s: its verb is %+v", data.Kind, data.Verb)
		}
		d := Decision{
			Kind: data.Kind, Object: "budget/team-a", Owner: &Workload{Namespace: "ml", Owner: ledger.Owner{Kind: "Job", Name: "train"}},
			Pod: &Pod{Pod: gpu.Pod{Namespace: "ml", Name: "train-0"}},
		}
		if s := d.Summary(); !strings.HasPrefix(s, data.Verb.Base+" ") || strings.Contains(s, d.Object) {
			t.Errorf("%s: its summary %q does not say in words what it is about", data.Kind, s)
		}
		switch e := data.Event; {
		case e == nil && data.Kind != KindAlert:
			t.Errorf("%s: no Event reports it", data.Kind)
		case e == nil:
		case !strings.HasPrefix(e.Reason, "GPUBudget") || e.Done == "" || reasons[e.Reason]:
			t.Errorf("%s: its Event is %+v", data.Kind, *e)
		default:
			reasons[e.Reason] = true
		}
	}
	declared := declaredKinds(t)
	slices.Sort(listed)
	slices.Sort(declared)
	if !slices.Equal(listed, declared) {
		t.Errorf("the kinds %q are declared, and Kinds has %q", declared, listed)
	}
}

// declaredKinds are the constants that begin with Kind, as kind.go has them.
func declaredKinds(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "kind.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Kind") {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, text)
		return true
	})
	return kinds
}
