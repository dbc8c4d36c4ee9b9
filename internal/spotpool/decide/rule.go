package decide

import (
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// Rule decides one thing about a pool, by what was observed and what the rules before it
// decided. It changes neither: it returns the tally with its own decisions counted, and
// what it adds to the plan.
type Rule func(View, Tally) (Tally, Result)

// rules are those of a plan, in their order. A pool on hold still has nodes uncordoned
// and tokens ended: nothing ends then.
func (v View) rules() []Rule {
	about := []Rule{markNodes, announceDrain, letDoomedLeave, resume, replaceFailed, trim, endDoomed, topUp, drainDoomed, endReplaced, replace, endSurplus}
	if v.Hold != nil {
		about = []Rule{markNodes, holdStill}
	}
	return append(about, uncordon, forgetDrains, deleteNodes, endTokens, warn)
}

// Result is what a rule adds to a plan.
type Result struct {
	// Decisions stand in the order in which they are to be carried out. A
	// launch never counts on the room that a termination of the same plan makes.
	Decisions []spotpool.Decision
	// Messages say what became of instances since the journal was written.
	Messages []string
	// Short says why the pool stays below its minimum, or why its outdated instances
	// stay, after these decisions: all of it.
	Short spotpool.Reasons
	// Warnings are for a person to check, and stop nothing.
	Warnings []string
	// Replacing are the instances whose replacement is decided.
	Replacing []string
	// Unmarked are nodes of members that do not bear the pool's mark yet.
	Unmarked []node.Node
	// Marked are nodes that bear the mark of a pool that gave its nodes up.
	Marked []node.Node
	// StillCordoned are nodes that the run tried to make usable again, and could not.
	StillCordoned []string
	// NodesLeft are the pool's nodes whose instances are gone, as far as was seen.
	NodesLeft []string
	// NodesInUse are those of NodesLeft that another machine uses by now.
	NodesInUse []string
	// TokensLeft are the bootstrap tokens whose Secrets may be there, unless the pool gave
	// its nodes up and their cluster was not seen.
	TokensLeft []string
	// Notes are what the journal is to record; a plan has none, since its journal does.
	Notes []func(journal.Journal) journal.Journal
}

// add adds what came after. A launch that was decided already has its larger count from
// then on, and a reason that was given already is not repeated.
func (r *Result) add(later Result) {
	for _, d := range later.Decisions {
		same := -1
		if d.Kind == spotpool.KindLaunch {
			same = slices.IndexFunc(r.Decisions, func(other spotpool.Decision) bool {
				return other.Kind == spotpool.KindLaunch && other.Sequence == d.Sequence
			})
		}
		if same >= 0 {
			r.Decisions[same] = d
			continue
		}
		r.Decisions = append(r.Decisions, d)
	}
	for _, reason := range later.Short {
		r.because(reason)
	}
	r.Messages, r.Warnings = append(r.Messages, later.Messages...), append(r.Warnings, later.Warnings...)
	r.Replacing = append(r.Replacing, later.Replacing...)
	r.Unmarked, r.Marked = append(r.Unmarked, later.Unmarked...), append(r.Marked, later.Marked...)
	r.StillCordoned = append(r.StillCordoned, later.StillCordoned...)
	r.NodesLeft, r.NodesInUse = append(r.NodesLeft, later.NodesLeft...), append(r.NodesInUse, later.NodesInUse...)
	r.TokensLeft = append(r.TokensLeft, later.TokensLeft...)
	r.Notes = append(r.Notes, later.Notes...)
}

// because adds a reason why the pool stays as it is, unless it was given before.
func (r *Result) because(reason spotpool.Reason) {
	if !r.gave(reason.String()) {
		r.Short = append(r.Short, reason)
	}
}

// gave reports whether a text is a reason already.
func (r *Result) gave(text string) bool {
	return slices.ContainsFunc(r.Short, func(other spotpool.Reason) bool { return other.String() == text })
}

// shortf adds a reason that is the whole pool's.
func (r *Result) shortf(code spotpool.Code, format string, args ...any) {
	r.because(spotpool.Reason{Code: code, Text: fmt.Sprintf(format, args...)})
}

func (r *Result) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
