package reconcile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// TestReportJSON keeps decisions of pools and of budgets in one list, each with
// its own fields.
func TestReportJSON(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.cluster.start("ml", "a", 4)
	g.cluster.step(30 * time.Minute)
	g.lose()
	report := g.run(reconcile.RunOptions{DryRun: true})
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Decisions []map[string]any `json:"decisions"`
		Budgets   []map[string]any `json:"budgets"`
	}
	if err := json.Unmarshal(data, &parsed); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, d := range parsed.Decisions {
		kinds = append(kinds, d["kind"].(string)+" "+d["object"].(string)+" "+d["outcome"].(string))
		if _, has := d["reasons"]; !has {
			t.Errorf("no reasons: %v", d)
		}
	}
	if !slices.Equal(kinds, []string{"alert budget/team-a planned", "launch spot_pool/ap-singapore/train planned"}) {
		t.Errorf("decisions: %v", kinds)
	}
	if b := parsed.Budgets[0]; b["consumed_gpu_hours"] != "2.000" || b["limit_gpu_hours"] != "4.000" || b["coverage"] == nil || b["outcome"] != "planned" {
		t.Errorf("budget: %v", b)
	}
	var again reconcile.Report
	if err := json.Unmarshal(data, &again); err != nil || !reflect.DeepEqual(reasons(again), reasons(report)) {
		t.Errorf("read again: %v, %+v", err, again.Decisions)
	}
}

// reasons are what a report's decisions say of themselves.
func reasons(r reconcile.Report) (list []string) {
	for _, d := range r.Decisions {
		list = append(list, d.Kind(), d.Object(), d.Summary(), strings.Join(d.Reasons(), ";"))
	}
	return list
}

// classed is an error of the cluster that says what helps.
type classed string

func (classed) Error() string        { return "cannot create pods/eviction ml/a: forbidden" }
func (c classed) ErrorClass() string { return string(c) }

// TestErrorsOfTheClusterHaveAClass is about the decision that failed, and the
// budget that it leaves failed, as much as about a cluster that can't be reached.
func TestErrorsOfTheClusterHaveAClass(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.declare(enforcing(budget.Evict), func(b *budget.Declaration) { b.Thresholds = []int{100} })
	d.cluster.start("ml", "a", 8)
	d.cluster.step(time.Hour)
	for _, c := range []struct {
		method string
		class  spotpool.ErrorClass
	}{{"UID", spotpool.ClassTransient}, {"LivePods", spotpool.ClassTransient}, {"Evict", spotpool.ClassAuthorisation}} {
		d.cluster.failing[c.method] = fmt.Errorf("team-a: %w", classed(c.class))
		report, err := d.engine().Run(context.Background(), reconcile.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if b := report.Budgets[0]; b.Outcome != outcome.Failed || b.Error == nil || b.Error.Class != c.class {
			t.Errorf("%s: the budget is %s: %+v", c.method, b.Outcome, b.Error)
		}
		for _, r := range report.Decisions {
			if r.Outcome == outcome.Failed && r.Error.Class != c.class {
				t.Errorf("%s: to %s failed: %+v", c.method, r.Kind(), r.Error)
			}
		}
		delete(d.cluster.failing, c.method)
	}
}
