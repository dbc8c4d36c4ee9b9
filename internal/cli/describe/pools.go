package describe

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// PoolName is what people call a pool.
func PoolName(p reconcile.PoolReport) string { return p.Region + "/" + p.Name }

// Seen is a number that was seen of a pool, or a dash where the pool was not.
func Seen(p reconcile.PoolReport, n int) string {
	if !p.Observed {
		return "-"
	}
	return fmt.Sprint(n)
}

// Declared is a number that is declared of a pool, or a dash where its record can't
// be read.
func Declared(p reconcile.PoolReport, n int) string {
	if p.UID == "" {
		return "-"
	}
	return fmt.Sprint(n)
}

// AboveMaximum reports whether a pool holds more than it may: what is protected,
// or can't be ended, is not trimmed.
func AboveMaximum(p reconcile.PoolReport) bool { return p.Observed && p.Held > p.Maximum }

// OutcomeColour is the colour of what became of a decision, a pool or a budget.
func OutcomeColour(o reconcile.Outcome) terminal.Colour {
	switch o {
	case reconcile.Done:
		return terminal.Green
	case reconcile.Planned:
		return terminal.Cyan
	case reconcile.Short:
		return terminal.Yellow
	case reconcile.Failed:
		return terminal.Red
	}
	return terminal.Dim
}
