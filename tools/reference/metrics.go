package main

import (
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
	return "A metric is absent if its value is unknown, for example because a pool could not be observed.\n\n" +
		table([]string{"metric", "type", "labels", "meaning"}, rows), err
}
