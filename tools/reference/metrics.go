package main

import (
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/metrics"
)

// metrics writes the page about metrics.
func metricsPage() (string, error) {
	all, err := metrics.List()
	var rows [][]string
	for _, m := range all {
		labels := ""
		if len(m.Labels) > 0 {
			labels = quoted(strings.Join(m.Labels, "`, `"))
		}
		rows = append(rows, []string{quoted(m.Name), m.Type, labels, m.Help})
	}
	text := "A metric is absent if its value is unknown, for example because a pool could not be observed.\n\n" +
		"Counters are kept in the store. They survive a killed process, do not fall when history expires, and are the same for each `gpupool serve`. " +
		"A run counts each event once: also those of applies, and of runs that were killed.\n\n"
	of := metrics.Series
	text += "No label names a pod, a node or an instance. The number of series has a bound:\n\n" + table([]string{"of", "series"}, [][]string{
		{"the store", fmt.Sprint(of.Store)}, {"each action that gpupool calls", fmt.Sprint(of.Action)}, {"each spot pool", fmt.Sprint(of.SpotPool)},
		{"each budget", fmt.Sprintf("%d, and 1 for each alert threshold", of.Budget)}, {"each stock pool", fmt.Sprint(of.StockPool)},
	}) + "\n"
	return text + table([]string{"metric", "type", "labels", "meaning"}, rows), err
}
