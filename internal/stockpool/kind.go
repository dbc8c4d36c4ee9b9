package stockpool

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Kind is the kind of a decision about a stock pool.
type Kind string

// The kinds of decisions about stock pools, which are also in Kinds. Apply, revert, scale and
// resume apply the whole declaration; the kind says why.
const (
	KindCreate  Kind = "create"  // create the Deployment
	KindOwn     Kind = "own"     // record which Deployment belongs to the stock pool
	KindApply   Kind = "apply"   // apply the declaration
	KindRevert  Kind = "revert"  // revert drift
	KindScale   Kind = "scale"   // change the number of pods
	KindPause   Kind = "pause"   // scale to zero because of a budget
	KindResume  Kind = "resume"  // scale up after that
	KindSpare   Kind = "spare"   // mark pods in use, so that a scale-down spares them
	KindGuard   Kind = "guard"   // create the disruption budget
	KindUnguard Kind = "unguard" // delete the disruption budget
)

// KindData is the data of a kind for reports and metrics.
type KindData struct {
	Kind Kind
	Verb wording.Verb // the beginning of Summary
}

// Kinds returns all kinds of decisions about stock pools.
func Kinds() []KindData {
	return []KindData{
		{KindCreate, wording.Verb{Base: "create", Past: "created"}},
		{KindOwn, wording.Verb{Base: "take over", Past: "took over"}},
		{KindApply, wording.Verb{Base: "apply", Past: "applied"}},
		{KindRevert, wording.Verb{Base: "revert drift of", Past: "reverted drift of"}},
		{KindScale, wording.Verb{Base: "scale", Past: "scaled"}},
		{KindPause, wording.Verb{Base: "pause", Past: "pausing"}},
		{KindResume, wording.Verb{Base: "resume", Past: "resumed"}},
		{KindSpare, wording.Verb{Base: "mark", Past: "marked"}},
		{KindGuard, wording.Verb{Base: "create", Past: "created"}},
		{KindUnguard, wording.Verb{Base: "delete", Past: "deleted"}},
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

// Applies reports whether the decision applies the declaration.
func (d Decision) Applies() bool {
	return slices.Contains([]Kind{KindApply, KindRevert, KindScale, KindResume}, d.Kind)
}

// Decision is one change of a stock pool, with its reasons.
type Decision struct {
	// The kind of the decision.
	Kind Kind `json:"kind"`
	// The stock pool, such as `stock_pool/ml/pool-g1`.
	Object string `json:"object"`
	// The new number of pods.
	Replicas int `json:"replicas"`
	// The previous number of pods.
	Was int `json:"was"`
	// The reverted changes.
	Changes []Change `json:"changes,omitempty"`
	// The users who made them, if the cluster shows it.
	By []string `json:"by,omitempty"`
	// Pods in use that a scale-down spares.
	Spared []string `json:"spared,omitempty"`
	// Pods that are no longer in use.
	Released []string `json:"released,omitempty"`
	// The reasons.
	Reasons reason.Reasons `json:"reasons"`
}

// Verb returns the beginning of Summary.
func (d Decision) Verb() wording.Verb { return d.Kind.Data().Verb }

// For returns the decision as a reader of its stock pool may see it.
func (d Decision) For(reader reason.Renderer) Decision {
	d.Reasons = reader.RedactAll(d.Reasons)
	return d
}

// Heading returns the decision's kind, object and reasons.
func (d Decision) Heading() (kind, object string, reasons reason.Reasons) {
	return string(d.Kind), d.Object, d.Reasons
}

// String returns one line for people.
func (d Decision) String() string { return wording.Because(d.Summary(), d.Reasons.Texts()) }

// Summary is String without the reasons.
func (d Decision) Summary() string { return d.Verb().Base + " " + d.about() }

func (d Decision) about() string {
	switch d.Kind {
	case KindCreate:
		if n := d.Replicas; n > 0 {
			return fmt.Sprintf("its Deployment with %d %s, for the %s of the deleted one", n, wording.Plural(n, "replica", "replicas"),
				wording.Plural(n, "pod", "pods"))
		}
		return "its Deployment, empty at first"
	case KindApply:
		return "its declaration"
	case KindScale, KindPause, KindResume:
		return fmt.Sprintf("its Deployment from %d to %d", d.Was, d.Replicas)
	case KindSpare:
		return d.markedPods()
	case KindGuard, KindUnguard:
		return "its PodDisruptionBudget"
	}
	return "its Deployment"
}

func (d Decision) markedPods() string {
	var texts []string
	if n := len(d.Spared); n > 0 {
		texts = append(texts, fmt.Sprintf("%d %s as in use, to delete last", n, wording.Plural(n, "pod", "pods")))
	}
	if n := len(d.Released); n > 0 {
		texts = append(texts, fmt.Sprintf("%d %s as no longer in use", n, wording.Plural(n, "pod", "pods")))
	}
	return strings.Join(texts, "; ")
}

// LogValue groups the fields that Heading lacks.
func (d Decision) LogValue() slog.Value {
	attrs := []slog.Attr{slog.Int("replicas", d.Replicas), slog.Int("was", d.Was)}
	if len(d.By) > 0 {
		attrs = append(attrs, slog.Any("by", d.By))
	}
	return slog.GroupValue(attrs...)
}
