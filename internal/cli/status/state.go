package status

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// rank is how far up something is shown: the worst first.
type rank int

// The ranks.
const (
	failing rank = iota // it can't be seen to
	lacking             // of instances, or of hours
	noticed             // someone may want to know
	moving              // it is on its way
	calm                // as declared
)

// state is how a pool or a budget stands, in a word or two.
type state struct {
	rank   rank
	word   string
	colour terminal.Colour
}

func (s state) text(style terminal.Style) string { return style.Paint(s.colour, s.word) }

func poolState(p spotpools.Description) state {
	launching := func(m decide.Member) bool { return m.Condition == decide.Launching }
	switch {
	case p.Failing != nil:
		return state{failing, "failing", terminal.Red}
	case p.Outcome == outcome.Failed && p.Nodes != nil && !p.Nodes.Seen:
		return state{failing, "nodes unseen", terminal.Red}
	case p.Outcome == outcome.Failed:
		return state{failing, "not seen", terminal.Red}
	case p.Phase != declaration.Active && p.Phase != "":
		return state{moving, string(p.Phase), terminal.Cyan}
	case p.Hold != nil:
		return state{noticed, "on hold", terminal.Yellow}
	case p.Shortfall > 0:
		return state{lacking, "short", terminal.Yellow}
	case p.Nodes != nil && p.Nodes.ReplacingSuspended != "":
		return state{noticed, "nodes failing", terminal.Yellow}
	case len(p.Decisions) > 0 && !slices.ContainsFunc(p.Decisions, otherThanDrain):
		return state{moving, "draining", terminal.Cyan}
	case len(p.Decisions) > 0:
		return state{moving, "to change", terminal.Cyan}
	case slices.ContainsFunc(p.Machines, launching):
		return state{moving, "launching", terminal.Cyan}
	case describe.AboveMaximum(p.Report):
		return state{noticed, "above maximum", terminal.Yellow}
	case p.Nodes != nil && p.Nodes.Seen && p.Nodes.Joining > 0:
		return state{moving, "joining", terminal.Cyan}
	}
	return state{calm, "as declared", terminal.Green}
}

func otherThanDrain(d spotpool.Decision) bool { return d.Kind != spotpool.KindDrain }

func budgetState(b budgets.Description) state {
	exceeded := reconcile.Exceeded(b)
	word := describe.BudgetState(terminal.Style{}, b.Report)
	switch {
	case b.Failing != nil && exceeded:
		return state{failing, "failing, " + word, terminal.Red}
	case b.Failing != nil:
		return state{failing, "failing", terminal.Red}
	case b.Phase == declaration.Deleting:
		return state{moving, "deleting", terminal.Cyan}
	case b.UsageReport == nil && b.Outcome == outcome.Skipped:
		return state{moving, "not judged yet", terminal.Dim}
	case b.Outcome == outcome.Failed:
		return state{failing, word, terminal.Red}
	case exceeded:
		return state{lacking, word, terminal.Red}
	case len(describe.Measures(b.Report)) > 0 || len(b.Fired) > 0:
		return state{noticed, word, terminal.Yellow}
	}
	return state{calm, word, terminal.Green}
}

// entry is one row of a table, with what else there is to say about it.
type entry struct {
	state
	object  string
	title   string // of its details
	name    string
	numbers func(terminal.Style) []string
	lines   []string // its details
}

// worstFirst brings entries into the order in which they are shown.
func worstFirst(entries []entry) {
	slices.SortStableFunc(entries, func(a, b entry) int {
		if a.rank != b.rank {
			return int(a.rank) - int(b.rank)
		}
		return strings.Compare(a.name, b.name)
	})
}

// How many rows there may be, unless they are asked for by name: beside trouble, and
// without any. Beyond that, what is as declared is only counted; and where even then
// there are too many, so are those of a state but the first few.
const (
	rowsBesideTrouble = 10
	rowsAtMost        = 20
	rowsOfState       = 3
)

// rows chooses the entries that a table lists, of all that are shown. Of the others it
// says how many are how.
func rows(entries, all []entry) (listed []entry, left map[string]int) {
	trouble := 0
	for _, e := range all {
		if e.rank < moving {
			trouble++
		}
	}
	left = map[string]int{}
	hide := len(entries) > rowsAtMost || trouble > 0 && len(all) > rowsBesideTrouble
	of := map[string]int{}
	for _, e := range entries {
		of[e.word]++
		if hide && (e.rank == calm || trouble > rowsBesideTrouble && of[e.word] > rowsOfState) {
			left[e.word]++
			continue
		}
		listed = append(listed, e)
	}
	return listed, left
}
