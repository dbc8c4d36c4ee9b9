package reconcile

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// TestMetricsOfNodes: a pool without nodes, and one whose cluster was not seen, has none.
func TestMetricsOfNodes(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/gpupool.prom"
	o := &options{metricsFile: path, session: &process.Session{Process: process.Process{Now: time.Now}}}
	o.writeMetrics(reconcile.Report{FinishedAt: time.Now(), SpotPools: withNodes(t).SpotPools}, true)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "gpupool_pool_") && strings.Contains(line, "_nodes{") || strings.HasPrefix(line, "gpupool_pool_drains{") ||
			strings.HasPrefix(line, "gpupool_pool_replacing") {
			got = append(got, line)
		}
	}
	clitest.Golden(t, "metrics_nodes.txt", strings.Join(got, ""))
}
