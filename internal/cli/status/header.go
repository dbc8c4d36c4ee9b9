package status

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
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
	add(color, "Store "+r.Store+", "+lastRunText(r, clock))
	if f := r.Failing; f != nil {
		details := &describe.Details{Style: v.style}
		addFailures(details, clock, f, nil, nil)
		for _, line := range details.Lines {
			lines = append(lines, terminal.Wrap(clock.Text("  "+line), v.width, "      ")...)
		}
	}
	if r.Unwritable != "" {
		add(terminal.Red, sentence(r.Unwritable)+" Every run therefore fails, and cannot record it.")
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
	switch {
	case r.LastRunLost:
		return "the result of the last run is unknown"
	case last == nil:
		return "no run so far"
	case r.Overdue != nil && r.Unwritable != "":
		return "the last recorded run started " + clock.When(last.StartedAt)
	case r.Overdue != nil:
		return fmt.Sprintf("the next run is overdue: the last one started %s, and runs usually start every %s. Check what starts them: %s",
			clock.When(last.StartedAt), terminal.Age(time.Duration(r.Overdue.UsualSeconds)*time.Second), whatStarts(r.Store))
	case r.Failing != nil:
		return "the last run failed as a whole:"
	}
	text := fmt.Sprintf("last run %s: %s", clock.When(last.FinishedAt), describe.Plural(last.Decisions, "decision"))
	if last.Failed > 0 {
		text += fmt.Sprintf(", %d failed", last.Failed)
	}
	return text
}

// whatStarts returns the commands that show what starts runs.
func whatStarts(store string) string {
	if namespace, found := strings.CutPrefix(store, "kubernetes:"); found {
		return "kubectl get cronjobs,jobs -n " + namespace + "-run"
	}
	return "crontab -l, systemctl list-timers, or the service with --every"
}

// totalsText counts objects.
func totalsText(r reconcile.StatusReport) string {
	var parts []string
	count := func(n int, word string) string { return fmt.Sprintf("%d %s", n, word) }
	if t := r.Totals.SpotPools; len(r.SpotPools) > 0 {
		list := []string{count(t.OK, "ok")}
		if t.Short > 0 {
			list = append(list, count(t.Short, "short"))
		}
		if t.Failing > 0 {
			list = append(list, count(t.Failing, "failing"))
		}
		counts := fmt.Sprintf("total %d, capacity %d, %s CNY/h", t.Total, t.Capacity, t.HourlyPrice)
		if !slices.ContainsFunc(r.SpotPools, func(p spotpools.Description) bool { return p.Observed }) {
			counts = "instances unknown"
		}
		parts = append(parts, fmt.Sprintf("Pools: %s; %s.", strings.Join(list, ", "), counts))
	}
	if t := r.Totals.Budgets; len(r.Budgets) > 0 {
		list := []string{count(t.OK, "ok")}
		if t.Exceeded > 0 {
			list = append(list, count(t.Exceeded, "exceeded"))
		}
		if t.Failing > 0 {
			list = append(list, count(t.Failing, "failing"))
		}
		if t.Unknown > 0 {
			list = append(list, count(t.Unknown, "unknown"))
		}
		parts = append(parts, fmt.Sprintf("Budgets: %s.", strings.Join(list, ", ")))
	}
	if t := r.Totals.StockPools; t != nil {
		list := []string{count(t.OK, "ok")}
		if t.Short > 0 {
			list = append(list, count(t.Short, "short"))
		}
		if t.Failing > 0 {
			list = append(list, count(t.Failing, "failing"))
		}
		parts = append(parts, fmt.Sprintf("Stock pools: %s; %d available of %d desired.", strings.Join(list, ", "), t.Available, t.Desired))
	}
	return strings.Join(parts, " ")
}
