package describe

import (
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// StockColumns are the titles of StockCells.
func StockColumns() []string {
	return []string{"STOCK POOL", "DESIRED", "AVAILABLE", "ALLOCATED", "PODS"}
}

// StockName is the name of a stock pool with its namespace.
func StockName(p stockpools.Report) string { return p.Namespace + "/" + p.Name }

// StockCells are the numbers of a stock pool.
func StockCells(p stockpools.Report) []string {
	if p.Status == nil {
		return []string{StockName(p), "-", "-", "-", "-"}
	}
	return []string{StockName(p), strconv.Itoa(p.Desired), strconv.Itoa(p.Available), strconv.Itoa(p.Allocated), strconv.Itoa(p.Replicas)}
}

// Conditions adds the conditions of a stock pool that are not met, except Synced.
func (d *Details) Conditions(p stockpools.Report) {
	if p.Status == nil {
		return
	}
	for _, c := range p.Conditions {
		if c.Status == "True" || c.Type == decide.Synced {
			continue
		}
		text := c.Text()
		if text == "" {
			text = c.Reason
		}
		if c.Reason != "NoDeployment" {
			d.Add(terminal.Yellow, conditionLabels[c.Type], text)
		}
	}
}

// conditionLabels are the labels of conditions that are not met.
var conditionLabels = map[string]string{
	decide.WithinBudget: "blocked: ", decide.Scheduled: "unschedulable: ", decide.Started: "not started: ", decide.RolledOut: "rollout: ",
	decide.Stocked: "short: ",
}
