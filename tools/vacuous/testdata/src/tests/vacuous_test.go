package tests

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestResult(t *testing.T) {
	plan, err := Decide("launch")
	if err != nil {
		t.Fatal(err) // says nothing about the plan
	}
	for _, d := range plan.Decisions { // want `TestResult passes if this loop has no turn`
		if d.Kind != "launch" {
			t.Errorf("%s", d.Kind)
		}
	}
}

func TestEnumeration(t *testing.T) {
	for _, kind := range Kinds() { // want `TestEnumeration passes`
		for _, suffix := range []string{"ing", "ed"} {
			if strings.HasSuffix(kind, suffix) {
				t.Errorf("%s ends with %s", kind, suffix)
			}
		}
	}
}

func TestTransformed(t *testing.T) {
	byKind := map[string]Decision{}
	plan, _ := Decide("launch")
	for _, d := range plan.Decisions {
		byKind[d.Kind] = d
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) { // want `TestTransformed passes`
		if kind != "launch" {
			t.Error(kind)
		}
	}
}

func TestIndexed(t *testing.T) {
	kinds := Kinds()
	for n := range len(kinds) { // want `TestIndexed passes`
		if kinds[n] == "" {
			t.Error("empty")
		}
	}
}

func TestNested(t *testing.T) {
	for _, situation := range []string{"a", "b"} {
		plan, _ := Decide(situation)
		for _, d := range plan.Decisions {
			for _, part := range d.Parts { // want `TestNested passes`
				if part != situation {
					t.Error(part)
				}
			}
		}
	}
}

func TestSubtests(t *testing.T) {
	t.Run("launch", func(t *testing.T) {
		for _, d := range decisions(t, "launch") { // want `TestSubtests passes`
			if d.Kind != "launch" {
				t.Error(d.Kind)
			}
		}
	})
	t.Run("other", func(t *testing.T) {
		if len(decisions(t, "other")) != 1 {
			t.Error("nothing is decided")
		}
	})
}

func TestProperty(t *testing.T) {
	Check(t, func(t T) {
		plan, _ := Decide("launch")
		for _, d := range plan.Decisions { // want `TestProperty passes`
			if d.Kind == "" {
				t.Fatalf("no kind")
			}
		}
	})
}

func TestHelper(t *testing.T) {
	plan, _ := Decide("launch")
	for _, d := range plan.Decisions { // want `TestHelper passes`
		verifyParts(t, d)
	}
}

func decisions(t *testing.T, situation string) []Decision {
	t.Helper()
	plan, err := Decide(situation)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Decisions
}

func verifyParts(t *testing.T, d Decision) {
	t.Helper()
	if len(d.Parts) != 1 {
		t.Error(d.Parts)
	}
}
