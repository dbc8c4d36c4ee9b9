package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// header describes the last runs, and counts objects by state.
func header(v layout, r reconcile.StatusReport, clock terminal.Clock) []string {
	var lines []string
	add := func(c terminal.Color, text string) {
		for _, line := range terminal.Wrap(clock.Text(text), v.width, "  ") {
			lines = append(lines, v.style.Paint(c, line))
		}
	}
	color := terminal.Dim
	if r.Overdue != nil || r.Failing != nil || r.LastRunLost {
		color = terminal.Red
	}
	add(color, "Store "+r.Store+", "+lastRunText(r, clock.WithZone()))
	if f := r.Failing; f != nil {
		details := &describe.Details{Style: v.style}
		addFailures(details, clock, failures{last: f})
		for _, line := range details.Lines {
			lines = append(lines, terminal.Wrap(clock.Text("  "+line), v.width, "      ")...)
		}
	}
	for _, of := range r.Runs {
		c := terminal.Yellow
		if of.Severity() == reason.Info {
			c = terminal.Cyan
		}
		add(c, wording.Sentence(reason.Renderer{}.Text(of)))
		if todo := (reason.Renderer{}).Remedy(of); todo != "" {
			add(terminal.Bold, "To do: "+wording.Sentence(todo))
		}
	}
	if len(r.Declarations()) > 1 {
		add(terminal.Dim, totalsText(r))
	}
	return lines
}

func lastRunText(r reconcile.StatusReport, clock terminal.Clock) string {
	last := r.LastRun
	zone := "times in " + clock.ZoneAt(r.At)
	switch {
	case r.LastRunLost:
		return "the result of the last run is unknown; " + zone
	case last == nil && len(r.Declarations()) == 0:
		return "no run so far"
	case last == nil:
		return "no run so far; " + zone
	case r.Failing != nil:
		return "the last run failed as a whole (" + zone + "):"
	}
	text := fmt.Sprintf("last run %s: %s", clock.When(last.FinishedAt), describe.Plural(last.Decisions, "decision"))
	if last.Failed > 0 {
		text += fmt.Sprintf(", %s failed%s", describe.Plural(last.Failed, "object"), failedText(*last))
	}
	return text
}

// failedText names the first object that failed in a run, and counts the others.
func failedText(last declaration.RunSummary) string {
	var names []string
	for _, object := range slices.Sorted(maps.Keys(last.Failing)) {
		if object != history.Run {
			names = append(names, strings.TrimPrefix(object, "spot_pool/"))
		}
	}
	if len(names) == 0 {
		return ""
	}
	if more := last.Failed - 1; more > 0 {
		return fmt.Sprintf(": %s and %d more", names[0], more)
	}
	return ": " + names[0]
}

// totalsText counts the objects of each kind by their states, as the tables do, and their instances.
func totalsText(r reconcile.StatusReport) string {
	var parts []string
	if len(r.SpotPools) > 0 {
		t := r.Totals.SpotPools
		instances := fmt.Sprintf("total %d, capacity %d", t.Total, t.Capacity)
		for _, c := range t.HourlyPrices {
			instances += ", " + c.Currency.Amount(c.Price) + "/h"
		}
		instances = asObserved(instances, "instances", t.Unobserved, len(r.SpotPools))
		parts = append(parts, fmt.Sprintf("Pools: %s; %s.", countStates(r.SpotPools, func(p spotpools.Description) state.State { return p.State }), instances))
	}
	if len(r.Budgets) > 0 {
		parts = append(parts, fmt.Sprintf("Budgets: %s.", countStates(r.Budgets, func(b budgets.Description) state.State { return b.State[0] })))
	}
	if t := r.Totals.StockPools; t != nil {
		pods := asObserved(fmt.Sprintf("%d available of %d desired", t.Available, t.Desired), "pods", t.Unobserved, len(r.StockPools))
		counts := countStates(r.StockPools, func(p stockpools.Description) state.State { return p.State })
		parts = append(parts, fmt.Sprintf("Stock pools: %s; %s.", counts, pods))
	}
	return strings.Join(parts, " ")
}

// asObserved returns a sum over objects, with how many of them could not be observed.
func asObserved(sum, of string, unobserved, all int) string {
	switch {
	case unobserved == all:
		return of + " unknown"
	case unobserved > 0:
		return fmt.Sprintf("%s; %d not observed", sum, unobserved)
	}
	return sum
}

// countStates counts objects by state, the worst first: "1 Failing, 30 InSync".
func countStates[D any](list []D, stateOf func(D) state.State) string {
	count := map[state.State]int{}
	for _, d := range list {
		count[stateOf(d)]++
	}
	var parts []string
	for _, s := range slices.SortedFunc(maps.Keys(count), func(a, b state.State) int { return cmp.Or(cmp.Compare(a.Rank(), b.Rank()), cmp.Compare(a, b)) }) {
		parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
	}
	return strings.Join(parts, ", ")
}
