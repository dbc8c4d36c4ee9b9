package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// reach is which pods of a situation count against the budget, and which of those
// enforcement may touch.
type reach struct {
	Situation
	matcher *budget.Matcher // nil if the selector is not valid
	invalid error           // why it is not
}

// touchable are the pods of the budget that hold GPUs or wait for some, and that
// enforcement may touch.
func (f *reach) touchable() []budget.Pod {
	withGPUs, _ := f.withGPUs()
	waiting, _ := f.waiting()
	return slices.Concat(withGPUs, waiting, f.lingering())
}

// lingering are the pods of the budget that somebody deleted and that hold GPUs for longer
// than pods may take to end, protected or not: nothing is paused while one is there.
func (f *reach) lingering() []budget.Pod {
	return slices.DeleteFunc(slices.Clone(f.Pods), func(p budget.Pod) bool {
		return p.Deletion == 0 || f.leaves(p) || p.Waits() || !p.End.Open() || p.MilliGPUs <= 0 || !f.selects(countedBy(p))
	})
}

// leaves says whether a pod that is being deleted is about to be gone: within the budget's
// max_grace_period, and not overdue.
func (f *reach) leaves(p budget.Pod) bool {
	left := p.Deletion.Time().Sub(f.Now)
	return left <= f.Declaration.Enforce.LongestGrace() && left > -budget.EndSlack
}

// withGPUs are the pods that count against the budget now and that nobody deletes, and those
// of them that are protected, with the reasons.
func (f *reach) withGPUs() (open []budget.Pod, spared []string) {
	return f.covered(func(p budget.Pod) bool { return !p.Waits() && p.Deletion == 0 })
}

// victims are the pods that count against the budget now and may be touched. A result
// warns of those that are protected from what is to be done.
func (f *reach) victims(r *result, from string) []budget.Pod {
	open, spared := f.withGPUs()
	if n := len(spared); n > 0 {
		r.warnf("%d %s protected from %s, and still %s: %s", n, wording.Plural(n, "pod is", "pods are"), from, wording.Plural(n, "counts", "count"),
			wording.Some(spared))
	}
	return open
}

// covered are those pods of the budget among some that hold GPUs or wait for them,
// and those of them that are protected, with the reasons.
func (f *reach) covered(among func(budget.Pod) bool) (open []budget.Pod, spared []string) {
	for _, p := range f.Pods {
		why := "it is its node's own"
		switch {
		case !among(p) || !p.End.Open() || p.MilliGPUs <= 0 || !f.selects(countedBy(p)):
			continue
		case !p.Mirror:
			why = f.spares(p)
		}
		if why == "" {
			open = append(open, p)
		} else {
			spared = append(spared, fmt.Sprintf("%s (%s)", p, why))
		}
	}
	slices.Sort(spared)
	return open, spared
}

// sparing are the protected pods whose workloads are not paused.
func (f *reach) sparing() []budget.Pod {
	return slices.DeleteFunc(slices.Clone(f.Pods), func(p budget.Pod) bool { return !p.End.Open() || p.Owner == nil || f.spares(p) == "" })
}

// spares says why enforcement leaves a pod alone; empty if it does not.
func (f *reach) spares(p budget.Pod) string {
	return f.Declaration.Spares(p, f.StoreNamespace, f.PriorityClasses)
}

// selects reports whether the budget's selector takes pods that are told apart so.
func (f *reach) selects(set *ledger.LabelSet) bool {
	return f.matcher != nil && set != nil && f.matcher.Matches(set)
}

// countedBy is what the budget counts a pod by.
func countedBy(p budget.Pod) *ledger.LabelSet {
	if p.Charged != nil {
		return p.Charged
	}
	return p.Set
}

// byName orders pods by their namespaces and names.
func byName(a, b budget.Pod) int {
	return cmp.Or(strings.Compare(a.String(), b.String()), strings.Compare(a.UID, b.UID))
}
