package declaration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

var encoders = map[string]func() error{
	"SpotPool": encodeEmpty[declaration.SpotPool], "Journal": encodeEmpty[declaration.Journal], "Budget": encodeEmpty[declaration.Budget],
	"BudgetStatus": encodeEmpty[declaration.BudgetStatus], "BudgetUsage": encodeEmpty[declaration.BudgetUsage],
	"Grants": encodeEmpty[declaration.Grants], "Holds": encodeEmpty[declaration.Holds],
	"Pauses": encodeEmpty[declaration.Pauses], "RunSummary": encodeEmpty[declaration.RunSummary],
	"StockPool": encodeEmpty[declaration.StockPool], "StockJournal": encodeEmpty[declaration.StockJournal],
	"LastDay": encodeEmpty[declaration.LastDay], "PoolStatuses": encodeEmpty[declaration.PoolStatuses],
	"Tombstone": encodeEmpty[declaration.Tombstone], "State": encodeEmpty[declaration.State],
	"Job":          encodeEmpty[declaration.Job],
	"Notification": encodeEmpty[declaration.Notification], "NotificationJournal": encodeEmpty[declaration.NotificationJournal],
}

func encodeEmpty[T declaration.Body]() error {
	var empty T
	_, err := declaration.Encode(empty)
	return err
}

// TestEveryBodyIsListed fails for a body that documents may hold by its type, and that
// has no row in the list of bodies.
func TestEveryBodyIsListed(t *testing.T) {
	t.Parallel()
	if want, got := bodiesInSource(t), slices.Sorted(maps.Keys(encoders)); !slices.Equal(got, want) {
		t.Fatalf("the bodies are %q, and this test knows %q", want, got)
	}
	for name, write := range encoders {
		if err := write(); err != nil && strings.Contains(err.Error(), "no document can hold") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func bodiesInSource(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "body.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == "Body" {
			ast.Inspect(spec.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					names = append(names, id.Name)
				}
				return true
			})
		}
		return true
	})
	slices.Sort(names)
	return names
}

func TestATombstoneSaysWhereItsObjectWas(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		"spot_pool/ap-singapore/train": "it has no account_id", "budget/team-a": "it has no cluster_uid", "stock_pool/ml/g1": "it has no cluster_uid",
		"notification/ops": "", "flavor/g1": "",
	} {
		_, err := declaration.Encode(declaration.Tombstone{UID: "u", Object: object})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", object, err, want)
		}
	}
}

func TestCheckTakesAnyBodyOfTheFolder(t *testing.T) {
	t.Parallel()
	summary, err := declaration.Encode(declaration.RunSummary{RunID: "run"})
	if err != nil {
		t.Fatal(err)
	}
	if err := declaration.Check("statuses", "statuses/last_run", summary); err != nil {
		t.Error(err)
	}
	if err := declaration.Check("journals", "journals/a", summary); err == nil || !strings.Contains(err.Error(), "its kind is not journal") {
		t.Errorf("a summary among journals: %v", err)
	}
	if err := declaration.Check("elsewhere", "elsewhere/a", summary); err == nil || !strings.Contains(err.Error(), "unknown kind") {
		t.Errorf("an unknown folder: %v", err)
	}
}
