package budgets

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Doubt is a warning that a declaration needs something that its cluster does not have.
type Doubt struct {
	Block, Argument string // of the declaration
	Why             reason.Reason
}

// surroundings is what a cluster has of that. Nil is not observed.
type surroundings struct {
	namespaces map[string]map[string]string // labels, by name
	classes    map[string]int32             // values of priority classes, by name
	freeze     error                        // why a freeze would fail; nil if nothing is known to stop it
}

// doubts compares a declaration with its cluster.
func (s surroundings) doubts(d budget.Declaration) []Doubt {
	list := missing(Doubt{Block: "selector", Argument: "namespaces"}, "selector", "namespace", d.Selector.Namespaces, s.namespaces)
	e := d.Enforce
	if e.Action == budget.AlertOnly {
		return list
	}
	list = append(list, missing(Doubt{Block: "enforcement", Argument: "protected_namespaces"}, "protected_namespaces", "namespace",
		e.ProtectedNamespaces, s.namespaces)...)
	if e.ProtectedPriorityClass != "" && e.Action != budget.Freeze {
		list = append(list, missing(Doubt{Block: "enforcement", Argument: "protected_priority_class"}, "protected_priority_class", "priority class",
			[]string{e.ProtectedPriorityClass}, s.classes)...)
	}
	if s.freeze != nil && freezes(e) {
		list = append(list, Doubt{"enforcement", "action", reason.FreezeWouldFail(reason.Failure(s.freeze))})
	}
	return list
}

// missing returns a doubt for each name that is not in the cluster, with a suggestion. If none are there,
// they were not observed.
func missing[V any](of Doubt, argument, kind reason.Word, names []string, there map[string]V) (doubts []Doubt) {
	if len(there) == 0 {
		return nil
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if _, exists := there[name]; exists {
			continue
		}
		of.Why = reason.NotInCluster(argument, kind, reason.Word(name))
		if nearest := wording.Nearest(name, slices.Collect(maps.Keys(there))); nearest != "" {
			of.Why = reason.NotInClusterNearest(argument, kind, reason.Word(name), reason.Word(nearest))
		}
		doubts = append(doubts, of)
	}
	return doubts
}

// freezes reports whether the action blocks new pods. A pause does so if evictions follow it.
func freezes(e budget.Enforcement) bool {
	return e.Action == budget.Freeze || e.Action == budget.Evict || e.Action == budget.Pause && e.OnIneffective == budget.FallbackEvict
}

// Doubts returns what a declaration needs that its cluster does not have. What the account may not read is in
// no doubt: runs warn.
func (f *Flow) Doubts(ctx context.Context, d budget.Declaration) ([]Doubt, error) {
	c, _, err := f.cluster(ctx)
	if err != nil {
		return nil, err
	}
	var s surroundings
	var notRead [2]error
	s.namespaces, notRead[0] = c.Namespaces(ctx)
	s.classes, notRead[1] = c.PriorityClasses(ctx)
	if policy := c.FreezePolicy(ctx); !pauses.Forbidden(policy) {
		s.freeze = policy
	}
	return s.doubts(d), errors.Join(notRead[:]...)
}
