package usage

import (
	"encoding/csv"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// csvText is the list as CSV. The titles are the names of the JSON fields.
func csvText(pods []usage.Pod, listed usage.Listed) string {
	rows := [][]string{{"uid", "namespace", "name", "gpus", "start", "end", "end_source", "gpu_hours", "unconfirmed_gpu_hours"}}
	if listed.By != "" {
		rows = [][]string{{
			"name", "tracked_pods", "active_pods", "burn_rate_gpus", "gpu_hours", "estimated_gpu_hours", "milli_gpu_seconds", "unconfirmed_gpu_hours",
		}}
	}
	for _, g := range listed.Groups {
		rows = append(rows, []string{
			g.Name, fmt.Sprint(g.TrackedPods), fmt.Sprint(g.ActivePods), g.BurnRateGPUs, g.GPUHours, g.EstimatedGPUHours, fmt.Sprint(g.MilliGPUSeconds),
			g.UnconfirmedGPUHours,
		})
	}
	for _, p := range pods {
		end, source := "", ""
		if p.End != nil {
			end, source = p.End.Format(time.RFC3339Nano), *p.EndSource
		}
		rows = append(rows, []string{p.UID, p.Namespace, p.Name, p.GPUs, p.Start.Format(time.RFC3339Nano), end, source, p.GPUHours, p.UnconfirmedGPUHours})
	}
	var out strings.Builder
	_ = csv.NewWriter(&out).WriteAll(rows) // a strings.Builder does not fail
	return out.String()
}
