package decide

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// Rule decides one thing about a pool, from the view and the decisions of earlier rules. It
// returns the tally with its own decisions counted, and what it adds to the plan.
type Rule func(View, Tally) (Tally, Result)

// rules returns those of a plan, in their order. On hold, nodes are still uncordoned and
// tokens deleted, since that terminates nothing.
func (v View) rules() []Rule {
	list := []Rule{
		markNodes, announceDrain, countReclaims, retryLaunches, replaceFailed, trim, endInterrupted, topUp, drainInterrupted, endReplaced, replace,
		endSurplus,
	}
	if v.Hold != nil {
		list = []Rule{markNodes, reportHold}
	}
	return append(list, uncordon, forgetDrains, deleteNodes, deleteTokens, warn)
}

// Result is the part of a plan that a rule adds.
type Result struct {
	// Decisions are in the order in which they must be carried out. A launch never uses the
	// room that a termination of the same plan makes.
	Decisions []spotpool.Decision
	// Messages say what happened to instances since the journal was written.
	Messages reason.Reasons
	// Short says why the pool stays below its minimum, or why its drifted instances stay,
	// after these decisions.
	Short spotpool.Reasons
	// Warnings are for an operator to check, and stop nothing.
	Warnings reason.Reasons
	// Replacing are the instances whose replacement is decided.
	Replacing []string
	// Unmarked are nodes of members without the pool's mark.
	Unmarked []node.Node
	// Marked are nodes with the mark of a pool that no longer has nodes.
	Marked []node.Node
	// StillCordoned are nodes that the run could not uncordon.
	StillCordoned []string
	// NodesLeft are the pool's nodes whose instances are gone, and which are deleted once
	// that is confirmed. NodesInUse are those that are not.
	NodesLeft  []string
	NodesInUse []NodeInUse
	// TokensLeft are the bootstrap tokens whose Secrets may exist, unless the pool no longer
	// has nodes and their cluster was not observed.
	TokensLeft []string
	// Notes change the journal; a plan has none, since its journal is changed already.
	Notes []func(journal.Journal) journal.Journal
}

// add adds a later result. A launch of both gets the later, larger count, and a reason of
// both is not repeated.
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
	for _, because := range later.Short {
		r.because(because)
	}
	r.Messages, r.Warnings = append(r.Messages, later.Messages...), append(r.Warnings, later.Warnings...)
	r.Replacing = append(r.Replacing, later.Replacing...)
	r.Unmarked, r.Marked = append(r.Unmarked, later.Unmarked...), append(r.Marked, later.Marked...)
	r.StillCordoned = append(r.StillCordoned, later.StillCordoned...)
	r.NodesLeft, r.NodesInUse = append(r.NodesLeft, later.NodesLeft...), append(r.NodesInUse, later.NodesInUse...)
	r.TokensLeft = append(r.TokensLeft, later.TokensLeft...)
	r.Notes = append(r.Notes, later.Notes...)
}

// because adds a reason why the pool stays as it is, unless it exists.
func (r *Result) because(of spotpool.Reason) {
	if !slices.ContainsFunc(r.Short, of.Same) {
		r.Short = append(r.Short, of)
	}
}

// short adds a reason about the whole pool.
func (r *Result) short(code spotpool.Code, why reason.Reason) {
	r.because(spotpool.Reason{Code: code, Why: why})
}

func (r *Result) warn(why reason.Reason) { r.Warnings = append(r.Warnings, why) }
