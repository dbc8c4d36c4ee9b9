package meter

import (
	"cmp"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// account is what the pods of one budget used.
type account struct {
	name   string
	limit  int64
	falls  []budget.LimitFall
	meter  *Meter
	result *Result
	sets   []*labelSet // that it selects

	total       tally
	active      map[int32]int // pods by the number of their rate
	byNamespace map[string]int64
	byLabel     map[string]map[string]int64
}

// tally is what some pods used together.
type tally struct {
	amounts
	pods int
}

func (t *tally) add(a amounts, pods int) {
	t.consumed = plus(t.consumed, a.consumed)
	t.estimated = plus(t.estimated, a.estimated)
	t.bound = plus(t.bound, a.bound)
	t.unconfirmed = plus(t.unconfirmed, a.unconfirmed)
	t.pods += pods
}

// byRules orders accounts so that those with the same rules stand side by side, the
// one whose window is the longest first.
func byRules(a, b *account) int {
	return cmp.Or(cmp.Compare(a.meter.rules.id, b.meter.rules.id), cmp.Compare(a.meter.begin, b.meter.begin))
}

// add takes up what the pods of a label set used.
func (a *account) add(s *labelSet, used tally) {
	a.total.add(used.amounts, used.pods)
	a.byNamespace[s.Namespace] = plus(a.byNamespace[s.Namespace], used.consumed)
	for key, amounts := range a.byLabel {
		value := s.Labels.Get(key) // pods without the label are under ""
		amounts[value] = plus(amounts[value], used.consumed)
	}
}

// overlaps names the other budgets that count pods of the same label sets.
func (a *account) overlaps() []string {
	others := map[*account]bool{}
	for _, s := range a.sets {
		if !s.used {
			continue
		}
		for _, other := range s.accounts {
			others[other] = true
		}
	}
	var names []string
	for other := range others {
		if other.name != a.name {
			names = append(names, other.name)
		}
	}
	slices.Sort(names)
	return names
}

// MaxBreakdown is how many entries a breakdown has at most: where there are more, the
// smaller ones are summed up under budget.Others.
const MaxBreakdown = 200

// largest keeps the largest entries of a breakdown, and sums up the rest.
func largest(amounts map[string]int64) map[string]int64 {
	if len(amounts) <= MaxBreakdown {
		return amounts
	}
	kept := make(map[string]int64, MaxBreakdown)
	for n, key := range budget.LargestFirst(amounts) {
		if n < MaxBreakdown-1 {
			kept[key] = amounts[key]
		} else {
			kept[budget.Others] = plus(kept[budget.Others], amounts[key])
		}
	}
	return kept
}
