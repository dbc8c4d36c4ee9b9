package usage

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

const (
	// excessesAtMost is the most excesses that are listed, the latest ones.
	excessesAtMost = 10
	// holdersAtMost is the default of --top.
	holdersAtMost = 5
)

// replayText is a replay as text: the result, the times, the users.
func replayText(style terminal.Style, r budgets.LiveReplay, how textOptions) string {
	var out bytes.Buffer
	replaySummary(&out, style, r, how.clock)
	thresholdsTable(&out, r, how.clock)
	if len(r.Replayed.Exceeded) > 0 {
		excessTable(&out, style, r, how)
		holdersTables(&out, r, how)
	}
	return out.String()
}

func replaySummary(out *bytes.Buffer, style terminal.Style, r budgets.LiveReplay, c terminal.Clock) {
	verdict := style.Paint(terminal.Green, "would never have been exceeded")
	if n := len(r.Replayed.Exceeded); n > 0 {
		verdict = style.Paint(terminal.Red, "would have been exceeded "+times(n)) + ", " + lengthText(r.Total()) + " in total"
	}
	fmt.Fprintf(out, "%s GPU-hours per %s %s\n", budget.Hours(r.Limit), windowText(r.Declaration), verdict)
	moments := []time.Time{r.From, r.Until, r.PeakAt, r.CompleteFrom}
	at, zoned := c.Column(moments...), c.WithZone().Column(moments...)
	fmt.Fprintf(out, "from %s to %s (%s)\n", at(r.From), zoned(r.Until), lengthText(r.Until.Sub(r.From)))
	fmt.Fprintf(out, "peak usage %s (%s) at %s\n", budget.Hours(r.Peak), tenthsText(perMille(r.Peak, r.Limit)), at(r.PeakAt))
	if r.CompleteFrom.After(r.From) {
		fmt.Fprintf(out, "usage before %s may be incomplete\n", at(r.CompleteFrom))
	}
	if r.Coverage < 1000 {
		fmt.Fprintf(out, "%s of this time was observed by runs\n", tenthsText(int64(r.Coverage)))
	}
}

func thresholdsTable(out *bytes.Buffer, r budgets.LiveReplay, c terminal.Clock) {
	if len(r.Thresholds) == 0 {
		return
	}
	var moments []time.Time
	for _, t := range r.Thresholds {
		moments = append(moments, t.ReachedAt...)
		if t.Before {
			moments = append(moments, r.From)
		}
	}
	at := c.Column(moments...)
	t := &terminal.Table{}
	t.Add("REACHED", "GPU-HOURS", "TIMES", "FIRST", "LAST")
	for _, threshold := range r.Thresholds {
		n, first, last := len(threshold.ReachedAt), "-", "-"
		if n > 0 {
			first, last = at(threshold.ReachedAt[0]), at(threshold.ReachedAt[n-1])
		}
		if threshold.Before {
			n, first = n+1, "before "+at(r.From)
		}
		t.Add(fmt.Sprintf("%d%%", threshold.Percent), budget.Hours(threshold.Amount), fmt.Sprint(n), first, last)
	}
	out.WriteByte('\n')
	t.Write(out)
}

// excessTable lists the latest excesses with their largest users.
func excessTable(out *bytes.Buffer, style terminal.Style, r budgets.LiveReplay, how textOptions) {
	all := r.Replayed.Exceeded
	shown := all[max(0, len(all)-excessesAtMost):]
	var moments []time.Time
	for _, e := range shown {
		moments = append(moments, e.Since)
		if !e.Until.IsZero() {
			moments = append(moments, e.Until)
		}
	}
	at := how.clock.Column(moments...)
	t := &terminal.Table{}
	t.Add("EXCEEDED FROM", "UNTIL", "FOR", "PEAK", "USED BY")
	for _, e := range shown {
		until := "-"
		if !e.Until.IsZero() {
			until = at(e.Until)
		}
		t.Add(at(e.Since), until, lengthText(e.Length), budget.Hours(e.Peak), sharesText(how.breakdown(e.ByNamespace, e.ByLabel)))
	}
	out.WriteByte('\n')
	if style.Width > 0 {
		t.Fit(style.Width)
	}
	t.Write(out)
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(out, "%s omitted\n", describe.Plural(more, "earlier row"))
	}
}

// breakdown selects namespaces or the label of --by.
func (t textOptions) breakdown(byNamespace map[string]int64, byLabel map[string]map[string]int64) map[string]int64 {
	if t.listing.Label != "" {
		return byLabel[t.listing.Label]
	}
	return byNamespace
}

// holdersTables list the largest users during excesses, by the field of --by, or by
// namespace and by each breakdown label of the budget.
func holdersTables(out *bytes.Buffer, r budgets.LiveReplay, how textOptions) {
	list := func(title string, amounts map[string]int64) {
		top := cmp.Or(how.listing.Top, holdersAtMost)
		t := &terminal.Table{}
		t.Add(title, "GPU-HOURS", "SHARE")
		names, shares := mostFirst(amounts, 1000)
		names, rest := usage.Cut(names, top)
		for n, name := range names {
			t.Add(cmp.Or(name, "(none)"), budget.Hours(amounts[name]), tenthsText(shares[n]))
		}
		out.WriteByte('\n')
		t.Write(out)
		left := int64(0)
		for _, name := range rest {
			left += amounts[name]
		}
		listed := usage.Listed{LeftOut: usage.NewLeftOut(len(rest), left)}
		out.WriteString(moreText(listed, func(n int) string { return fmt.Sprint(n) }))
	}
	fmt.Fprintf(out, "\nUsage while exceeded:\n")
	if how.listing.Label == "" {
		list("NAMESPACE", r.ByNamespace)
	}
	if how.listing.By == usage.ByNamespace {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(r.ByLabel)) {
		list(title(key), r.ByLabel[key])
	}
}

// mostFirst returns the largest users first, and the share of each.
func mostFirst(amounts map[string]int64, parts int64) (names []string, shares []int64) {
	names = budget.LargestFirst(amounts)
	used := make([]int64, len(names))
	for n, name := range names {
		used[n] = amounts[name]
	}
	return names, budget.Shares(used, parts)
}

// sharesText lists the largest users with their share.
func sharesText(amounts map[string]int64) string {
	names, shares := mostFirst(amounts, 100)
	for n, name := range names {
		names[n] = fmt.Sprintf("%s %d%%", cmp.Or(name, "(none)"), shares[n])
	}
	return describe.FirstOf(names, 3)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// lengthText formats a duration in its two largest units: 3d4h, 5h20m, 42s.
func lengthText(d time.Duration) string {
	units := []struct {
		name string
		unit time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	var text strings.Builder
	for n, u := range units {
		count := d / u.unit
		if count == 0 {
			continue
		}
		fmt.Fprintf(&text, "%d%s", count, u.name)
		if n+1 < len(units) {
			if next := (d % u.unit) / units[n+1].unit; next > 0 {
				fmt.Fprintf(&text, "%d%s", next, units[n+1].name)
			}
		}
		return text.String()
	}
	return "less than 1s"
}
