package describe

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// PoolName is the name of a pool with its region.
func PoolName(p spotpools.Report) string { return p.Region + "/" + p.Name }

// Observed are the observed numbers of a pool; dashes if the pool was not observed.
func Observed(p spotpools.Report) (capacity, total, drifted string) {
	if p.Counts == nil {
		return "-", "-", "-"
	}
	return fmt.Sprint(p.Capacity), fmt.Sprint(p.Total), fmt.Sprint(p.Drifted)
}

// Declared is a declared number of a pool; a dash if its record is unreadable.
func Declared(p spotpools.Report, n int) string {
	if p.UID == "" {
		return "-"
	}
	return fmt.Sprint(n)
}

// Short is why a pool stays short, in brief.
func Short(p spotpools.Report) []string {
	lines := slices.Clone(p.Short)
	if last := len(lines) - 1; last >= 0 && len(p.ShortReasons) > len(lines) {
		lines[last] += " (gpupool explain " + PoolName(p) + " lists each)"
	}
	return lines
}

// ShortLabel is the label of Short. A pool with only a surplus is not short.
func ShortLabel(p spotpools.Report) string {
	other := func(r spotpool.Reason) bool { return r.Code != spotpool.BecauseSurplus }
	if len(p.ShortReasons) > 0 && !slices.ContainsFunc(p.ShortReasons, other) {
		return "surplus: "
	}
	return "short: "
}

// OutcomeColor is the color of an outcome.
func OutcomeColor(o outcome.Outcome) terminal.Color {
	switch o {
	case outcome.Done:
		return terminal.Green
	case outcome.Planned:
		return terminal.Cyan
	case outcome.Short:
		return terminal.Yellow
	case outcome.Failed:
		return terminal.Red
	}
	return terminal.Dim
}

// StateColor is the color of a state: red if it needs action, yellow if it may.
func StateColor(s state.State) terminal.Color {
	switch s {
	case state.InSync, state.WithinLimit, state.Changed:
		return terminal.Green
	case state.OutOfSync, state.Progressing, state.Draining, state.Creating, state.Deleting:
		return terminal.Cyan
	case state.Failing, state.Exceeded, state.Degraded, state.Ineffective:
		return terminal.Red
	case state.Skipped, state.Deleted:
		return terminal.Dim
	}
	return terminal.Yellow
}
