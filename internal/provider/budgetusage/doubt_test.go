package budgetusage

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// Out-of-date values come with a warning.
func TestDoubts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := budget.Declaration{Name: "team-a", Generation: 2}.WithDefaults()
	for name, test := range map[string]struct {
		status *budget.Status
		want   string
	}{
		"never counted": {nil, "no gpupool reconcile run has counted it yet"},
		"changed since": {&budget.Status{Generation: 1, At: now}, "values are those of its generation 1, and generation 2 is declared"},
		"counted long ago": {
			&budget.Status{Generation: 2, At: now.Add(-61 * time.Minute)}, "2026-03-01T10:59:00Z, which is longer ago than max_status_age (1h)",
		},
		"counted a while ago":   {&budget.Status{Generation: 2, At: now.Add(-time.Hour)}, ""},
		"counted by now":        {&budget.Status{Generation: 2, At: now}, ""},
		"counted in the future": {&budget.Status{Generation: 2, At: now.Add(time.Second)}, ""},
	} {
		why := doubt(budgets.State{Declaration: d, Status: test.status}, now)
		got := why.String()
		if (test.want == "") != why.IsZero() || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
