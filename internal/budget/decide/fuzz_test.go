package decide

import (
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
)

// FuzzDeclarations: nothing that a document may say makes judging panic, and what
// is valid can be judged.
func FuzzDeclarations(f *testing.F) {
	f.Add("team-a", "100", "24h", "", "", "team", "In", "a", 50, "evict", "10m", "1/7")
	f.Add("", "-1", "", "month", "Europe/Berlin", "", "Exists", "", -1, "kill", "-1s", "1/0")
	f.Add("x", "1e9", "9999d", "week", "Local", "a/b/c", "Gt", "\xff", 1<<30, "pause", "1000000h", "-0")
	f.Fuzz(func(t *testing.T, name, hours, window, period, zone, key, operator, value string, threshold int, action, duration, weight string) {
		d := budget.Declaration{
			Name: name, GPUHours: hours, Window: window, Period: budget.Period(period), TimeZone: zone, Thresholds: []int{threshold},
			Selector: budget.Selector{
				Namespaces: []string{value}, MatchLabels: map[string]string{key: value},
				MatchExpressions: []budget.Expression{{Key: key, Operator: operator, Values: []string{value}}},
			},
			Enforce:         budget.Enforcement{Action: budget.Action(action), GracePeriod: duration, MaxGap: duration},
			ResourceWeights: map[string]string{key: weight}, ModelWeights: map[string]string{value: weight}, BreakdownLabels: []string{key},
		}.WithDefaults()
		problems := d.Validate(time.LoadLocation)
		r := meter.Evaluate([]budget.Declaration{d}, of(record("a", "1", ago(1e12), 0)), observed(), noon, time.LoadLocation)[0]
		if len(problems) > 0 {
			return
		}
		d.Warnings()
		if r.Err != nil {
			t.Fatalf("%+v is valid, and not judged: %v", d, r.Err)
		}
		Decide(Situation{Declaration: d, Result: r, Now: noon}, &Observation{Pods: []budget.Pod{pod("a", 0)}})
	})
}
