package reconcile_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// TestAReportListsTheDecisionsOfBothKinds keeps decisions of pools and of budgets in
// one list, each with its own fields.
func TestAReportListsTheDecisionsOfBothKinds(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.cluster.Start("ml", "a", 4)
	g.cluster.Step(30 * time.Minute)
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

func reasons(r reconcile.Report) (list []string) {
	for _, d := range r.Decisions {
		list = append(list, d.Kind(), d.Object(), d.Summary(), strings.Join(d.Reasons().Texts(), ";"))
	}
	return list
}
