//go:build prometheus

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

var (
	programs = flag.String("programs", "../../bin", "the directory of prometheus, promtool and gpupool")
	wait     = flag.String("for", "3s", "how long an expression of an alert must be true, instead of the time in its rule")
)

const rulesFile = "../../examples/prometheus/alerts.yml"

func program(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(*programs, name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("run it by make boards: %v", err)
	}
	return path
}

// TestRules runs promtool on the rules and their cases, which have the times of the rules.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), program(t, "promtool"), args...)
		cmd.Dir = filepath.Dir(rulesFile)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// prometheus is a Prometheus with the rules, which scrapes one address each second.
type prometheus struct {
	t       *testing.T
	address string
	began   time.Time
}

func startPrometheus(t *testing.T, target string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &prometheus{t: t, address: listener.Addr().String(), began: time.Now()}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	config, err := yaml.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
		"rule_files": []string{"alerts.yml"},
		"scrape_configs": []any{map[string]any{"job_name": "gpupool", "static_configs": []any{
			map[string]any{"targets": []string{target}, "labels": map[string]string{"cluster": "test"}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"prometheus.yml": config, "alerts.yml": shortened(t)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start(t, program(t, "prometheus"), os.Environ(), "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+p.address, "--log.level=warn")
	kubetest.WaitFor(t, "Prometheus", func(context.Context) error {
		_, err := p.get("/-/ready", nil)
		return err
	})
	return p
}

// shortened returns the rules with the time of the flag in place of their own.
func shortened(t *testing.T) []byte {
	t.Helper()
	rules := readRules(t)
	for _, g := range rules.Groups {
		for n := range g.Rules {
			if g.Rules[n].For != "" {
				g.Rules[n].For = *wait
			}
		}
	}
	data, err := yaml.Marshal(rules)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// start starts a program, which is stopped when the test ends. It returns the file of its standard
// output.
func start(t *testing.T, path string, env []string, args ...string) (stdout string) {
	t.Helper()
	name := filepath.Base(path)
	out, err := os.Create(filepath.Join(t.TempDir(), name+".out"))
	if err != nil {
		t.Fatal(err)
	}
	logged, err := os.Create(filepath.Join(t.TempDir(), name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, out, logged
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = out.Close()
		_ = logged.Close()
		if text, err := os.ReadFile(logged.Name()); err == nil && t.Failed() {
			t.Logf("%s printed:\n%s", name, text)
		}
	})
	return out.Name()
}

// get returns the data of a response of Prometheus.
func (p *prometheus) get(path string, query url.Values) (data json.RawMessage, err error) {
	response, err := http.Get("http://" + p.address + path + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", path, response.Status)
	}
	if strings.HasPrefix(path, "/-/") {
		return nil, nil
	}
	var answer struct{ Data json.RawMessage }
	err = json.NewDecoder(response.Body).Decode(&answer)
	return answer.Data, err
}

// firing returns the summaries of the alerts that fire, by name.
func (p *prometheus) firing() map[string]string {
	p.t.Helper()
	data, err := p.get("/api/v1/alerts", nil)
	var list struct {
		Alerts []struct {
			State               string
			Labels, Annotations map[string]string
		}
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	firing := map[string]string{}
	for _, a := range list.Alerts {
		if a.State == "firing" {
			firing[a.Labels["alertname"]] = a.Annotations["summary"]
		}
	}
	return firing
}

func (p *prometheus) waitFiring(alert, summary string) {
	p.t.Helper()
	kubetest.WaitFor(p.t, alert+" to fire", func(context.Context) error {
		if got, fires := p.firing()[alert]; !fires || got != summary {
			return fmt.Errorf("firing are %v", p.firing())
		}
		return nil
	})
}

func (p *prometheus) waitResolved(alert string) {
	p.t.Helper()
	kubetest.WaitFor(p.t, alert+" to resolve", func(context.Context) error {
		if summary, fires := p.firing()[alert]; fires {
			return fmt.Errorf("%s", summary)
		}
		return nil
	})
}

// series returns the number of series of an expression with all values of the variables: now, or at
// any time since the start.
func (p *prometheus) series(expr string, now bool) int {
	p.t.Helper()
	for _, name := range []string{"cluster", "region", "pool", "budget", "namespace"} {
		expr = strings.ReplaceAll(expr, "$"+name, ".*")
	}
	path, query := "/api/v1/query", url.Values{"query": {expr}}
	if !now {
		path = "/api/v1/query_range"
		query.Set("start", fmt.Sprint(p.began.Unix()))
		query.Set("end", fmt.Sprint(time.Now().Unix()))
		query.Set("step", "1")
	}
	data, err := p.get(path, query)
	var found struct{ Result []json.RawMessage }
	if err == nil {
		err = json.Unmarshal(data, &found)
	}
	if err != nil {
		p.t.Fatalf("%s: %v", expr, err)
	}
	return len(found.Result)
}

// checkBoards checks that each query of each panel, and each variable, has data.
func (p *prometheus) checkBoards() {
	p.t.Helper()
	for _, b := range boards {
		for _, r := range b.rows {
			for _, panel := range r.panels {
				for _, of := range panel.queries {
					if p.series(of.expr, panel.kind != "timeseries") == 0 {
						p.t.Errorf("%s: the panel %q has no data of %s", b.file, panel.title, of.expr)
					}
				}
			}
		}
		for _, s := range b.selections {
			selector := strings.ReplaceAll(s.of, "$cluster", ".*")
			data, err := p.get("/api/v1/label/"+s.label+"/values", url.Values{"match[]": {selector}})
			var values []string
			if err == nil {
				err = json.Unmarshal(data, &values)
			}
			if err != nil || len(values) == 0 {
				p.t.Errorf("%s: the variable %s has no values: %v", b.file, s.name, err)
			}
		}
	}
}
