package declaration_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

func TestNamesChoose(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		names        declaration.Names
		pool, budget bool // ap-singapore/team-a, team-b
	}{
		{nil, true, true},
		{declaration.Names{"team-a"}, true, false},
		{declaration.Names{"ap-singapore/team-a"}, true, false},
		{declaration.Names{"team-b"}, false, true},
		{declaration.Names{"team-*"}, true, true},
		{declaration.Names{"ap-*/team-?"}, true, false},
		{declaration.Names{"eu-*/*", "none"}, false, false},
		{declaration.Names{"*"}, true, true},
		{declaration.Names{"none", "team-[ab]"}, true, true},
		{declaration.Names{"*/*"}, true, false},
		{declaration.Names{"budget/team-b"}, false, true},
		{declaration.Names{"spot_pool/ap-singapore/team-a"}, true, false},
		{declaration.Names{"spot_pool/team-*", "stock_pool/*"}, true, false},
	} {
		if pool := tt.names.Pool("ap-singapore/team-a"); pool != tt.pool {
			t.Errorf("%q chooses the pool: %t", tt.names, pool)
		}
		if budget := tt.names.Budget("team-b"); budget != tt.budget {
			t.Errorf("%q chooses the budget: %t", tt.names, budget)
		}
		if tt.names.Fits("spot_pool/ap-singapore/team-a") != tt.pool || tt.names.Fits("budget/team-b") != tt.budget {
			t.Errorf("%q chooses other objects", tt.names)
		}
	}
}

// TestTheRunItself is an object of the history, too.
func TestTheRunItself(t *testing.T) {
	t.Parallel()
	if !(declaration.Names{"run"}).Fits("run") || !(declaration.Names{}).Fits("run") || (declaration.Names{"train"}).Fits("run") {
		t.Error("events of a whole run are chosen by its name, and where all are")
	}
}

func TestNamesThatFitNothing(t *testing.T) {
	t.Parallel()
	pools := []string{"spot_pool/ap-singapore/eval", "spot_pool/ap-singapore/train", "spot_pool/eu-frankfurt/train"}
	all := append([]string{"budget/a", "budget/b", "budget/c", "budget/train-budget"}, pools...)
	for name, want := range map[string]string{
		"trian": "no pool or budget named trian in the store S; it has ap-singapore/train, eu-frankfurt/train, ap-singapore/eval, " +
			"budget/a, budget/b and 2 more: gpupool status lists all",
		"nothing*": "no pool or budget in the store S matches nothing*; it has ap-singapore/train, eu-frankfurt/train, ap-singapore/eval, " +
			"budget/a, budget/b and 2 more: gpupool status lists all",
	} {
		if err := (declaration.Names{"train", name}).Among("S", all); err == nil || err.Error() != want {
			t.Errorf("%s: got  %v\nwant %s", name, err, want)
		}
	}
	if err := (declaration.Names{"x"}).Among("S", pools[:1]); err == nil ||
		err.Error() != "no pool or budget named x in the store S; it has ap-singapore/eval" {
		t.Error(err)
	}
	if err := (declaration.Names{"x"}).Among("S", nil); err == nil || err.Error() != "no pool or budget named x in the store S; it has no "+
		"declarations" {
		t.Error(err)
	}
	if err := (declaration.Names{"train", "eu-*/*", "train-*"}).Among("S", all); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "[", "a["} {
		if err := (declaration.Names{"train", bad}).Validate(); err == nil {
			t.Errorf("%q is taken for a name", bad)
		}
	}
}

// TestStockPoolsAreChosen by their namespace and name, and apart from a pool of that name.
func TestStockPoolsAreChosen(t *testing.T) {
	t.Parallel()
	objects := []string{"spot_pool/ap-singapore/g1", "stock_pool/ml/g1", "budget/g1"}
	for name, want := range map[string]string{
		"stock_pool/ml/g1": "stock_pool/ml/g1", "stock_pool/g1": "stock_pool/ml/g1", "ml/*": "stock_pool/ml/g1", "budget/g1": "budget/g1",
	} {
		for _, object := range objects {
			if (declaration.Names{name}).Fits(object) != (object == want) {
				t.Errorf("%s is chosen by %s: %t", object, name, object != want)
			}
		}
	}
	err := (declaration.Names{"stock_pool/ml/g2"}).Among("S", objects)
	if want := "no pool, stock pool or budget named stock_pool/ml/g2 in the store S; it has stock_pool/ml/g1, " +
		"ap-singapore/g1, budget/g1"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
