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

// PoolName is what people call a pool.
func PoolName(p spotpools.Report) string { return p.Region + "/" + p.Name }

// Seen is a number that was observed of a pool; a dash where the pool could not be
// looked at.
func Seen(p spotpools.Report, n int) string {
	if !p.Observed {
		return "-"
	}
	return fmt.Sprint(n)
}

// Declared is a number of a pool's declaration; a dash where its record can't be
// read.
func Declared(p spotpools.Report, n int) string {
	if p.UID == "" {
		return "-"
	}
	return fmt.Sprint(n)
}

// Short is why a pool stays as it is, in brief, and where the rest is told.
func Short(p spotpools.Report) []string {
	lines := slices.Clone(p.Short)
	if last := len(lines) - 1; last >= 0 && len(p.ShortReasons) > len(lines) {
		lines[last] += " (gpupool explain NAME tells of each)"
	}
	return lines
}

// ShortLabel is the label of what Short returns: nothing is short of a pool that only has a
// surplus.
func ShortLabel(p spotpools.Report) string {
	other := func(r spotpool.Reason) bool { return r.Code != spotpool.BecauseSurplus }
	if len(p.ShortReasons) > 0 && !slices.ContainsFunc(p.ShortReasons, other) {
		return "surplus: "
	}
	return "short: "
}

// OutcomeColour is the colour of what became of a decision, a pool or a budget.
func OutcomeColour(o outcome.Outcome) terminal.Colour {
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

// StateColor is the color of a state: red if someone has to act, yellow if someone may want
// to know.
func StateColor(s state.State) terminal.Colour {
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

// NoNulls makes JSON print an empty list of a pool's status as [], not as null.
func NoNulls(p *spotpools.Description) {
	OrEmpty(&p.Decisions)
	OrEmpty(&p.Machines)
	OrEmpty(&p.Cooldowns)
}

// OrEmpty makes a list that is nil an empty one.
func OrEmpty[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
