package budget

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Workload names the owner of pods, in a namespace.
type Workload struct {
	Namespace string `json:"namespace"`
	ledger.Owner
}

// Ownership is what the cluster knows of the workload of a pod, whatever the pod
// says of it.
type Ownership struct {
	// Workload is what would be paused for the pod: it selects the pod, and asks for
	// GPUs itself. Zero where there is none.
	Workload Workload
	// Reason says why there is none.
	Reason string
	// Keeper names the stock pool that the workload is of; empty where it is of none. A
	// stock pool heeds budgets by itself, and its Deployment is not paused.
	Keeper string
	// Labels are those of the workload's own template of pods.
	Labels map[string]string
	// Stopped says that the workload is suspended, or has no replicas.
	Stopped bool
	// Forgiving says that to the workload a pod's end by a disruption is no failure.
	Forgiving bool
}

// Pod is a pod that holds GPUs now, or waits for some, as one budget sees it.
type Pod struct {
	gpu.Pod

	Set *ledger.LabelSet // its labels of now
	// Charged is what the ledger counts it by, frozen when it was first seen; nil
	// where the ledger has not seen it. A label edit moves neither usage nor blame.
	Charged *ledger.LabelSet
	// Of is what the cluster knows of what the pod names as its controller; zero where
	// it was not looked up.
	Of        Ownership
	MilliGPUs int64 // as the budget counts them
	Spot      bool  // it holds them on a spot instance, or on one of a pool
}

// Controller is what the pod names as its controller, which is its own word; zero
// where it names none.
func (p *Pod) Controller() Workload {
	if p.Owner == nil {
		return Workload{}
	}
	return Workload{Namespace: p.Namespace, Owner: *p.Owner}
}

// MarshalJSON writes which pod it is, and nothing else of it.
func (p Pod) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		UID       string `json:"uid"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	}{p.UID, p.Namespace, p.Name})
}

// WantedPods are the pods that Decide asks for.
type WantedPods string

// What pods Decide asks for.
const (
	NoPods      WantedPods = "none"
	WaitingPods WantedPods = "waiting" // those that wait for GPUs
	AllPods     WantedPods = "all"     // those that hold GPUs, too
)

// Enforces says that the limit is reached and that more follows from it than alerts,
// at once or once the grace is over.
func (s Situation) Enforces() bool {
	return s.Result.Usage.Exceeded() && s.Declaration.Enforce.Action != AlertOnly
}

// WantsPods says which pods of now decide what is done. A freeze touches none, and
// only tells of those that wait.
func (s Situation) WantsPods() WantedPods {
	switch {
	case !s.Enforces():
		return NoPods
	case s.Declaration.Enforce.Action == Freeze:
		return WaitingPods
	}
	return AllPods
}

// WantsOwners are the pods of a second look whose workloads decide what is done.
func (s Situation) WantsOwners(second Look) []Pod {
	s.Look = second
	action := s.Declaration.Enforce.Action
	var owned []Pod
	for _, p := range s.Touchable() {
		// An eviction asks only what a waiting pod's Job would make of it.
		if action == Pause || action == Evict && p.Waits() && p.Controller().Kind == "Job" {
			owned = append(owned, p)
		}
	}
	if action == Pause && len(owned) > 0 {
		owned = append(owned, s.sparing()...)
	}
	return owned
}

// Touchable are the pods of the budget that hold GPUs or wait for some, and that
// enforcement may touch.
func (s Situation) Touchable() []Pod {
	d := &decider{Situation: s}
	open, _ := d.burning()
	return append(open, d.waiting()...)
}

// sparing are the protected pods whose workloads are not paused.
func (s Situation) sparing() []Pod {
	var list []Pod
	for _, p := range s.Pods {
		if p.End.Open() && p.Owner != nil && s.protection(p) != "" {
			list = append(list, p)
		}
	}
	return list
}

// burning are the pods that count against the budget now, and those of them that
// are protected, with the reasons.
func (d *decider) burning() (open []Pod, spared []string) {
	return d.covered(func(p Pod) bool { return !p.Waits() && p.Deletion == 0 })
}

// victims are the pods that count against the budget now and may be touched. It tells
// of those that are protected from what is to be done.
func (d *decider) victims(from string) []Pod {
	open, spared := d.burning()
	if n := len(spared); n > 0 {
		d.warn("%d %s protected from %s, and still %s: %s", n, wording.Plural(n, "pod is", "pods are"), from, wording.Plural(n, "counts", "count"),
			wording.Some(spared))
	}
	return open
}

// covered are those pods of the budget among some that hold GPUs or wait for them,
// and those of them that are protected, with the reasons.
func (d *decider) covered(among func(Pod) bool) (open []Pod, spared []string) {
	for _, p := range d.Pods {
		switch {
		case !among(p) || !p.End.Open() || p.MilliGPUs <= 0 || !d.selects(p.charged()):
		case p.Mirror:
			spared = append(spared, p.ref()+" (it is its node's own)")
		default:
			if why := d.protection(p); why != "" {
				spared = append(spared, fmt.Sprintf("%s (%s)", p.ref(), why))
				continue
			}
			open = append(open, p)
		}
	}
	slices.Sort(spared)
	return open, spared
}

// selects says whether the budget's selector takes pods that are told apart so.
func (d *decider) selects(set *ledger.LabelSet) bool {
	if !d.asked {
		var err error
		if d.matcher, err = d.Declaration.Selector.Matcher(); err != nil {
			d.warn("its selector is not valid, so nothing is enforced: %v", err)
		}
		d.asked = true
	}
	return d.matcher != nil && set != nil && d.matcher.Matches(set)
}

func (p Pod) ref() string { return p.Namespace + "/" + p.Name }

// charged is what the budget counts the pod by.
func (p Pod) charged() *ledger.LabelSet {
	if p.Charged != nil {
		return p.Charged
	}
	return p.Set
}

// byName orders pods by their namespaces and names.
func byName(a, b Pod) int {
	return cmp.Or(strings.Compare(a.ref(), b.ref()), strings.Compare(a.UID, b.UID))
}
