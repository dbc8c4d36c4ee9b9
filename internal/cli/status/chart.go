package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// chartHeight is the most rows of a chart.
const chartHeight = 3

// axis is the width of the axis of a chart.
const axis = 8

// charts draw the last day of the worst objects in this many rows: usage and limit of a
// budget, capacity and minimum of a pool.
func charts(v layout, r reconcile.StatusReport, room int) []string {
	clock := terminal.Clock{Now: r.At, Zone: v.zone}
	all := slices.Concat(budgetEntries(v, r.Budgets, clock), poolEntries(v, r.SpotPools, clock))
	slices.SortStableFunc(all, func(a, b entry) int { return int(a.rank) - int(b.rank) })
	var lines []string
	for _, e := range all {
		chart := chartOf(v, r, e)
		if len(lines)+len(chart) > room {
			break
		}
		lines = append(lines, chart...)
	}
	return lines
}

// chartOf is the chart of one object; nil if it has fewer than two quarter hours.
func chartOf(v layout, r reconcile.StatusReport, e entry) []string {
	values, of := r.LastDay.Of(e.object, r.At)
	if len(values) < 2 {
		return nil
	}
	what := "capacity (line) and minimum (dashes)"
	if strings.HasPrefix(e.object, "budget/") {
		what = "percent used (line) and limit (dashes)"
	}
	highest := max(1, slices.Max(values), slices.Max(of))
	options := []asciigraph.Option{
		asciigraph.Height(min(chartHeight, int(highest))), asciigraph.Precision(0), asciigraph.LowerBound(0),
		asciigraph.SeriesChars(asciigraph.CreateCharSet("-"), asciigraph.DefaultCharSet),
	}
	if most := v.width - axis; v.width > 0 && len(values) > most {
		options = append(options, asciigraph.Width(most))
	}
	span := time.Duration(len(values)) * 15 * time.Minute
	title := fmt.Sprintf("%s: %s, last %s", e.title, what, terminal.Age(span))
	chart := asciigraph.PlotMany([][]float64{of, values}, options...)
	lines := []string{"", v.style.Paint(terminal.Bold, title)}
	for line := range strings.SplitSeq(chart, "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}
