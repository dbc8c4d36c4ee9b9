package usage

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// podsText is the usage for people: the pods, and what they come to.
func podsText(look terminal.Style, r Report, q question) string {
	var out bytes.Buffer
	if len(r.Pods) > 0 {
		t := &terminal.Table{}
		t.Add("NAMESPACE", "POD", "GPUS", "START", "END", "GPU-HOURS", "STATE")
		for _, p := range r.Pods {
			end, state := "-", look.Paint(terminal.Green, "holds them")
			if p.End != nil {
				end, state = p.End.Format(time.RFC3339), "ended, by "+strings.ReplaceAll(*p.EndSource, "_", " ")
			}
			t.Add(p.Namespace, p.Name, p.GPUs, p.Start.Format(time.RFC3339), end, p.GPUHours, state)
		}
		t.Write(&out)
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%s GPU-hours by %s in the %s up to %s\n",
		look.Paint(terminal.Bold, r.ConsumedGPUHours), describe.Plural(r.TrackedPods, "pod"), q.window, q.at.Format(time.RFC3339))
	if r.Exceeded != nil {
		out.WriteString(limitText(look, r, q) + "\n")
	}
	return out.String()
}

// limitText says how the usage stands to the limit.
func limitText(look terminal.Style, r Report, q question) string {
	tenths := r.ConsumedMilliGPUSeconds / max(1, q.limit/1000)
	text := fmt.Sprintf("%d.%d%% of %s", tenths/10, tenths%10, budget.Hours(q.limit))
	if bar := look.Bar(int(min(tenths, 1000)), 1000); bar != "" {
		text = bar + " " + text
	}
	if !*r.Exceeded {
		return fmt.Sprintf("%s: %s GPU-hours are left", text, look.Paint(terminal.Green, *r.RemainingGPUHours))
	}
	since := ""
	if r.ExceededSince != nil {
		since = " since " + r.ExceededSince.Format(time.RFC3339)
	}
	return text + ": " + look.Paint(terminal.Red, "exceeded"+since)
}

// weightsHelp lists what a unit of each resource is worth where no flag says so.
func weightsHelp() string {
	var out bytes.Buffer
	out.WriteString("GPUs a unit, where --weight says nothing else:\n")
	for _, d := range gpu.DefaultWeights() {
		fmt.Fprintf(&out, "\n  %s: %s\n      %s\n", d.Resource, d.Weight, d.Note)
	}
	return out.String()
}

// liveText is the usage for people, with how sure it is.
func liveText(look terminal.Style, r LiveReport, live reconcile.LiveUsage) string {
	window := live.Declaration.Window
	if live.Declaration.Period != "" {
		window = string(live.Declaration.Period)
	}
	text := podsText(look, Report{
		ConsumedGPUHours: r.ConsumedGPUHours, ConsumedMilliGPUSeconds: r.ConsumedMilliGPUSeconds,
		RemainingGPUHours: r.RemainingGPUHours, Exceeded: r.Exceeded, ExceededSince: r.ExceededSince,
		TrackedPods: r.TrackedPods, Pods: r.Pods,
	}, question{at: r.AsOf, terms: terms{window: window, limit: live.Usage.Limit}})
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
