package status

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// view is the state of an object as a row shows it.
type view struct {
	rank  state.Rank
	word  string
	color terminal.Color
}

func (v view) text(style terminal.Style) string { return style.Paint(v.color, v.word) }

// viewOf is the view of an object: the worst of its states counts.
func viewOf(states ...state.State) view {
	return view{state.Worst(states), state.Join(states), describe.StateColor(states[0])}
}

// entry is one row of a table, with its details.
type entry struct {
	view
	object  string
	title   string // of its details
	name    string
	numbers func(terminal.Style) []string
	lines   []string // details
	failures
}

// worstFirst sorts entries.
func worstFirst(entries []entry) {
	slices.SortStableFunc(entries, func(a, b entry) int {
		if a.rank != b.rank {
			return int(a.rank) - int(b.rank)
		}
		return strings.Compare(a.name, b.name)
	})
}

// The most rows of a table without names as arguments, with and without problems. Above
// that, objects in sync are only counted. If there are still too many, so are all but the
// first few of each state.
const (
	rowsBesideTrouble = 10
	rowsAtMost        = 20
	rowsOfState       = 3
)

// rows selects the entries that a table lists, and counts the others by state.
func rows(entries, all []entry) (listed []entry, left map[string]int) {
	trouble := 0
	for _, e := range all {
		if e.rank < state.Moving {
			trouble++
		}
	}
	left = map[string]int{}
	hide := len(entries) > rowsAtMost || trouble > 0 && len(all) > rowsBesideTrouble
	of := map[string]int{}
	for _, e := range entries {
		of[e.word]++
		if hide && (e.rank == state.Calm || trouble > rowsBesideTrouble && of[e.word] > rowsOfState) {
			left[e.word]++
			continue
		}
		listed = append(listed, e)
	}
	return listed, left
}
