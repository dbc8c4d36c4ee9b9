package budgets

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

// A limit is known before anything was judged by it, and stands in JSON under one
// name whether it was or not.
func TestReportsNameTheLimit(t *testing.T) {
	t.Parallel()
	d := budget.Declaration{Name: "team-a", GPUHours: "12.5"}
	judged := budget.Status{Usage: budget.Usage{Limit: 10 * budget.Hour}}
	for name, tt := range map[string]struct {
		report Report
		want   any
	}{
		"judged":     {newReport(d, judged, outcome.Done, nil), "10.000"},
		"not judged": {unjudgedReport(d, outcome.Skipped, nil), "12.500"},
		"failed":     {failedReport(d, errors.New("no")), "12.500"},
		"unreadable": {failedReport(budget.Declaration{Name: "team-a"}, errors.New("no")), nil},
	} {
		data, err := json.Marshal(tt.report)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		if fields["limit_gpu_hours"] != tt.want {
			t.Errorf("%s: the limit is %v in %s", name, fields["limit_gpu_hours"], data)
		}
	}
}
