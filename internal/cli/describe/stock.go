package describe

import (
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// StockColumns are the columns of tables of stock pools, but for what became of them.
func StockColumns() []string {
	return []string{"STOCK POOL", "DESIRED", "AVAILABLE", "ALLOCATED", "PODS"}
}

// StockName is what people call a stock pool.
func StockName(p stockpools.Report) string { return p.Namespace + "/" + p.Name }

// StockCells are a stock pool's cells of these columns.
func StockCells(p stockpools.Report) []string {
	seen := func(n int) string {
		if !p.Observed {
			return "-"
		}
		return strconv.Itoa(n)
	}
	return []string{StockName(p), seen(p.Desired), seen(p.Available), seen(p.Allocated), seen(p.Replicas)}
}

// Conditions says what of a stock pool is not as it should be, and why. That it is not
// as declared, decisions and errors say.
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

// conditionLabels are what a condition that is not so is called.
var conditionLabels = map[string]string{
	decide.WithinBudget: "held back: ", decide.Scheduled: "no room: ", decide.Started: "not started: ", decide.RolledOut: "rollout: ",
	decide.Stocked: "short: ",
}
