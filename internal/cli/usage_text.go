package cli

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// usageText is the usage for people: the pods, and what they come to.
func usageText(look style, r usageReport, q usageQuestion) string {
	var out bytes.Buffer
	if len(r.Pods) > 0 {
		t := &table{}
		t.add("NAMESPACE", "POD", "GPUS", "START", "END", "GPU-HOURS", "STATE")
		for _, p := range r.Pods {
			end, state := "-", look.paint(green, "holds them")
			if p.End != nil {
				end, state = p.End.Format(time.RFC3339), "ended, by "+strings.ReplaceAll(*p.EndSource, "_", " ")
			}
			t.add(p.Namespace, p.Name, p.GPUs, p.Start.Format(time.RFC3339), end, p.GPUHours, state)
		}
		t.write(&out)
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%s GPU-hours by %s in the %s up to %s\n",
		look.paint(bold, r.ConsumedGPUHours), plural(r.TrackedPods, "pod"), q.window, q.at.Format(time.RFC3339))
	if r.Exceeded != nil {
		out.WriteString(limitText(look, r, q) + "\n")
	}
	return out.String()
}

// limitText says how the usage stands to the limit.
func limitText(look style, r usageReport, q usageQuestion) string {
	tenths := r.ConsumedMilliGPUSeconds / max(1, q.limit/1000)
	text := fmt.Sprintf("%d.%d%% of %s", tenths/10, tenths%10, budget.Hours(q.limit))
	if bar := look.bar(int(min(tenths, 1000)), 1000); bar != "" {
		text = bar + " " + text
	}
	if !*r.Exceeded {
		return fmt.Sprintf("%s: %s GPU-hours are left", text, look.paint(green, *r.RemainingGPUHours))
	}
	since := ""
	if r.ExceededSince != nil {
		since = " since " + r.ExceededSince.Format(time.RFC3339)
	}
	return text + ": " + look.paint(red, "exceeded"+since)
}
