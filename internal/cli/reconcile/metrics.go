package reconcile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/metrics"
)

// validateMetricsFile refuses an invalid path.
func validateMetricsFile(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return process.Usagef("--metrics-file %s is a directory: use a file in it", path)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return process.Usagef("--metrics-file %s: directory %s does not exist", path, dir)
	}
	return nil
}

// writeMetrics writes metrics of a run for the node_exporter textfile collector. A failed run
// keeps the time of the last success.
func (o *options) writeMetrics(report reconcile.Report, success bool) {
	if o.metricsFile == "" {
		return
	}
	finished := o.session.Now()
	succeeded := float64(finished.Unix())
	if !success {
		var err error
		if succeeded, err = previousSuccess(o.metricsFile); err != nil {
			o.session.Warn(fmt.Sprintf("%s has no readable time of the last success, so it is reset: %v", o.metricsFile, err))
		}
	}
	if err := prometheus.WriteToTextfile(o.metricsFile, metrics.OfRun(report, success, finished, succeeded)); err != nil {
		o.session.Warn(fmt.Sprintf("cannot write metrics: %v", err))
	}
}

// previousSuccess reads the time of the last success from the metrics of the last run; 0 if
// there are none.
func previousSuccess(path string) (float64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(f)
	if err != nil {
		return 0, err
	}
	for _, metric := range families[metrics.LastSuccess].GetMetric() {
		return metric.GetGauge().GetValue(), nil
	}
	return 0, nil
}
