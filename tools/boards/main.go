// Boards writes the Grafana dashboards in examples/grafana and the PrometheusRule of the alerts
// in examples/prometheus. make generate runs it.
//
//	go run ./tools/boards
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "boards:", err)
		os.Exit(1)
	}
}

func write() error {
	for _, b := range boards {
		data, err := encode(b.dashboard())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join("examples/grafana", b.file+".json"), data, 0o644); err != nil {
			return err
		}
	}
	rules, err := os.ReadFile("examples/prometheus/alerts.yml")
	if err != nil {
		return err
	}
	object, err := prometheusRule(rules)
	if err != nil {
		return fmt.Errorf("examples/prometheus/alerts.yml: %w", err)
	}
	return os.WriteFile("examples/prometheus/prometheusrule.yml", object, 0o644)
}

func encode(of any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // expressions have > and <
	e.SetIndent("", "  ")
	err := e.Encode(of)
	return b.Bytes(), err
}

// prometheusRule returns the groups of rules as an object for the Prometheus operator.
func prometheusRule(rules []byte) ([]byte, error) {
	var spec map[string]any
	if err := yaml.UnmarshalStrict(rules, &spec); err != nil {
		return nil, err
	}
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
		"metadata": map[string]any{"name": "gpupool", "namespace": "gpupool-system-run"}, "spec": spec,
	})
	return append([]byte("# Generated from alerts.yml by make generate.\n"), data...), err
}
