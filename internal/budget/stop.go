package budget

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Stops says whether the budget wants a workload stopped now that heeds it by itself, as
// stock pools do, by a status that is to be relied on: set is what its pods are told
// apart by, which have no priority class. What the budget would leave alone is not to
// stop.
func (d Declaration) Stops(s Status, set *ledger.LabelSet, storeNamespace string, now time.Time) bool {
	switch {
	case d.Enforce.Action != Pause, !s.Usage.Exceeded(), s.Unknown != nil, s.Withheld != "":
		return false
	case s.EnforceAt == nil || now.Before(*s.EnforceAt):
		return false
	}
	d.Enforce.ProtectedPriorityClass = ""
	situation := Situation{Declaration: d, StoreNamespace: storeNamespace}
	return situation.protection(Pod{Pod: gpu.Pod{Namespace: set.Namespace}, Set: set}) == ""
}
