package budget

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Spares says why enforcement leaves a pod alone; empty if it does not. Classes are the
// values of the cluster's priority classes.
func (d Declaration) Spares(p Pod, storeNamespace string, classes map[string]int32) string {
	return Situation{Declaration: d, StoreNamespace: storeNamespace, PriorityClasses: classes}.protection(p)
}

// Stops says whether the budget wants a workload stopped now that heeds it by itself, as
// stock pools do, by a status that is to be relied on: set is what its pods are told
// apart by, which have no priority class. What the budget would leave alone is not to
// stop.
func (d Declaration) Stops(s Status, set *ledger.LabelSet, storeNamespace string, now time.Time) bool {
	switch {
	case d.Enforce.Action != Pause, !s.Usage.Exceeded(), s.Unknown != nil, s.Withheld != "":
		return false
	case s.EnforceAt == nil || now.Before(*s.EnforceAt) && s.At.Before(*s.EnforceAt):
		return false // what was due as it was judged is due, though the clock read now is rounded down
	}
	d.Enforce.ProtectedPriorityClass = ""
	situation := Situation{Declaration: d, StoreNamespace: storeNamespace}
	return situation.protection(Pod{Pod: gpu.Pod{Namespace: set.Namespace}, Set: set}) == ""
}
