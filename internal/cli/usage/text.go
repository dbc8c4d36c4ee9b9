package usage

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// podsText is the usage for people: the pods, and their sum.
func podsText(style terminal.Style, r Report, q question) string {
	var out bytes.Buffer
	if len(r.Pods) > 0 {
		t := &terminal.Table{}
		t.Add("NAMESPACE", "POD", "GPUS", "START", "END", "GPU-HOURS", "STATE")
		for _, p := range r.Pods {
			end, state := "-", style.Paint(terminal.Green, "holds them")
			if p.End != nil {
				end, state = p.End.Format(time.RFC3339), "ended, by "+strings.ReplaceAll(*p.EndSource, "_", " ")
			}
			t.Add(p.Namespace, p.Name, p.GPUs, p.Start.Format(time.RFC3339), end, p.GPUHours, state)
		}
		t.Write(&out)
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%s GPU-hours by %s in the %s up to %s\n",
		style.Paint(terminal.Bold, r.ConsumedGPUHours), describe.Plural(r.TrackedPods, "pod"), q.window, q.at.Format(time.RFC3339))
	if r.Exceeded != nil {
		out.WriteString(limitText(style, r, q) + "\n")
	}
	return out.String()
}

// limitText says how much of the limit is used.
func limitText(style terminal.Style, r Report, q question) string {
	tenths := perMille(r.ConsumedMilliGPUSeconds, q.limit)
	text := fmt.Sprintf("%d.%d%% of %s", tenths/10, tenths%10, budget.Hours(q.limit))
	if bar := style.Bar(int(min(tenths, 1000)), 1000); bar != "" {
		text = bar + " " + text
	}
	if !*r.Exceeded {
		return fmt.Sprintf("%s: %s GPU-hours are left", text, style.Paint(terminal.Green, *r.RemainingGPUHours))
	}
	since := ""
	if r.ExceededSince != nil {
		since = " since " + r.ExceededSince.Format(time.RFC3339)
	}
	return text + ": " + style.Paint(terminal.Red, "exceeded"+since)
}

// perMille is how much of a limit is used, rounded half up. Less than the limit is
// never rounded to all of it.
func perMille(used, limit int64) int64 {
	// used*1000/limit + 1/2, by way of numbers that 64 bits may not hold
	double := new(big.Int).Mul(big.NewInt(used), big.NewInt(2000))
	double.Add(double, big.NewInt(limit))
	share := double.Quo(double, new(big.Int).Mul(big.NewInt(limit), big.NewInt(2))).Int64()
	if used < limit {
		return min(share, 999)
	}
	return share
}

// liveText is the usage for people, with how certain it is.
func liveText(style terminal.Style, r LiveReport, live budgets.LiveUsage) string {
	window := live.Declaration.Window
	if live.Declaration.Period != "" {
		window = string(live.Declaration.Period)
	}
	text := podsText(style, Report{
		ConsumedGPUHours: r.ConsumedGPUHours, ConsumedMilliGPUSeconds: r.ConsumedMilliGPUSeconds,
		RemainingGPUHours: r.RemainingGPUHours, Exceeded: r.Exceeded, ExceededSince: r.ExceededSince,
		TrackedPods: r.TrackedPods, Pods: r.Pods,
	}, question{at: r.AsOf, window: window, limit: live.Usage.Limit})
	if live.Usage.Estimated > 0 || live.Usage.ErrorBound > 0 {
		text += fmt.Sprintf("%s of it are estimated; it may be wrong by %s\n", r.EstimatedGPUHours, r.ErrorBoundGPUHours)
	}
	if live.Usage.Coverage < 1000 {
		text += fmt.Sprintf("%d.%d%% of the window until now was observed\n", live.Usage.Coverage/10, live.Usage.Coverage%10)
	}
	if live.Usage.BurnRate > 0 {
		held := r.BurnRateGPUs + " GPUs are"
		if live.Usage.BurnRate == 1000 {
			held = "1 GPU is"
		}
		text += fmt.Sprintf("%s held now, by %s", held, describe.Plural(r.ActivePods, "pod"))
		if r.ProjectedExhaustion != nil {
			text += ": used up at " + r.ProjectedExhaustion.UTC().Format(time.RFC3339)
		}
		text += "\n"
	}
	return text
}
