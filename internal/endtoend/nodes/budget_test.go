package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// budgetExceeded: a pool with this setting drains and terminates its instances once its budget
// has been exceeded for half an hour. It launches them again once the budget is no longer
// exceeded.
func budgetExceeded(r *rig) {
	b, err := r.apply().Budgets().Create(r.t.Context(), budget.Declaration{
		Name: "team-a", GPUHours: "1000", Window: "24h", Selector: budget.Selector{Namespaces: []string{r.namespace}},
		Enforce: budget.Enforcement{Action: budget.AlertOnly},
	}.WithDefaults())
	if err != nil {
		r.t.Fatal(err)
	}
	limit := func(hours string) {
		d := b.Declaration
		d.GPUHours = hours
		if b, err = r.apply().Budgets().Update(r.t.Context(), d); err != nil {
			r.t.Fatal(err)
		}
	}
	r.reconcile() // which judges it
	r.create(2, 3, func(d *spotpool.Declaration) { d.Budget, d.OnBudgetExceeded = "team-a", spotpool.ExceededDrain })
	r.deploy(2)
	before, pods := r.own(), r.runs(2)

	limit("0.001")
	kubetest.WaitFor(r.t, "the budget to be exceeded", func(context.Context) error {
		var report reconcile.Report
		if err := json.Unmarshal(r.data("reconcile", "-o", "json"), &report); err != nil {
			r.t.Fatal(err)
		}
		if !*report.Budgets[0].Exceeded {
			return errors.New(report.Budgets[0].ConsumedGPUHours)
		}
		return nil
	})
	r.pass(29 * time.Minute)
	r.says(r.reconcile(), `As on_budget_exceeded is "drain", the pool's nodes are drained and its instances terminated from`)
	r.audit.Wants(r.t, "before budget_grace_period is over")
	if now := r.runs(2); now[before[0]].UID != pods[before[0]].UID {
		r.t.Error("pods were ended before budget_grace_period was over")
	}

	r.pass(2 * time.Minute)
	r.says(r.reconcile(), "no instances are desired: budget/team-a has been exceeded for certain since")
	drained := r.audit.Taken()
	for _, pod := range pods {
		r.gone(pod)
	}
	r.reconcile()
	ended := r.audit.Taken()
	var want []string
	for _, id := range before {
		want = append(want, "cordon "+nodeOf(id), "evict "+pods[id].Name)
	}
	slices.Sort(drained)
	slices.Sort(want)
	if diff := cmp.Diff(want, drained); diff != "" {
		r.t.Errorf("calls once budget_grace_period is over (-want +got):\n%s", diff)
	}
	if got := strings.Join(ended, "\n"); got != "TerminateInstances "+strings.Join(before, " ")+" ok" {
		r.t.Errorf("calls once the nodes are empty:\n%s", got)
	}
	for _, id := range before {
		r.silent(id)
	}
	r.reconcile()
	r.pass(61 * time.Second)
	r.reconcile()
	r.pass(time.Hour)
	r.says(r.reconcile(), "no instances are desired")
	adopted := r.apply().SpotPools().Adopt(r.t.Context(), r.pool.Region, r.pool.Name, []string{"ins-12345678"}, false)
	if adopted == nil || !strings.Contains(adopted.Error(), "budget/team-a is exceeded and drains it") {
		r.t.Errorf("adopting into a pool that its budget drains: %v", adopted)
	}
	if said := string(r.data("wait", r.pool.Name, "--for", "recovered", "--timeout", "0s")); !strings.Contains(said,
		"capacity 0 of 0; its exceeded budget drains it") {
		r.t.Errorf("waiting for a pool that its budget drains: %s", said)
	}
	forgotten := r.audit.Taken()
	slices.Sort(forgotten)
	if diff := cmp.Diff([]string{"delete " + nodeOf(before[0]), "delete " + nodeOf(before[1])}, forgotten); diff != "" {
		r.t.Errorf("calls while the budget stays exceeded (-want +got):\n%s", diff)
	}

	limit("1000")
	r.reconcile()
	r.audit.Wants(r.t, "once the budget has recovered", "RunInstances "+strings.Join(r.own(), " ")+" ok")
	r.fleet.ready(r.t, 2)
	r.runs(2)
	r.reconcile()
	marks := r.audit.Taken()
	if len(marks) != 2 {
		r.t.Errorf("calls once they have joined: %v", marks)
	}
	r.left(r.own()...)
}
