package helm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader"
	release "helm.sh/helm/v4/pkg/release/v1"
	"sigs.k8s.io/yaml"
)

const chartDirectory = "../../charts/gpupool"

// binary returns the path of a program that make builds.
func binary(t *testing.T, variable, name string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join("../../bin", name)
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v: run make build localkube, or set %s", err, variable)
	}
	return path
}

type values = map[string]any

// render returns the objects of the chart for some values, by kind, namespace and name.
func render(t *testing.T, of values, apis ...string) (map[string]values, error) {
	t.Helper()
	chart, err := loader.Load(chartDirectory)
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy, install.ReleaseName, install.Namespace, install.APIVersions = action.DryRunClient, "gpupool", "default", apis
	if install.KubeVersion, err = common.ParseKubeVersion("v1.34.0"); err != nil {
		t.Fatal(err)
	}
	made, err := install.Run(chart, of)
	if err != nil {
		return nil, err
	}
	return parse(t, made.(*release.Release).Manifest), nil
}

func parse(t *testing.T, text string) map[string]values {
	t.Helper()
	all := map[string]values{}
	for _, document := range strings.Split("\n"+text, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(o) > 0 {
			key := keyOf(o)
			if all[key] != nil {
				t.Errorf("%s is there twice", key)
			}
			all[key] = o
		}
	}
	return all
}

func keyOf(o map[string]any) string {
	about, _ := o["metadata"].(map[string]any)
	namespace, _ := about["namespace"].(string)
	return fmt.Sprintf("%v/%s/%v", o["kind"], namespace, about["name"])
}

// manifests returns the objects of gpupool manifests.
func manifests(t *testing.T, budgets string, flags []string) map[string]values {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary(t, "GPUPOOL_BIN", "gpupool"), append([]string{"manifests", "--budgets=-"}, flags...)...)
	command.Stdin = strings.NewReader(budgets)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, &stderr)
	}
	return parse(t, string(out))
}

// monitoring are the APIs of the Prometheus operator.
var monitoring = []string{"monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PrometheusRule"}

// TestChartEqualsManifests renders the chart with defaults and random values.
func TestChartEqualsManifests(t *testing.T) {
	t.Parallel()
	samples := []sample{newSample()}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same samples each time
	for range 40 {
		samples = append(samples, random(t, r))
	}
	for n, s := range samples {
		got, err := render(t, s.values, monitoring...)
		if err != nil {
			t.Errorf("sample %d: %v: %v", n, s.values, err)
			continue
		}
		want := manifests(t, s.budgets, s.flags)
		for key := range got {
			if strings.HasPrefix(key, "Secret/") && want[key] == nil {
				delete(got, key) // the certificate, which manifests leaves to the operator
			}
		}
		compare(t, fmt.Sprintf("sample %d: gpupool manifests %s", n, strings.Join(s.flags, " ")), want, got)
	}
}

func compare(t *testing.T, about string, want, got map[string]values) {
	t.Helper()
	if len(want) == 0 {
		t.Errorf("%s: no object", about)
	}
	for key := range got {
		if want[key] == nil {
			t.Errorf("%s: the chart adds %s", about, key)
		}
	}
	for key := range want {
		if !reflect.DeepEqual(want[key], got[key]) {
			a, _ := json.MarshalIndent(want[key], "", " ")
			b, _ := json.MarshalIndent(got[key], "", " ")
			t.Errorf("%s: the chart has another %s\nmanifests: %s\nchart: %s", about, key, a, b)
		}
	}
}

// TestMonitoringNeedsItsAPI renders no object that the cluster does not know.
func TestMonitoringNeedsItsAPI(t *testing.T) {
	t.Parallel()
	enabled := values{"serviceMonitor": values{"enabled": true}, "prometheusRule": values{"enabled": true}}
	for _, apis := range [][]string{nil, monitoring} {
		got, err := render(t, enabled, apis...)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"ServiceMonitor/gpupool-system-run/gpupool-serve", "PrometheusRule/gpupool-system-run/gpupool"} {
			if (got[key] != nil) != (len(apis) > 0) {
				t.Errorf("with the APIs %v, %s is %v", apis, key, got[key])
			}
		}
	}
}

func TestInvalidValues(t *testing.T) {
	t.Parallel()
	budget := func(of values) values { return values{"budgets": values{"team-a": of}} }
	selector := values{"matchLabels": values{"team": "a"}}
	for says, of := range map[string]values{
		"additional properties 'unknown' not allowed": {"unknown": 1},
		"additional properties 'gpuHour' not allowed": budget(values{"gpuHour": 1, "gpuHours": 1, "selector": selector}),
		"missing property 'selector'":                 budget(values{"gpuHours": 1}),
		"minProperties":                               budget(values{"gpuHours": 1, "selector": values{}}),
		"/budgets/team-a/gpuHours":                    budget(values{"gpuHours": "many", "selector": selector}),
		"additional properties 'Team' not allowed":    {"budgets": values{"Team": values{"gpuHours": 1, "selector": selector}}},
		"/mode":                               {"mode": "pod"},
		"/serve":                              {"serve": values{"tls": true}},
		"must differ":                         {"runNamespace": "gpupool-system"},
		"kube-system is not":                  {"namespace": "kube-system"},
		"default is not":                      {"runNamespace": "default"},
		"need the mode serve":                 {"mode": "cronjob", "serviceMonitor": values{"enabled": true}},
		"exclude each other":                  {"serve": values{"tlsSecret": "a", "behindProxy": true}},
		"need nodes.mark":                     {"nodes": values{"delete": true}},
		"needs the enforcement evict":         {"nodes": values{"mark": true, "cordon": true}},
		"noticeWatch.nodeSelector needs":      {"noticeWatch": values{"nodeSelector": values{"a": "b"}}},
		"stockPools.namespaces needs":         {"stockPools": values{"namespaces": []any{"a"}}},
		"kube-public cannot have stock pools": {"stockPools": values{"enabled": true, "namespaces": []any{"kube-public"}}},
		"/bootstrapGroups/0":                  {"bootstrapGroups": []any{"system:masters"}},
	} {
		if _, err := render(t, of); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: got the error %v, want one that says %s", of, err, says)
		}
	}
}

// TestSchemaHasAllValues compares the schema with the defaults.
func TestSchemaHasAllValues(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]struct {
			Properties map[string]any
		}
	}
	read(t, "values.schema.json", &schema)
	var defaults map[string]any
	read(t, "values.yaml", &defaults)
	for name, value := range defaults {
		of, found := schema.Properties[name]
		if !found {
			t.Errorf("the schema has no %s", name)
		}
		inner, _ := value.(map[string]any)
		for key := range inner {
			if of.Properties[key] == nil {
				t.Errorf("the schema has no %s.%s", name, key)
			}
		}
		if len(of.Properties) != len(inner) {
			t.Errorf("%s has other properties in the schema than in the values", name)
		}
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(chartDirectory, name))
	if err == nil {
		err = yaml.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
