package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// addBudgetDecisions adds the decisions about a budget. Pods or workloads with the same
// decision and outcome are a table below their common reasons.
func addBudgetDecisions(details *describe.Details, clock terminal.Clock, decisions []outcome.Result) {
	for _, alike := range byAction(decisions) {
		if len(alike) == 1 {
			addDecisions(details, alike)
			continue
		}
		addVictims(details, clock, alike)
	}
}

// byAction groups decisions about pods or workloads by kind and outcome.
func byAction(decisions []outcome.Result) [][]outcome.Result {
	type action struct {
		kind    string
		outcome outcome.Outcome
	}
	at := map[action]int{}
	var groups [][]outcome.Result
	for _, d := range decisions {
		of := action{d.Kind(), d.Outcome}
		n, there := at[of]
		if there && hasVictim(d) {
			groups[n] = append(groups[n], d)
			continue
		}
		at[of] = len(groups)
		groups = append(groups, []outcome.Result{d})
	}
	return groups
}

func hasVictim(d outcome.Result) bool {
	of, ok := d.Decision.(budget.Decision)
	return ok && (of.Pod != nil || of.Owner != nil)
}

// victim is one row of the table.
type victim struct {
	number, name string
	own          []string // reasons
	failure      string
}

func addVictims(details *describe.Details, clock terminal.Clock, alike []outcome.Result) {
	first := alike[0].Decision.(budget.Decision)
	victims, order, shared := make([]victim, len(alike)), "", first.Reasons.Texts()
	failures := map[string]bool{}
	for n, result := range alike {
		d := result.Decision.(budget.Decision)
		victims[n] = victim{name: d.Victim(), own: d.Reasons.Texts()}
		if d.Rank != nil {
			order = " (eviction_order: " + string(d.Rank.Order) + ")"
			victims[n].number = fmt.Sprint(d.Rank.Number)
			victims[n].own = append(d.Reasons[:len(d.Reasons)-1].Texts(), d.Rank.Why.String())
		}
		if result.Error != nil {
			victims[n].failure = result.Error.Message
		}
		failures[victims[n].failure] = true
		shared = slices.DeleteFunc(shared, func(reason string) bool { return !slices.Contains(victims[n].own, reason) })
	}
	form := details.Style.Paint(describe.OutcomeColor(alike[0].Outcome), alike[0].Outcome.Form(first.Verb()))
	details.Lines = append(details.Lines, form+" "+first.Several(len(alike))+order)
	details.Reasons(shared)
	if len(failures) == 1 && victims[0].failure != "" {
		details.Error(alike[0].Outcome, outcome.ErrorReport{Message: victims[0].failure})
	}
	for n := range victims {
		v := &victims[n]
		v.own = slices.DeleteFunc(slices.Clone(v.own), func(reason string) bool { return slices.Contains(shared, reason) })
		if len(failures) > 1 && v.failure != "" {
			v.own = append(v.own, v.failure)
		}
	}
	const indent = "    "
	table := victimTable(first, clock, victims, order != "")
	if width := details.Style.Width; width > 0 {
		table.Fit(width - 2 - len(indent))
	}
	for _, line := range table.Lines() {
		details.Lines = append(details.Lines, indent+line)
	}
}

// victimTable lists the pods or workloads in order, with the reasons of each.
func victimTable(first budget.Decision, clock terminal.Clock, victims []victim, ordered bool) *terminal.Table {
	t := &terminal.Table{}
	explained := slices.ContainsFunc(victims, func(v victim) bool { return len(v.own) > 0 })
	row := func(number, name, why string) {
		var cells []string
		if ordered {
			cells = append(cells, number)
		}
		cells = append(cells, name)
		if explained {
			cells = append(cells, why)
		}
		t.Add(cells...)
	}
	title := "WORKLOAD"
	if first.Pod != nil {
		title = "POD"
	}
	row("NO.", title, "WHY")
	for _, v := range victims {
		row(v.number, v.name, clock.Text(strings.Join(v.own, "; ")))
	}
	return t
}
