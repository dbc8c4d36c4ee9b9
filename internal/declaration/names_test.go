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
	pools := []string{"ap-singapore/eval", "ap-singapore/train", "eu-frankfurt/train"}
	budgets := []string{"a", "b", "c", "train-budget"}
	for name, want := range map[string]string{
		"trian":    "no pool and no budget trian is declared in the store S: the nearest are ap-singapore/train, eu-frankfurt/train, ap-singapore/eval, budget a, budget b, and there are 2 more, which gpupool status lists",
		"nothing*": "no pool and no budget in the store S fits nothing*: the nearest are ap-singapore/train, eu-frankfurt/train, ap-singapore/eval, budget a, budget b, and there are 2 more, which gpupool status lists",
	} {
		if err := (declaration.Names{"train", name}).Among("S", pools, budgets); err == nil || err.Error() != want {
			t.Errorf("%s: got  %v\nwant %s", name, err, want)
		}
	}
	if err := (declaration.Names{"x"}).Among("S", pools[:1], nil); err == nil || err.Error() != "no pool and no budget x is declared in the store S: there is ap-singapore/eval" {
		t.Error(err)
	}
	if err := (declaration.Names{"x"}).Among("S", nil, nil); err == nil || err.Error() != "no pool and no budget x is declared in the store S: nothing is declared there" {
		t.Error(err)
	}
	if err := (declaration.Names{"train", "eu-*/*", "train-*"}).Among("S", pools, budgets); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "[", "a["} {
		if err := (declaration.Names{"train", bad}).Validate(); err == nil {
			t.Errorf("%q is taken for a name", bad)
		}
	}
}
