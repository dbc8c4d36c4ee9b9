package usage

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// podsText is usage as text: users, then totals.
func podsText(style terminal.Style, r Report, q question) string {
	var out bytes.Buffer
	if r.By != "" {
		groupsTable(&out, style, r, q.listing)
	} else {
		podsTable(&out, style, r, q)
	}
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%s GPU-hours by %s in the %s until %s\n",
		style.Paint(terminal.Bold, r.ConsumedGPUHours), describe.Plural(r.TrackedPods, "pod"), windowText(q.declared), q.clock.WithZone().At(q.at))
	if r.Exceeded != nil {
		out.WriteString(limitText(style, r, q) + "\n")
	}
	return out.String()
}

// windowText names a window: its length, or the period.
func windowText(d budget.Declaration) string { return cmp.Or(string(d.Period), d.Window) }

func podsTable(out *bytes.Buffer, style terminal.Style, r Report, q question) {
	if len(r.Pods) == 0 {
		return
	}
	at := q.clock.Column(momentsOf(r.Pods)...)
	t := &terminal.Table{}
	t.Add("NAMESPACE", "POD", "GPUS", "START", "END", "GPU-HOURS", "STATE")
	for _, p := range r.Pods {
		end, state := "-", style.Paint(terminal.Green, "active")
		if p.End != nil {
			end, state = at(*p.End), "ended ("+strings.ReplaceAll(*p.EndSource, "_", " ")+")"
		}
		t.Add(p.Namespace, p.Name, p.GPUs, at(p.Start), end, hoursText(p.GPUHours, p.UnconfirmedGPUHours), state)
	}
	if style.Width > 0 {
		t.Fit(style.Width, "STATE", "START", "END")
	}
	t.Write(out)
	out.WriteString(moreText(r.Listed, func(n int) string { return describe.Plural(n, "pod") }))
}

func groupsTable(out *bytes.Buffer, style terminal.Style, r Report, l usage.Listing) {
	if len(r.Groups) == 0 {
		return
	}
	t := &terminal.Table{}
	head, others := strings.ToUpper(l.By), l.By
	if l.Label != "" {
		head, others = title(l.Label), "value"
	}
	t.Add(head, "GPU-HOURS", "SHARE", "GPUS NOW", "PODS")
	amounts, left := []int64{}, r.ConsumedMilliGPUSeconds
	for _, g := range r.Groups {
		amounts, left = append(amounts, g.MilliGPUSeconds), left-g.MilliGPUSeconds
	}
	shares := budget.Shares(append(amounts, max(0, left)), 1000)
	for n, g := range r.Groups {
		t.Add(cmp.Or(g.Name, "(none)"), hoursText(g.GPUHours, g.UnconfirmedGPUHours), tenthsText(shares[n]), g.BurnRateGPUs, fmt.Sprint(g.TrackedPods))
	}
	if style.Width > 0 {
		t.Fit(style.Width, "PODS")
	}
	t.Write(out)
	out.WriteString(moreText(r.Listed, func(n int) string { return describe.Plural(n, others) }))
}

// hoursText returns GPU-hours, with unconfirmed ones in addition.
func hoursText(hours, unconfirmed string) string {
	if unconfirmed == "" {
		return hours
	}
	return hours + " (+" + unconfirmed + " unconfirmed)"
}

// limitText compares usage with the limit.
func limitText(style terminal.Style, r Report, q question) string {
	tenths := perMille(r.ConsumedMilliGPUSeconds, q.limit)
	text := tenthsText(tenths) + " of " + budget.Hours(q.limit)
	if bar := style.Bar(int(min(tenths, 1000)), 1000); bar != "" {
		text = bar + " " + text
	}
	if !*r.Exceeded {
		return fmt.Sprintf("%s: %s GPU-hours left", text, style.Paint(terminal.Green, *r.RemainingGPUHours))
	}
	since := ""
	if r.ExceededSince != nil {
		since = " since " + q.clock.At(*r.ExceededSince)
	}
	return text + ": " + style.Paint(terminal.Red, "exceeded"+since)
}

// perMille is the used part of a limit.
func perMille(used, limit int64) int64 { return budget.PartOf(used, limit, 1000) }

// tenthsText formats thousandths in percent.
func tenthsText(perMille int64) string { return fmt.Sprintf("%d.%d%%", perMille/10, perMille%10) }

// textOptions has the options of the text.
type textOptions struct {
	listing usage.Listing
	clock   terminal.Clock
	past    bool // usage at --at
}

// liveText is usage as text, with its accuracy.
func liveText(style terminal.Style, r usage.Report, live budgets.LiveUsage, how textOptions) string {
	text := podsText(style, Report{
		ConsumedGPUHours: r.ConsumedGPUHours, ConsumedMilliGPUSeconds: r.ConsumedMilliGPUSeconds,
		RemainingGPUHours: r.RemainingGPUHours, Exceeded: r.Exceeded, ExceededSince: r.ExceededSince,
		TrackedPods: r.TrackedPods, Pods: r.Pods, Listed: r.Listed,
	}, question{at: r.AsOf, declared: live.Declaration, limit: live.Usage.Limit, listing: how.listing, clock: how.clock})
	for _, g := range live.Grants {
		text += fmt.Sprintf("the limit includes %s granted by %s until %s: %s\n", g.Hours(), g.Who, how.clock.At(g.Until), g.Why)
	}
	if live.Usage.Estimated > 0 {
		text += r.EstimatedGPUHours + " of it estimated\n"
	}
	if !r.ErrorBoundReason.IsZero() {
		text += r.ErrorBoundReason.String() + "\n"
	}
	if live.Usage.Coverage < 1000 {
		text += fmt.Sprintf("%s of the window was observed by runs; usage in the rest may be missing\n", tenthsText(int64(live.Usage.Coverage)))
	}
	if live.Usage.BurnRate > 0 {
		text += heldText(r, how) + "\n"
	}
	if r.By == "" { // else the table lists users
		who := &describe.Details{Style: style}
		who.Users(r.UsageReport, 2)
		for _, line := range who.Lines {
			text += line + "\n"
		}
	}
	return text
}

// heldText describes the GPUs in use, and when they exhaust the limit.
func heldText(r usage.Report, how textOptions) string {
	now := "in use now"
	if how.past {
		now = "in use then"
	}
	text := fmt.Sprintf("%s %s, by %s", wording.Amount(r.BurnRateGPUs, "GPU"), now, describe.Plural(r.ActivePods, "pod"))
	if r.ProjectedExhaustion != nil {
		text += ": limit reached at " + how.clock.At(*r.ProjectedExhaustion)
	}
	return text
}
