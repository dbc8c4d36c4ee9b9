package status

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
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
	if r.Unwritable != "" {
		add(terminal.Red, describe.Sentence(r.Unwritable)+" Every run therefore fails, and cannot record it.")
		add(terminal.Bold, "To do: free space there, or make it writable. The next run then continues.")
	}
	if h := r.Killed; h != nil {
		add(terminal.Yellow, fmt.Sprintf("A run was killed: %s%s, started %s. The next run recovers.", h.Command, where(*h),
			clock.When(h.Since)))
	}
	if h := r.UnderWay; h != nil {
		add(terminal.Cyan, fmt.Sprintf("A run has been in progress since %s: %s, process %d on %s%s%s", clock.At(h.Since), h.Command, h.PID, h.Host,
			silent(*h, clock),
			tooLong(r)))
	}
	if len(r.Declarations()) > 1 {
		add(terminal.Dim, totalsText(r))
	}
	return lines
}

// where is the host of a process, if it is not this one.
func where(h store.Holder) string {
	if host, err := os.Hostname(); err == nil && host == h.Host {
		return ""
	}
	return " on " + h.Host
}

// quiet is the longest time between two renewals of the lock of a live run.
const quiet = 25 * time.Second

// silent warns if the current run did not renew its lock in time.
func silent(h store.Holder, clock terminal.Clock) string {
	if h.Heard.IsZero() || clock.Now.Sub(h.Heard) < quiet {
		return ""
	}
	return fmt.Sprintf(". It has not renewed its lock for %s. If it was killed, the lock expires %s, and the next run recovers",
		terminal.Age(clock.Now.Sub(h.Heard)), clock.When(h.Until))
}

// A run takes too long at this multiple of the usual interval, but not before tooLongFrom.
const (
	tooLongAt   = 3
	tooLongFrom = 15 * time.Minute
)

// tooLong warns if the current run takes too long.
func tooLong(r reconcile.StatusReport) string {
	if r.LastRun == nil {
		return ""
	}
	usual := r.LastRun.Usual()
	if usual == 0 || r.At.Sub(r.UnderWay.Since) < max(tooLongAt*usual, tooLongFrom) {
		return ""
	}
	return fmt.Sprintf(". Runs usually start every %s. If it hangs, kill that process; the next run recovers", terminal.Age(usual))
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
	case r.Overdue != nil && r.Unwritable != "":
		return "the last recorded run started " + clock.When(last.StartedAt)
	case r.Overdue != nil:
		return fmt.Sprintf("the next run is overdue: the last one started %s, and runs usually start every %s. Check what starts them: %s",
			clock.When(last.StartedAt), terminal.Age(time.Duration(r.Overdue.UsualSeconds)*time.Second), whatStarts(r.Store))
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

// whatStarts returns the commands that show what starts runs.
func whatStarts(store string) string {
	if namespace, found := strings.CutPrefix(store, "kubernetes:"); found {
		return "kubectl get cronjobs,jobs -n " + namespace + "-run"
	}
	return "crontab -l, systemctl list-timers, or the service with --every"
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
