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
	seen := func(n int) string {
		if !p.Observed {
			return "-"
		}
		return strconv.Itoa(n)
	}
	return []string{StockName(p), seen(p.Desired), seen(p.Available), seen(p.Allocated), seen(p.Replicas)}
}

// Conditions adds the conditions of a stock pool that are not met, except Synced.
func (d *Details) Conditions(p stockpools.Report) {
	for _, c := range p.Conditions {
		if c.Status == "True" || c.Type == decide.Synced {
			continue
		}
		text := c.Message
		if text == "" || c.Type == decide.Started {
			text = c.Reason + " " + c.Message
		}
		if p.Observed && c.Reason != "NoDeployment" {
			d.Add(terminal.Yellow, conditionLabels[c.Type], text)
		}
	}
}

// conditionLabels are the labels of conditions that are not met.
var conditionLabels = map[string]string{
	decide.WithinBudget: "blocked: ", decide.Scheduled: "unschedulable: ", decide.Started: "not started: ", decide.RolledOut: "rollout: ",
	decide.Stocked: "short: ",
}
