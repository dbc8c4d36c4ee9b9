package accounting

import (
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// takeProblems reports the problems of pods, and keeps those of pods that run for the next runs: a replay shows only pods
// that changed.
func (b *Books) takeProblems() {
	o, h := b.Observation, &b.documents.ledger.Header
	var list []ledger.PodProblem
	shown := map[string]bool{}
	for _, p := range slices.Concat(o.Pods, o.Replay.Ended) {
		for _, why := range p.Problems {
			problem := ledger.PodProblem{UID: p.UID, Namespace: p.Namespace, Name: p.Name, Why: why}
			if !shown[p.UID] && b.doubts.add(p.Namespace, podProblem(problem)) && p.End.Open() {
				list = append(list, problem)
			}
		}
		shown[p.UID] = true
	}
	for _, known := range h.Problems {
		if !o.Listed && !shown[known.UID] && b.doubts.add(known.Namespace, podProblem(known)) {
			list = append(list, known)
		}
	}
	h.Problems = list
}

func podProblem(p ledger.PodProblem) reason.Reason {
	return reason.PodProblem(reason.Workload("Pod "+p.Namespace+"/"+p.Name), p.Why)
}

// ProblemsOf returns the problems of pods that a budget selects. Of a pod without a record, only the namespace is known.
func (b *Books) ProblemsOf(d budget.Declaration) (list reason.Reasons) {
	if len(b.Ledger().Header.Problems) == 0 {
		return nil
	}
	m, err := d.Selector.Matcher()
	if err != nil {
		return nil
	}
	for _, p := range b.Ledger().Header.Problems {
		set := &ledger.LabelSet{Namespace: p.Namespace, NamespaceLabels: ledger.LabelsOf(b.Observation.Namespaces[p.Namespace])}
		if r, known := b.Ledger().Get(p.UID); known {
			set = r.Set
		} else if bound, known := b.Ledger().Binding(p.UID); known {
			set = bound.Set
		}
		if m.Matches(set) {
			list = append(list, podProblem(p))
		}
	}
	return list
}

// WarningsBesides returns the warnings, without those that one of these budgets has.
func (b *Books) WarningsBesides(judged []budget.Declaration) reason.Reasons {
	var theirs reason.Reasons
	for _, d := range judged {
		theirs = append(theirs, b.ProblemsOf(d)...)
	}
	return slices.DeleteFunc(slices.Clone(b.Warnings), func(r reason.Reason) bool { return slices.ContainsFunc(theirs, r.Same) })
}
