package budget

import "github.com/gpupool/terraform-provider-gpupool/internal/wording"

// Kind is the kind of a decision about a budget.
type Kind string

// The kinds of decisions about budgets. Add a new one to Kinds, too.
const (
	KindAlert    Kind = "alert"    // report thresholds, as Events in the namespaces of the pods
	KindFreeze   Kind = "freeze"   // block new GPU pods
	KindUnfreeze Kind = "unfreeze" // allow new GPU pods again
	KindPause    Kind = "suspend"  // pause a workload
	KindResume   Kind = "resume"   // resume a workload
	KindEvict    Kind = "evict"    // evict a pod
	KindShorten  Kind = "shorten"  // shorten the grace period of a terminating pod
)

// KindData is what reports, metrics and Kubernetes Events use of a kind.
type KindData struct {
	Kind Kind
	Verb wording.Verb // the first word of Summary
	// Event is the Kubernetes Event once it is done; nil for an alert, which is one itself.
	Event *KindEvent
}

// KindEvent is a Kubernetes Event about an action of a budget.
type KindEvent struct {
	Reason  string
	Done    string // the beginning of its message
	Warning bool
}

// IneffectiveEvent is the Kubernetes Event about pods that an action does not reach, or that did not end in time.
var IneffectiveEvent = KindEvent{"GPUBudgetIneffective", "its pods still hold GPUs", true}

// Kinds returns all kinds of decisions about budgets.
func Kinds() []KindData {
	return []KindData{
		{KindAlert, wording.Verb{Base: "alert", Past: "alerted"}, nil},
		{KindFreeze, wording.Verb{Base: "block", Past: "blocking"}, &KindEvent{"GPUBudgetFreeze", "new GPU pods are blocked", true}},
		{KindUnfreeze, wording.Verb{Base: "lift", Past: "lifted"}, &KindEvent{"GPUBudgetLift", "new GPU pods are allowed again", false}},
		{KindPause, wording.Verb{Base: "pause", Past: "pausing"}, &KindEvent{"GPUBudgetPause", "pausing", true}},
		{KindResume, wording.Verb{Base: "resume", Past: "resumed"}, &KindEvent{"GPUBudgetResume", "resumed", false}},
		{KindEvict, wording.Verb{Base: "evict", Past: "evicting"}, &KindEvent{"GPUBudgetEvict", "evicting", true}},
		{KindShorten, wording.Verb{Base: "shorten", Past: "shortened"}, &KindEvent{"GPUBudgetShorten", "its grace period is shortened", true}},
	}
}

// Data returns the data of the kind.
func (k Kind) Data() KindData {
	for _, data := range Kinds() {
		if data.Kind == k {
			return data
		}
	}
	return KindData{Kind: k, Verb: wording.Verb{Base: string(k), Past: string(k)}}
}
