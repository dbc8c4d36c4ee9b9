package budgets

import (
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// recorder makes records of sightings. Records of one run share what is the same.
type recorder struct {
	at         ledger.Time                  // of the look
	namespaces map[string]map[string]string // labels, by name
	former     map[string]map[string]string // labels of namespaces that are gone, by the pod's uid
	pools      map[string]string            // spot pools, by instance id
}

// RecordOf is what the ledger would keep of a sighting that no run made.
func RecordOf(s gpu.Sighting, at time.Time) (ledger.Record, bool) {
	return recorder{at: ledger.TimeOf(at)}.record(s)
}

// record is what the ledger keeps of a sighting. A pod that is not bound, that its
// kubelet has not taken, or that holds no GPUs, has no interval.
func (m recorder) record(s gpu.Sighting) (ledger.Record, bool) {
	if s.UID == "" || s.Scheduled.At.IsZero() || len(s.Shares) == 0 {
		return ledger.Record{}, false
	}
	return m.recordOf(s), true
}

// recordOf is record of a pod that has an interval, or of one that may get one.
func (m recorder) recordOf(s gpu.Sighting) ledger.Record {
	shares := make([]ledger.Share, len(s.Shares))
	for n, share := range s.Shares {
		shares[n] = ledger.Share{Resource: share.Resource, Units: share.Units, Weight: share.Weight, Claim: share.Claim, Whole: share.Whole}
	}
	r := ledger.Record{
		UID: s.UID, Name: s.Name, Seen: m.at, Set: m.labelSet(s),
		Held: &ledger.Holding{Shares: shares, Shown: s.Shown, Capped: s.Capped}, Place: m.place(s.Node),
		Start: ledger.Start{At: ledger.TimeOf(s.Scheduled.At), Source: ledger.Source(s.Scheduled.Source)},
		Runs:  ledger.Start{At: ledger.TimeOf(s.Running.At), Source: ledger.Source(s.Running.Source)},
		End:   endOf(s), Deletion: ledger.TimeOf(s.Live.Deletion),
	}
	if s.Owner != (gpu.Owner{}) {
		r.Owner = &ledger.Owner{APIVersion: s.Owner.APIVersion, Kind: s.Owner.Kind, Name: s.Owner.Name, UID: s.Owner.UID}
	}
	return r
}

// endOf is the end of a sighting; open where it has none.
func endOf(s gpu.Sighting) ledger.End {
	return ledger.ExactEnd(ledger.TimeOf(s.End.At), ledger.Source(s.End.Source))
}

// labelSet is what selectors ask of a pod as it is now.
func (m recorder) labelSet(s gpu.Sighting) *ledger.LabelSet {
	labels, gone := m.former[s.UID]
	if !gone {
		labels = m.namespaces[s.Namespace]
	}
	return &ledger.LabelSet{Namespace: s.Namespace, Labels: ledger.LabelsOf(s.Labels), NamespaceLabels: ledger.LabelsOf(labels)}
}

func (m recorder) place(n gpu.Node) *ledger.Place {
	id := n.InstanceID()
	return &ledger.Place{Node: n.Name, Model: n.Model, InstanceType: n.InstanceType, InstanceID: id, SpotPool: m.pools[id]}
}

// pod is a sighting as enforcement sees it: of a pod that holds GPUs now, or waits
// for some.
func (m recorder) pod(s gpu.Sighting) (budget.Pod, bool) {
	record, bound := m.record(s)
	if !s.End.At.IsZero() || !bound && !waits(s) {
		return budget.Pod{}, false
	}
	return budget.Pod{
		UID: s.UID, Namespace: s.Namespace, Name: s.Name, Set: m.labelSet(s),
		Owner: budget.Workload{Namespace: s.Namespace, APIVersion: s.Owner.APIVersion, Kind: s.Owner.Kind, Name: s.Owner.Name, UID: s.Owner.UID},
		Start: record.Start.At, Priority: s.Live.Priority,
		PriorityClassName: s.Live.PriorityClassName, Annotations: s.Live.Annotations,
		Spot:     bound && (s.Node.Spot || record.Place.SpotPool != ""),
		Deleting: !s.Live.Deletion.IsZero(), Deletion: ledger.TimeOf(s.Live.Deletion), Grace: s.Live.Grace, Mirror: s.Live.Mirror,
		Waiting: !bound, ResourceVersion: s.Live.ResourceVersion,
	}, true
}

// waits says that a pod asks for GPUs and is not bound to a node. The ledger knows
// nothing of it.
func waits(s gpu.Sighting) bool {
	return s.UID != "" && s.Node.Name == "" && s.Scheduled.At.IsZero() && len(s.Shares) > 0
}

// milliOf is a number of GPUs in thousandths, rounded half up.
func milliOf(gpus *big.Rat) int64 {
	n := new(big.Rat).Mul(gpus, big.NewRat(1000, 1))
	n.Add(n, big.NewRat(1, 2))
	return new(big.Int).Div(n.Num(), n.Denom()).Int64()
}
