package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/metrics"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

var (
	metric   = regexp.MustCompile(`\bgpupool_\w+`)
	selector = regexp.MustCompile(`\b(gpupool_\w+)\{([^}]*)\}`)
	label    = regexp.MustCompile(`(\w+)\s*(?:=~|!=|=)`)
)

func labelsOfMetrics(t *testing.T) map[string][]string {
	t.Helper()
	list, err := metrics.List()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{}
	for _, m := range list {
		labels[m.Name] = append(m.Labels, "cluster") // which scrapes add
	}
	return labels
}

// checkExpr reports metrics and labels that gpupool does not write.
func checkExpr(t *testing.T, where, expr string, known map[string][]string) {
	t.Helper()
	for _, name := range metric.FindAllString(expr, -1) {
		if _, exists := known[name]; !exists {
			t.Errorf("%s uses %s, which no run writes", where, name)
		}
	}
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		for _, l := range label.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(known[s[1]], l[1]) {
				t.Errorf("%s uses the label %s of %s, which has %v", where, l[1], s[1], known[s[1]])
			}
		}
	}
}

func TestBoardsUseMetricsThatExist(t *testing.T) {
	t.Parallel()
	known, shown := labelsOfMetrics(t), map[string]bool{}
	for _, b := range boards {
		for _, s := range b.selections {
			checkExpr(t, b.file+" "+s.name, s.of, known)
		}
		for _, r := range b.rows {
			for _, p := range r.panels {
				if len(p.queries) == 0 || p.unit == "" {
					t.Errorf("%s: panel %q has no query or no unit", b.file, p.title)
				}
				for _, of := range p.queries {
					checkExpr(t, b.file+" "+p.title, of.expr, known)
					for _, name := range metric.FindAllString(of.expr, -1) {
						shown[name] = true
					}
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !shown[name] {
			t.Errorf("no board shows %s", name)
		}
	}
}

// rules are the rules of alerts.yml.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	} `json:"groups"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func readRules(t *testing.T) (of rules) {
	t.Helper()
	text, err := os.ReadFile("../../examples/prometheus/alerts.yml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, &of)
	}
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// TestEachRuleHasCases: make boards runs the cases of alerts_test.yml with promtool. Each alert has a case
// in which it does not fire, and one in which it fires after the time of its rule.
func TestEachRuleHasCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/prometheus/alerts_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tests []struct {
			Name  string
			Cases []struct {
				Alertname string
				EvalTime  string `json:"eval_time"`
				ExpAlerts []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string][]string{}, map[string]bool{}
	for _, of := range file.Tests {
		for _, c := range of.Cases {
			if len(c.ExpAlerts) > 0 {
				fires[c.Alertname] = append(fires[c.Alertname], c.EvalTime)
			} else {
				silent[c.Alertname] = true
			}
		}
	}
	rules := 0
	for _, g := range readRules(t).Groups {
		rules += len(g.Rules)
		for _, r := range g.Rules {
			if len(fires[r.Alert]) == 0 || !silent[r.Alert] || r.For != "" && fires[r.Alert][0] != r.For {
				t.Errorf("%s needs a case without the alert, and one in which it fires after %q; it has %v", r.Alert, r.For, fires[r.Alert])
			}
		}
	}
	if rules == 0 {
		t.Error("there is no rule")
	}
}

func TestAlertsNameWhatToDo(t *testing.T) {
	t.Parallel()
	file := readRules(t)
	page, err := os.ReadFile("../../docs/guides/on-call.md")
	if err != nil {
		t.Fatal(err)
	}
	known, headings, asked := labelsOfMetrics(t), anchors(string(page)), map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			checkExpr(t, r.Alert, r.Expr, known)
			names := metric.FindAllString(r.Expr, -1)
			if r.Alert == "" || len(names) == 0 {
				t.Errorf("a rule has no name or no metric: %+v", r)
			}
			for _, name := range names {
				asked[name] = true
			}
			_, anchor, _ := strings.Cut(r.Annotations["runbook_url"], "/docs/guides/on-call.md#")
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" || !headings[anchor] {
				t.Errorf("alert %s needs a severity, a summary, a description, and a runbook_url to a heading of the on-call guide", r.Alert)
			}
		}
	}
	for _, name := range []string{"gpupool_declarations", "gpupool_last_run_timestamp_seconds", "gpupool_last_success_timestamp_seconds"} {
		if !asked[name] {
			t.Errorf("no alert uses %s", name)
		}
	}
}

// kinds are the events of the history that alerts report, too.
var kinds = map[string]history.Kind{
	"GpupoolLaunchesRefused": history.Refused, "GpupoolReplacementSuspended": history.Suspend, "GpupoolRunsFailing": history.RunFailed,
	"GpupoolBudgetThreshold": history.Threshold, "GpupoolBudgetExceeded": history.Exceeded, "GpupoolLedgerLoss": history.Loss,
}

var (
	stateOf = regexp.MustCompile(`state="([A-Z]\w+)"`)
	// humanized finds texts such as 294m for 0.294.
	humanized = regexp.MustCompile(`\bhumanize(1024)?\b`)
)

// TestAlertsAgreeWithNotifications in severity, and with status in the names of states. Numbers have no prefixes.
func TestAlertsAgreeWithNotifications(t *testing.T) {
	t.Parallel()
	compared, states := 0, 0
	for _, g := range readRules(t).Groups {
		for _, r := range g.Rules {
			for name, text := range r.Annotations {
				if humanized.MatchString(text) {
					t.Errorf("the %s of %s writes numbers such as 294m: %s", name, r.Alert, text)
				}
			}
			for _, found := range stateOf.FindAllStringSubmatch(r.Expr, -1) {
				if states++; !slices.Contains(state.States(), state.State(found[1])) {
					t.Errorf("%s uses the state %s, which no object has", r.Alert, found[1])
				}
			}
			kind, shared := kinds[r.Alert]
			if !shared {
				continue
			}
			compared++
			want := "warning"
			if of := notification.SeverityOf(kind); of == notification.Critical || of == notification.Error {
				want = "critical"
			}
			if got := r.Labels["severity"]; got != want {
				t.Errorf("%s is %s, and the notification of %s is %s", r.Alert, got, kind, notification.SeverityOf(kind))
			}
		}
	}
	if compared != len(kinds) || states < 3 {
		t.Errorf("%d of %d alerts and %d states were compared", compared, len(kinds), states)
	}
}

func anchors(page string) map[string]bool {
	of := map[string]bool{}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "#") {
			of[strings.ReplaceAll(strings.ToLower(strings.Trim(line, "# \n")), " ", "-")] = true
		}
	}
	return of
}

func TestFilesAreGenerated(t *testing.T) {
	t.Parallel()
	want := map[string][]byte{}
	for _, b := range boards {
		data, err := encode(b.dashboard())
		if err != nil {
			t.Fatal(err)
		}
		want[fmt.Sprintf("grafana/%s.json", b.file)] = data
	}
	rules, err := os.ReadFile("../../examples/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	if want["prometheus/prometheusrule.yml"], err = prometheusRule(rules); err != nil {
		t.Fatal(err)
	}
	for name, data := range want {
		got, err := os.ReadFile(filepath.Join("../../examples", name))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("examples/%s is out of date (%v): run make generate", name, err)
		}
	}
}
