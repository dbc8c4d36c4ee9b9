package spotpool_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Reports and metrics need this data of each kind of decision.
func TestEachKindHasItsData(t *testing.T) {
	t.Parallel()
	var listed []string
	for _, data := range spotpool.Kinds() {
		listed = append(listed, string(data.Kind))
		if data.Verb.Base == "" || data.Verb.Past == "" || data.Verb.Base == data.Verb.Past {
			t.Errorf("%s: its verb is %+v", data.Kind, data.Verb)
		}
		d := spotpool.Decision{
			Kind: data.Kind, Object: "spot_pool/ap-singapore/train", Count: 1, Offering: &spotpool.Offering{}, InstanceIDs: []string{"ins-1"},
			Node: &node.Node{Name: "n"},
		}
		if s := d.Summary(); !strings.HasPrefix(s, data.Verb.Base+" ") || strings.Contains(s, d.Object) {
			t.Errorf("%s: its summary %q does not say in words what it is about", data.Kind, s)
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
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "kind.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Kind") {
			return true
		}
		literal, _ := spec.Values[0].(*ast.BasicLit)
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, text)
		return true
	})
	return kinds
}
