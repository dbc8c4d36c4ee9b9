package reconcile

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/metrics"
)

// written are the names of all metrics that a run can write.
func written(t *testing.T) (names []string) {
	t.Helper()
	all, err := metrics.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		names = append(names, m.Name)
	}
	return names
}

// names are the metrics that a text names, each once.
func names(text string) []string {
	found := map[string]bool{}
	for _, name := range regexp.MustCompile(`\bgpupool_[a-z_]+\b`).FindAllString(text, -1) {
		found[name] = true
	}
	return slices.Sorted(maps.Keys(found))
}

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

// TestAlertsAskForMetricsThatAreThere reads the alerting rules of the examples.
func TestAlertsAskForMetricsThatAreThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(clitest.RepositoryFile(t, "examples/prometheus/alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []struct {
				Alert       string            `json:"alert"`
				Expr        string            `json:"expr"`
				For         string            `json:"for"`
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	known, asked := written(t), map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			of := names(r.Expr)
			if r.Alert == "" || len(of) == 0 || r.Annotations["summary"] == "" {
				t.Errorf("a rule lacks something: %+v", r)
			}
			for _, name := range of {
				asked[name] = true
				if !slices.Contains(known, name) {
					t.Errorf("%s asks for %s, which no run writes", r.Alert, name)
				}
			}
		}
	}
	for _, name := range []string{"gpupool_declarations", "gpupool_last_run_timestamp_seconds", "gpupool_last_success_timestamp_seconds"} {
		if !asked[name] {
			t.Errorf("no alert asks for %s", name)
		}
	}
}
