package tests

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	for situation, want := range map[string]string{"a": "a", "b": "b"} {
		plan, err := Decide(situation)
		if err != nil || plan.Decisions[0].Kind != want {
			t.Errorf("%v", plan)
		}
	}
}

func TestLength(t *testing.T) {
	plan, _ := Decide("launch")
	if len(plan.Decisions) != 1 {
		t.Fatal("nothing is decided")
	}
	for _, d := range plan.Decisions {
		if d.Kind != "launch" {
			t.Error(d.Kind)
		}
	}
}

func TestCount(t *testing.T) {
	verified := 0
	for _, kind := range Kinds() {
		if kind == "" {
			t.Error("no kind")
		}
		verified++
	}
	if verified != 2 {
		t.Errorf("%d", verified)
	}
}

func TestCountOfProperty(t *testing.T) {
	verified := 0
	Check(t, func(t T) {
		plan, _ := Decide("launch")
		for _, d := range plan.Decisions {
			if d.Kind == "" {
				t.Fatalf("no kind")
			}
			verified++
		}
	})
	if verified == 0 {
		t.Error("no plan has a decision")
	}
}

func TestWanted(t *testing.T) {
	found := map[string]bool{}
	for _, kind := range Kinds() {
		found[kind] = true
	}
	for _, want := range []string{"launch", "terminate"} {
		if !found[want] {
			t.Error(want)
		}
	}
}

func TestOwnList(t *testing.T) {
	var situations []string
	for _, name := range strings.Fields("a b") {
		situations = append(situations, name)
	}
	for _, situation := range situations {
		if plan, err := Decide(situation); err != nil || len(plan.Decisions) != 1 {
			t.Error(plan)
		}
	}
}

func TestVerifiedList(t *testing.T) {
	for _, kind := range kinds(t) {
		if kind == "" {
			t.Error("no kind")
		}
	}
}

func kinds(t *testing.T) []string {
	t.Helper()
	all := Kinds()
	if len(all) != 2 {
		t.Fatal(all)
	}
	return all
}

func TestVerifiedElement(t *testing.T) {
	plan, _ := Decide("launch")
	for _, d := range plan.Decisions {
		if d.Kind != "launch" {
			t.Error(d.Kind)
		}
	}
	verifyParts(t, plan.Decisions[0])
}

func FuzzAnyInput(f *testing.F) {
	f.Fuzz(func(t *testing.T, situation string) {
		plan, err := Decide(situation)
		if err != nil {
			return
		}
		for _, d := range plan.Decisions {
			if d.Kind != situation {
				t.Error(d.Kind)
			}
		}
	})
}
