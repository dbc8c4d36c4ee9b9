package budget

import "github.com/gpupool/terraform-provider-gpupool/internal/wording"

// Kind is the kind of a decision about a budget.
type Kind string

// The kinds of decisions about budgets. Each stands in Kinds as well.
const (
	KindAlert    Kind = "alert"    // report thresholds, as Events in the namespaces of the pods
	KindFreeze   Kind = "freeze"   // block new GPU pods
	KindUnfreeze Kind = "unfreeze" // allow new GPU pods again
	KindPause    Kind = "suspend"  // pause a workload
	KindResume   Kind = "resume"   // resume a workload
	KindEvict    Kind = "evict"    // evict a pod
	KindShorten  Kind = "shorten"  // shorten the grace period of a terminating pod
)

// KindData is what reports, metrics and the cluster's Events take from a kind.
type KindData struct {
	Kind Kind
	Verb wording.Verb // which Summary begins with
	// Event is how the cluster is told of it once it is done; nil where the decision is
	// itself to tell of something.
	Event *KindEvent
}

// KindEvent is an Event about what was done because of a budget.
type KindEvent struct {
	Reason  string
	Done    string // to what it is about
	Warning bool
}

// Kinds are all kinds of decisions about budgets.
func Kinds() []KindData {
	return []KindData{
		{KindAlert, wording.Verb{Base: "alert", Past: "alerted"}, nil},
		{KindFreeze, wording.Verb{Base: "freeze:", Past: "freezing:"}, &KindEvent{"GPUBudgetFreeze", "its new pods with GPUs are kept out", true}},
		{KindUnfreeze, wording.Verb{Base: "lift", Past: "lifted"}, &KindEvent{"GPUBudgetLift", "its new pods with GPUs are let in again", false}},
		{KindPause, wording.Verb{Base: "pause", Past: "pausing"}, &KindEvent{"GPUBudgetPause", "pausing", true}},
		{KindResume, wording.Verb{Base: "resume", Past: "resumed"}, &KindEvent{"GPUBudgetResume", "resumed", false}},
		{KindEvict, wording.Verb{Base: "evict", Past: "evicting"}, &KindEvent{"GPUBudgetEvict", "evicting", true}},
		{KindShorten, wording.Verb{Base: "shorten", Past: "shortened"}, &KindEvent{"GPUBudgetShorten", "it gets less time to end", true}},
	}
}

// Data is what others take from the kind.
func (k Kind) Data() KindData {
	for _, data := range Kinds() {
		if data.Kind == k {
			return data
		}
	}
	return KindData{Kind: k, Verb: wording.Verb{Base: string(k), Past: string(k)}}
}
