package decide_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

var update = flag.Bool("update", false, "write testdata/plans.txt")

// plansOf are the plans of a drawn life of a pool with nodes, as a person reads them. What is as in the plan
// before is left out.
func plansOf(seed int) []string {
	var list []string
	var before []string
	rapid.Custom(func(t *rapid.T) int {
		list, before = []string{fmt.Sprintf("life %d", seed)}, nil
		playWithNodes(t, func(s decide.Situation, p decide.Plan) {
			lines := planLines(s, p)
			fresh := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(before, line) })
			if before = lines; len(fresh) > 0 {
				list = append(append(list, s.Now.Format(time.TimeOnly)), fresh...)
			}
		})
		return 0
	}).Example(seed)
	return list
}

// planLines are the lines of a plan.
func planLines(s decide.Situation, p decide.Plan) []string {
	var lines []string
	add := func(what string, texts ...string) {
		for _, text := range texts {
			lines = append(lines, "  "+what+" "+text)
		}
	}
	add("counts", fmt.Sprintf("%d total, %d capacity", p.Total, p.Capacity))
	for _, d := range p.Decisions {
		add("decides", d.String())
	}
	add("refuses", slices.DeleteFunc([]string{p.Refusal}, func(text string) bool { return text == "" })...)
	add("short", p.Short.Texts()...)
	add("warns", p.Warnings...)
	add("says", p.Messages...)
	for _, standing := range decide.Standings(s, p) {
		add("has", fmt.Sprintf("%+v", standing))
	}
	for _, a := range decide.Appraise(s, p) {
		add("offering", fmt.Sprintf("%s %s: %d, launches %d, %s %s %s", a.AvailabilityZone, a.ChargeType, a.Total, a.Launches, a.Code, a.Why,
			a.Until.Format(time.TimeOnly)))
	}
	return lines
}

// TestPlansOfRecord compares the plans of some lives of pools with those of record: a change of a rule shows in
// which situations it decides otherwise. Write the plans of now with: go test ./internal/spotpool/decide -update
func TestPlansOfRecord(t *testing.T) {
	t.Parallel()
	var list []string
	for seed := range 120 {
		if life := plansOf(seed); len(life) > 40 {
			list = append(list, life...)
		}
	}
	got := strings.Join(list, "\n") + "\n"
	const file = "testdata/plans.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
