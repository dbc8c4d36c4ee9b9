package accounting

import (
	"math/big"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// recorder makes the ledger's records of pods, as one observation saw them.
type recorder struct {
	at         ledger.Time                  // of the observation
	namespaces map[string]map[string]string // labels, by name
	former     map[string]map[string]string // labels of namespaces that are gone, by the pod's uid
	pools      map[string]string            // spot pools, by instance id
}

// RecordOf returns the ledger's record of a pod that no run observed.
func RecordOf(p gpu.Pod, at time.Time) (ledger.Record, bool) {
	return recorder{at: ledger.TimeOf(at)}.record(p)
}

// record returns the ledger's record of a pod. A pod that is not bound, that its kubelet
// has not accepted, or that holds no GPUs, has no interval.
func (m recorder) record(p gpu.Pod) (ledger.Record, bool) {
	if !p.Holds() {
		return ledger.Record{}, false
	}
	return m.recordOf(p), true
}

// recordOf is record of a pod that has an interval, or of one that may get one.
func (m recorder) recordOf(p gpu.Pod) ledger.Record {
	held := p.Allocation
	return ledger.Record{
		UID: p.UID, Name: p.Name, Seen: m.at, Set: m.labelSet(p), Owner: p.Owner, Allocation: &held, Place: m.place(p.Node),
		Start: p.Scheduled, Runs: p.Running, End: p.End, Deletion: p.Deletion,
	}
}

// labelSet returns the present labels of a pod.
func (m recorder) labelSet(p gpu.Pod) *ledger.LabelSet {
	labels, gone := m.former[p.UID]
	if !gone {
		labels = m.namespaces[p.Namespace]
	}
	return &ledger.LabelSet{Namespace: p.Namespace, Labels: ledger.LabelsOf(p.Labels), NamespaceLabels: ledger.LabelsOf(labels)}
}

func (m recorder) place(n gpu.Node) *ledger.Place {
	id := n.InstanceID()
	return &ledger.Place{Node: n.Name, Model: n.Model, InstanceType: n.InstanceType, InstanceID: id, SpotPool: m.pools[id]}
}

// pod is a pod as enforcement sees it: one that holds GPUs now, or waits for some.
func (m recorder) pod(p gpu.Pod) (budget.Pod, bool) {
	if !p.End.Open() || !p.Holds() && !p.Waits() {
		return budget.Pod{}, false
	}
	spot := p.Holds() && (p.Node.Spot || m.pools[p.Node.InstanceID()] != "")
	return budget.Pod{Pod: p, Set: m.labelSet(p), Spot: spot}, true
}

// milliOf is a number of GPUs in thousandths, rounded half up.
func milliOf(gpus *big.Rat) int64 {
	n := new(big.Rat).Mul(gpus, big.NewRat(1000, 1))
	n.Add(n, big.NewRat(1, 2))
	return new(big.Int).Div(n.Num(), n.Denom()).Int64()
}
