package decide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// reach decides which pods count against the budget, and which of them enforcement may change.
type reach struct {
	Situation
	matcher *budget.Matcher // nil if the selector is not valid
	invalid error           // why it is not
}

// touchable returns the pods that hold GPUs or wait for some, and that enforcement may change.
func (f *reach) touchable() []budget.Pod {
	withGPUs, _ := f.withGPUs()
	waiting, _ := f.waiting()
	_, lingering := f.terminating()
	return slices.Concat(withGPUs, waiting, lingering)
}

// terminating returns the deleted pods that hold GPUs, protected or not: those about to be gone, and those that hold them
// for longer than max_grace_period. A workload with one of the latter is not paused.
func (f *reach) terminating() (leaving, lingering []budget.Pod) {
	for _, p := range f.Pods {
		switch {
		case p.Deletion == 0 || p.Waits() || !p.End.Open() || p.MilliGPUs <= 0 || !f.enforcedOn(p):
		case f.leaves(p):
			leaving = append(leaving, p)
		default:
			lingering = append(lingering, p)
		}
	}
	return leaving, lingering
}

// leaves reports whether a terminating pod is about to be gone: within the budget's max_grace_period,
// and not overdue.
func (f *reach) leaves(p budget.Pod) bool {
	left := p.Deletion.Time().Sub(f.Now)
	return left <= f.Declaration.Enforce.LongestGrace() && left > -budget.EndSlack
}

// withGPUs returns the pods that count now and are not being deleted, and the protected ones with the
// reasons.
func (f *reach) withGPUs() (open []budget.Pod, spared []reason.Item) {
	return f.covered(func(p budget.Pod) bool { return !p.Waits() && p.Deletion == 0 })
}

// victims returns the pods that count now and may be changed. It warns of the protected ones.
func (f *reach) victims(r *result, from reason.Word) []budget.Pod {
	open, spared := f.withGPUs()
	if n := len(spared); n > 0 {
		r.warn(reason.ProtectedFrom(reason.Count(n), from, sorted(spared)))
	}
	return open
}

// covered returns the budget's pods among some that hold GPUs or wait for them, and the protected
// ones with the reasons.
func (f *reach) covered(among func(budget.Pod) bool) (open []budget.Pod, spared []reason.Item) {
	for _, p := range f.Pods {
		why := reason.StaticPod()
		switch {
		case !among(p) || !p.End.Open() || p.MilliGPUs <= 0 || !f.enforcedOn(p):
			continue
		case !p.Mirror:
			why = f.spares(p)
		}
		if why.IsZero() {
			open = append(open, p)
		} else {
			spared = append(spared, item(p, why))
		}
	}
	return open, spared
}

// sparing returns the protected pods: their workloads are not paused.
func (f *reach) sparing() []budget.Pod {
	return slices.DeleteFunc(slices.Clone(f.Pods), func(p budget.Pod) bool { return !p.End.Open() || p.Owner == nil || f.spares(p).IsZero() })
}

// spares returns why enforcement skips a pod; zero if it does not.
func (f *reach) spares(p budget.Pod) reason.Reason {
	return f.Declaration.Spares(p, f.StoreNamespace, f.PriorityClasses)
}

// selects reports whether the budget's selector matches a label set.
func (f *reach) selects(set *ledger.LabelSet) bool {
	return f.matcher != nil && set != nil && f.matcher.Matches(set)
}

// enforcedOn reports whether the selector matches a pod as it is counted, and still matches its namespace. Its
// own labels of now make no difference: a tenant can change these.
func (f *reach) enforcedOn(p budget.Pod) bool {
	counted := countedLabels(p)
	if !f.selects(counted) {
		return false
	}
	return p.Set == nil || f.selects(&ledger.LabelSet{Namespace: counted.Namespace, Labels: counted.Labels, NamespaceLabels: p.Set.NamespaceLabels})
}

// countedLabels returns the labels by which the budget counts a pod.
func countedLabels(p budget.Pod) *ledger.LabelSet {
	if p.Charged != nil {
		return p.Charged
	}
	return p.Set
}

func byName(a, b budget.Pod) int {
	return cmp.Or(strings.Compare(a.String(), b.String()), strings.Compare(a.UID, b.UID))
}
