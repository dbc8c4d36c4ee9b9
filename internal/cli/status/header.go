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

// header says how runs go, and how all stands together.
func header(v layout, r reconcile.StatusReport, clock terminal.Clock) []string {
	var lines []string
	add := func(c terminal.Colour, text string) {
		for _, line := range terminal.Wrap(clock.Text(text), v.width, "  ") {
			lines = append(lines, v.style.Paint(c, line))
		}
	}
	colour := terminal.Dim
	if r.Overdue != nil || r.Failing != nil || r.LastRunLost {
		colour = terminal.Red
	}
	add(colour, "Store "+r.Store+", "+lastRunText(r, clock))
	if f := r.Failing; f != nil {
		details := &describe.Details{Style: v.style}
		addFailures(details, clock, f, nil, nil)
		for _, line := range details.Lines {
			lines = append(lines, terminal.Wrap(clock.Text("  "+line), v.width, "      ")...)
		}
	}
	if r.Unwritable != "" {
		add(terminal.Red, sentence(r.Unwritable)+" So every run fails, and can't say so here.")
		add(terminal.Bold, "To do: make room there, or let it be written to. The next run then goes on.")
	}
	if h := r.Killed; h != nil {
		add(terminal.Yellow, fmt.Sprintf("A run was killed before it was done: %s%s, begun %s. The next run goes on with what it left.", h.Command, where(*h),
			clock.When(h.Since)))
	}
	if h := r.UnderWay; h != nil {
		add(terminal.Cyan, fmt.Sprintf("A run is under way since %s: %s, process %d on %s%s%s", clock.At(h.Since), h.Command, h.PID, h.Host, silent(*h, clock),
			tooLong(r)))
	}
	if len(r.Declarations()) > 1 {
		add(terminal.Dim, totalsText(r))
	}
	return lines
}

// where is the machine of a process, if that is another than this one.
func where(h store.Holder) string {
	if host, err := os.Hostname(); err == nil && host == h.Host {
		return ""
	}
	return " on " + h.Host
}

// quiet is for how long a living run may not be heard of: longer than a lock is left
// without being renewed.
const quiet = 25 * time.Second

// silent says that nothing was heard of the run under way for longer than is usual, and
// what comes of that.
func silent(h store.Holder, clock terminal.Clock) string {
	if h.Heard.IsZero() || clock.Now.Sub(h.Heard) < quiet {
		return ""
	}
	return fmt.Sprintf(". Nothing was heard of it for %s: if it was killed, its lock is free by itself %s, and the next run goes on",
		terminal.Age(clock.Now.Sub(h.Heard)), clock.When(h.Until))
}

// A run takes too long at so many times the usual distance between two, and never
// sooner than this.
const (
	tooLongAt   = 3
	tooLongFrom = 15 * time.Minute
)

// tooLong says that the run under way takes too long, if it does.
func tooLong(r reconcile.StatusReport) string {
	if r.LastRun == nil {
		return ""
	}
	usual := r.LastRun.Usual()
	if usual == 0 || r.At.Sub(r.UnderWay.Since) < max(tooLongAt*usual, tooLongFrom) {
		return ""
	}
	return fmt.Sprintf(". Runs usually begin every %s: if it hangs, end that process, and the next run goes on", terminal.Age(usual))
}

func lastRunText(r reconcile.StatusReport, clock terminal.Clock) string {
	last := r.LastRun
	switch {
	case r.LastRunLost:
		return "what the last runs did can't be told"
	case last == nil:
		return "no run so far"
	case r.Overdue != nil && r.Unwritable != "":
		return "the last run that could tell of itself began " + clock.When(last.StartedAt)
	case r.Overdue != nil:
		return fmt.Sprintf("the last run is overdue: it began %s, and runs usually begin every %s. See what starts them: %s",
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

// whatStarts is how to look at what starts runs, by where their store is.
func whatStarts(store string) string {
	if namespace, found := strings.CutPrefix(store, "kubernetes:"); found {
		return "kubectl get cronjobs,jobs -n " + namespace + "-run"
	}
	return "crontab -l, systemctl list-timers, or the service that has --every"
}

// totalsText counts pools and budgets.
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
		held := fmt.Sprintf("%d held, capacity %d, %s CNY/h", t.Held, t.Capacity, t.HourlyPrice)
		if !slices.ContainsFunc(r.SpotPools, func(p spotpools.Description) bool { return p.Observed }) {
			held = "what they hold can't be seen"
		}
		parts = append(parts, fmt.Sprintf("Pools: %s; %s.", strings.Join(list, ", "), held))
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
